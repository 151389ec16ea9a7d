extension Expression {
  /// Reads an expression from predicate format.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable telling where the text stopped making sense.
  package init(format: String) throws {
    var parser = PredicateParser(format)
    self = try parser.whole { try $0.expression() }
  }
}

extension Predicate {
  /// Reads a predicate from predicate format.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable telling where the text stopped making sense.
  package init(format: String) throws {
    var parser = PredicateParser(format)
    self = try parser.whole { try $0.predicate() }
  }
}

/// A recursive-descent parser of predicate format, as NSPredicate prints it and as people write it
/// in Xcode's fields.
struct PredicateParser {
  private var tokens: PredicateTokens
  /// Steps still allowed: a parenthesis may open a predicate or an expression, so that text made to
  /// nest them would be tried twice at each level.
  private var steps = 20_000
  private var depth = 0
  /// Operators still allowed: each wraps what stands before it once more.
  private var operators = 64

  init(_ text: String) { tokens = PredicateTokens(text) }

  mutating func whole<Result>(
    _ parse: (inout PredicateParser) throws -> Result
  ) throws -> Result {
    let result = try parse(&self)
    guard case .end = tokens.peek else { throw tokens.error("expected the end") }
    return result
  }

  /// Where each name and constant of the result stands, see ``LocatedPredicate``.
  var places: [Range<Int>] { tokens.places }

  private mutating func nested<Result>(
    _ parse: (inout PredicateParser) throws -> Result
  ) throws -> Result {
    depth += 1
    steps -= 1
    defer { depth -= 1 }
    guard depth < 48, steps > 0 else { throw tokens.error("nested too deeply") }
    return try parse(&self)
  }

  private mutating func wrap() throws {
    operators -= 1
    guard operators > 0 else { throw tokens.error("too many operators") }
  }

  // MARK: Predicates

  mutating func predicate() throws -> Predicate {
    try nested { parser in
      var parts = [try parser.conjunction()]
      while parser.tokens.skip(word: "OR") || parser.tokens.skip(symbol: "||") {
        parts.append(try parser.conjunction())
      }
      return parts.count == 1 ? parts[0] : .or(parts)
    }
  }

  private mutating func conjunction() throws -> Predicate {
    var parts = [try negation()]
    while tokens.skip(word: "AND") || tokens.skip(symbol: "&&") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws -> Predicate {
    try nested { parser in
      if parser.tokens.skip(word: "NOT") || parser.tokens.skip(symbol: "!") {
        return .not(try parser.negation())
      }
      if parser.tokens.skip(word: "TRUEPREDICATE") { return .always(true) }
      if parser.tokens.skip(word: "FALSEPREDICATE") { return .always(false) }
      let start = parser.tokens
      guard parser.tokens.peek == .symbol("(") else { return try parser.comparison() }
      let failure: CoreDataError?
      do {
        try parser.expect("(")
        let inner = try parser.predicate()
        try parser.expect(")")
        if parser.comparator() == nil { return inner }
        failure = nil
      } catch let error as CoreDataError {
        failure = error
      }
      // What was in parentheses may be an expression instead; of two failures, the one that got
      // further is about what was meant.
      parser.tokens = start
      do {
        return try parser.comparison()
      } catch let error as CoreDataError {
        throw [error, failure].compactMap { $0 }
          .max { $0.mark?.range.lowerBound ?? 0 < $1.mark?.range.lowerBound ?? 0 } ?? error
      }
    }
  }

  private mutating func comparison() throws -> Predicate {
    var quantifier: Predicate.Quantifier?
    var isNegated = false
    if tokens.skip(word: "ANY") || tokens.skip(word: "SOME") { quantifier = .any }
    if tokens.skip(word: "ALL") { quantifier = .all }
    if tokens.skip(word: "NONE") { (quantifier, isNegated) = (.any, true) }
    let left = try expression()
    guard let comparator = comparator() else { throw tokens.error("expected a comparison") }
    var options: Predicate.Options = []
    if tokens.skip(symbol: "[") {
      guard case .word(let letters) = tokens.peek,
        letters.lowercased().allSatisfy("cdnl".contains)
      else { throw tokens.error("expected c, d, n or l") }
      _ = tokens.next()
      for letter in letters.lowercased() {
        switch letter {
        case "c": options.insert(.caseInsensitive)
        case "d": options.insert(.diacriticInsensitive)
        case "n": options.insert(.normalized)
        default: options.insert(.localeSensitive)
        }
      }
      try expect("]")
    }
    let right = try expression()
    let result = Predicate.comparison(
      Predicate.Comparison(left, comparator, right, quantifier: quantifier, options: options))
    return isNegated ? .not(result) : result
  }

  private mutating func comparator() -> Predicate.Comparator? {
    switch tokens.peek {
    case .symbol(let symbol):
      let synonyms = ["=": "==", "=<": "<=", "=>": ">=", "<>": "!="]
      let text = synonyms[symbol] ?? symbol
      guard let match = Predicate.Comparator.allCases.first(where: { $0.symbol == text }) else {
        return nil
      }
      _ = tokens.next()
      return match
    case .word(let word):
      let text = word.uppercased()
      guard let match = Predicate.Comparator.allCases.first(where: { $0.symbol == text }) else {
        return nil
      }
      _ = tokens.next()
      return match
    default: return nil
    }
  }

  // MARK: Expressions

  mutating func expression() throws -> Expression {
    try nested { parser in
      let start = parser.tokens.places.count
      var left = try parser.product()
      while true {
        let place = parser.tokens.range
        if parser.tokens.skip(symbol: "+") {
          left = .function("add:to:", receiver: nil, arguments: [left, try parser.product()])
        } else if parser.tokens.skip(symbol: "-") {
          left = .function(
            "from:subtract:", receiver: nil, arguments: [left, try parser.product()])
        } else if let word = ["UNION", "INTERSECT", "MINUS"].first(where: {
          parser.tokens.skip(word: $0)
        }) {
          left = .setOperation(word, left, try parser.product())
        } else {
          return left
        }
        parser.tokens.places.insert(place, at: start)
        try parser.wrap()
      }
    }
  }

  private mutating func product() throws -> Expression {
    let start = tokens.places.count
    var left = try power()
    while true {
      let place = tokens.range
      if tokens.skip(symbol: "*") {
        left = .function("multiply:by:", receiver: nil, arguments: [left, try power()])
      } else if tokens.skip(symbol: "/") {
        left = .function("divide:by:", receiver: nil, arguments: [left, try power()])
      } else {
        return left
      }
      tokens.places.insert(place, at: start)
      try wrap()
    }
  }

  private mutating func power() throws -> Expression {
    let start = tokens.places.count
    var left = try postfix()
    while true {
      let place = tokens.range
      guard tokens.skip(symbol: "**") else { return left }
      left = .function("raise:toPower:", receiver: nil, arguments: [left, try postfix()])
      tokens.places.insert(place, at: start)
      try wrap()
    }
  }

  private mutating func postfix() throws -> Expression {
    let start = tokens.places.count
    var left = try primary()
    while true {
      let place = tokens.range
      if tokens.skip(symbol: ".") {
        let place = tokens.range
        guard case .word(let path) = tokens.peek else {
          throw tokens.error("expected a key path")
        }
        _ = tokens.next()
        if left == .selfObject {
          tokens.places[start...] = [place]
          left = .keyPath(path, of: nil)
        } else {
          tokens.places.insert(place, at: start)
          left = .keyPath(path, of: left)
        }
      } else if tokens.skip(symbol: "[") {
        let index = try expression()
        try expect("]")
        left = .function("objectFrom:withIndex:", receiver: nil, arguments: [left, index])
        tokens.places.insert(place, at: start)
      } else {
        return left
      }
      try wrap()
    }
  }

  private mutating func primary() throws -> Expression {
    switch tokens.peek {
    case .unclosed: throw tokens.error("the text has no closing quote")
    case .symbol("("), .symbol("{"): break
    case .symbol("-"), .string, .integer, .real, .data, .variable, .word:
      tokens.places.append(tokens.range)
    default: throw tokens.error("expected a name or a value")
    }
    switch tokens.next() {
    case .string(let text): return .constant(.string(text))
    case .integer(let value): return .constant(.integer(value))
    case .real(let value): return .constant(.real(value))
    case .data(let bytes): return .constant(.data(bytes))
    case .variable(let name): return .variable(name)
    case .symbol("-"):
      if let sign = tokens.places.popLast() {
        tokens.places.append(sign.lowerBound..<tokens.range.upperBound)
      }
      switch tokens.peek {
      case .integer(let value):
        _ = tokens.next()
        return .constant(.integer(0 &- value))
      case .real(let value):
        _ = tokens.next()
        return .constant(.real(-value))
      default: throw tokens.error("expected a number")
      }
    case .symbol("("):
      let inner = try expression()
      try expect(")")
      return inner
    case .symbol("{"):
      return .aggregate(try list(until: "}"))
    case .word(let word): return try word.hasSuffix(":") ? call(word) : named(word)
    default: throw tokens.error("expected a name or a value")
    }
  }

  private mutating func named(_ word: String) throws -> Expression {
    switch word.uppercased() {
    case "SELF": return .selfObject
    case "NIL", "NULL": return .constant(.null)
    case "YES", "TRUE": return .constant(.boolean(true))
    case "NO", "FALSE": return .constant(.boolean(false))
    case "FUNCTION":
      try expect("(")
      let receiver = try expression()
      try expect(",")
      guard case .string(let name) = tokens.next() else {
        throw tokens.error("expected a selector")
      }
      let rest = tokens.skip(symbol: ",") ? try list(until: ")") : []
      if rest.isEmpty { _ = tokens.skip(symbol: ")") }
      return .function(name, receiver: receiver, arguments: rest)
    case "CAST": return try call("castObject:toType:")
    case "TERNARY":
      try expect("(")
      let condition = try predicate()
      try expect(",")
      let yes = try expression()
      try expect(",")
      let no = try expression()
      try expect(")")
      return .conditional(condition, yes, no)
    case "SUBQUERY":
      try expect("(")
      let collection = try expression()
      try expect(",")
      guard case .variable(let name) = tokens.peek else {
        throw tokens.error("expected a variable")
      }
      _ = tokens.next()
      try expect(",")
      let condition = try predicate()
      try expect(")")
      return .subquery(collection, variable: name, condition)
    case "FETCH":
      try expect("(")
      let request = try expression()
      try expect(",")
      let context = try expression()
      try expect(",")
      let countOnly = try expression()
      try expect(")")
      return .fetch(
        request: request, context: context, countOnly: countOnly == .constant(.boolean(true)))
    default:
      if case .symbol("(") = tokens.peek { return try call(word) }
      return .keyPath(word, of: nil)
    }
  }

  private mutating func call(_ name: String) throws -> Expression {
    try expect("(")
    return .function(name, receiver: nil, arguments: try list(until: ")"))
  }

  private mutating func list(until end: String) throws -> [Expression] {
    if tokens.skip(symbol: end) { return [] }
    var result = [try expression()]
    while tokens.skip(symbol: ",") { result.append(try expression()) }
    try expect(end)
    return result
  }

  private mutating func expect(_ symbol: String) throws {
    guard tokens.skip(symbol: symbol) else { throw tokens.error("expected “\(symbol)”") }
  }
}

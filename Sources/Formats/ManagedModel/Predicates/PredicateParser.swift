extension Expression {
  /// Reads an expression from predicate format.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable that says where the text stopped making sense.
  package init(format: String) throws(CoreDataError) {
    var parser = PredicateParser(format)
    self = try parser.whole { parser throws(CoreDataError) in try parser.expression() }
  }
}

extension Predicate {
  /// Reads a predicate from predicate format.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable that says where the text stopped making sense.
  package init(format: String) throws(CoreDataError) {
    var parser = PredicateParser(format)
    self = try parser.whole { parser throws(CoreDataError) in try parser.predicate() }
  }
}

/// A recursive-descent parser of predicate format, as NSPredicate prints it and as people write it
/// in Xcode's fields.
struct PredicateParser {
  var tokens: PredicateTokens
  private let isLocating: Bool
  /// Steps still allowed: a parenthesis may open a predicate or an expression, so that text made to
  /// nest them would be tried twice at each level.
  private var steps = 20_000
  private var depth = 0
  /// Operators still allowed: each wraps what stands before it once more.
  private var operators = 64

  init(_ text: String, isLocating: Bool = false) {
    tokens = PredicateTokens(text)
    self.isLocating = isLocating
  }

  mutating func whole<Result>(
    _ parse: (inout PredicateParser) throws(CoreDataError) -> Result
  ) throws(CoreDataError) -> Result {
    let result = try parse(&self)
    guard case .end = tokens.peek else { throw tokens.error("expected the end") }
    return result
  }

  mutating func nested<Result>(
    _ parse: (inout PredicateParser) throws(CoreDataError) -> Result
  ) throws(CoreDataError) -> Result {
    depth += 1
    steps -= 1
    defer { depth -= 1 }
    guard depth < 48, steps > 0 else { throw tokens.error("nested too deeply") }
    return try parse(&self)
  }

  mutating func wrap() throws(CoreDataError) {
    operators -= 1
    guard operators > 0 else { throw tokens.error("too many operators") }
  }

  /// The expression with its place, where that is asked for.
  func located(_ expression: Expression, at place: Range<Int>) -> Expression {
    isLocating ? .located(expression, place) : expression
  }

  mutating func expect(_ symbol: String) throws(CoreDataError) {
    guard tokens.skip(symbol: symbol) else { throw tokens.error("expected “\(symbol)”") }
  }

  mutating func predicate() throws(CoreDataError) -> Predicate {
    try nested { parser throws(CoreDataError) in
      var parts = [try parser.conjunction()]
      while parser.tokens.skip(word: "OR") || parser.tokens.skip(symbol: "||") {
        parts.append(try parser.conjunction())
      }
      return parts.count == 1 ? parts[0] : .or(parts)
    }
  }

  private mutating func conjunction() throws(CoreDataError) -> Predicate {
    var parts = [try negation()]
    while tokens.skip(word: "AND") || tokens.skip(symbol: "&&") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws(CoreDataError) -> Predicate {
    try nested { parser throws(CoreDataError) in
      if parser.tokens.skip(word: "NOT") || parser.tokens.skip(symbol: "!") {
        return .not(try parser.negation())
      }
      if parser.tokens.skip(word: "TRUEPREDICATE") { return .always(true) }
      if parser.tokens.skip(word: "FALSEPREDICATE") { return .always(false) }
      let start = parser.tokens
      guard parser.tokens.peek == .symbol("(") else { return try parser.comparison() }
      let failure: CoreDataError?
      do throws(CoreDataError) {
        try parser.expect("(")
        let inner = try parser.predicate()
        try parser.expect(")")
        if parser.comparator() == nil { return inner }
        failure = nil
      } catch {
        failure = error
      }
      // What was in parentheses may be an expression instead; of two failures, the one that got
      // further is about what was meant.
      parser.tokens = start
      do throws(CoreDataError) {
        return try parser.comparison()
      } catch {
        throw [error, failure].compactMap { $0 }
          .max { $0.mark?.range.lowerBound ?? 0 < $1.mark?.range.lowerBound ?? 0 } ?? error
      }
    }
  }

  private mutating func comparison() throws(CoreDataError) -> Predicate {
    var quantifier: Predicate.Quantifier?
    var isNegated = false
    if tokens.skip(word: "ANY") || tokens.skip(word: "SOME") { quantifier = .any }
    if tokens.skip(word: "ALL") { quantifier = .all }
    if tokens.skip(word: "NONE") { (quantifier, isNegated) = (.any, true) }
    let left = try expression()
    guard let comparator = comparator() else { throw tokens.error("expected a comparison") }
    let options = try options()
    let right = try expression()
    let result = Predicate.comparison(
      Predicate.Comparison(left, comparator, right, quantifier: quantifier, options: options))
    return isNegated ? .not(result) : result
  }

  /// The letters behind a comparator.
  private mutating func options() throws(CoreDataError) -> Predicate.Options {
    guard tokens.skip(symbol: "[") else { return [] }
    var options: Predicate.Options = []
    guard case .word(let letters) = tokens.peek, letters.lowercased().allSatisfy("cdnl".contains)
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
    return options
  }

  private mutating func comparator() -> Predicate.Comparator? {
    let text: String
    switch tokens.peek {
    case .symbol(let symbol):
      text = ["=": "==", "=<": "<=", "=>": ">=", "<>": "!="][symbol] ?? symbol
    case .word(let word): text = word.uppercased()
    default: return nil
    }
    guard let match = Predicate.Comparator.allCases.first(where: { $0.symbol == text }) else {
      return nil
    }
    _ = tokens.next()
    return match
  }
}

extension PredicateParser {
  /// Signs between two operands, those that bind weakest first.
  private static let precedence = [["+", "-"], ["*", "/"], ["**"]]
  private static let setOperations = ["UNION", "INTERSECT", "MINUS"]

  mutating func expression() throws(CoreDataError) -> Expression {
    try nested { parser throws(CoreDataError) in try parser.operation(0) }
  }

  /// Operands with signs of a level of precedence, or of a higher one, between them.
  private mutating func operation(_ level: Int) throws(CoreDataError) -> Expression {
    guard level < Self.precedence.count else { return try postfix() }
    var left = try operation(level + 1)
    while true {
      let place = tokens.range
      if case .symbol(let sign) = tokens.peek, Self.precedence[level].contains(sign),
        let function = Expression.operators.first(where: { $0.value == sign })?.key
      {
        _ = tokens.next()
        let operands = [left, try operation(level + 1)]
        left = located(.function(function, receiver: nil, arguments: operands), at: place)
      } else if level == 0, let word = Self.setOperations.first(where: { tokens.skip(word: $0) }) {
        left = located(.setOperation(word, left, try operation(1)), at: place)
      } else {
        return left
      }
      try wrap()
    }
  }

  private mutating func postfix() throws(CoreDataError) -> Expression {
    var left = try primary()
    while true {
      var place = tokens.range
      if tokens.skip(symbol: ".") {
        place = tokens.range
        guard case .word(let path) = tokens.peek else {
          throw tokens.error("expected a key path")
        }
        _ = tokens.next()
        left = located(.keyPath(path, of: left.bare == .selfObject ? nil : left), at: place)
      } else if tokens.skip(symbol: "[") {
        let index = try expression()
        try expect("]")
        left = located(
          .function("objectFrom:withIndex:", receiver: nil, arguments: [left, index]), at: place)
      } else {
        return left
      }
      try wrap()
    }
  }

  private mutating func primary() throws(CoreDataError) -> Expression {
    let place = tokens.range
    let token = tokens.peek
    switch token {
    case .unclosed: throw tokens.error("the text has no closing quote")
    case .symbol("("), .symbol("{"), .symbol("-"), .string, .integer, .real, .data, .variable,
      .word:
      _ = tokens.next()
    default: throw tokens.error("expected a name or a value")
    }
    switch token {
    case .symbol("("):
      let inner = try expression()
      try expect(")")
      return inner
    case .symbol("{"): return .aggregate(try list(until: "}"))
    case .symbol:
      let number = place.lowerBound..<tokens.range.upperBound
      return located(.constant(try negative()), at: number)
    case .string(let text): return located(.constant(.string(text)), at: place)
    case .integer(let value): return located(.constant(.integer(value)), at: place)
    case .real(let value): return located(.constant(.real(value)), at: place)
    case .data(let bytes): return located(.constant(.data(bytes)), at: place)
    case .variable(let name): return located(.variable(name), at: place)
    case .word(let word):
      return located(try word.hasSuffix(":") ? call(word) : named(word), at: place)
    case .unclosed, .end: throw tokens.error("expected a name or a value")
    }
  }

  /// The number behind a minus.
  private mutating func negative() throws(CoreDataError) -> Expression.Constant {
    switch tokens.peek {
    case .integer(let value):
      _ = tokens.next()
      return .integer(0 &- value)
    case .real(let value):
      _ = tokens.next()
      return .real(-value)
    default: throw tokens.error("expected a number")
    }
  }

  private mutating func named(_ word: String) throws(CoreDataError) -> Expression {
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
      let countOnly = try expression().bare
      try expect(")")
      return .fetch(
        request: request, context: context, countOnly: countOnly == .constant(.boolean(true)))
    default:
      if case .symbol("(") = tokens.peek { return try call(word) }
      return .keyPath(word, of: nil)
    }
  }

  private mutating func call(_ name: String) throws(CoreDataError) -> Expression {
    try expect("(")
    return .function(name, receiver: nil, arguments: try list(until: ")"))
  }

  private mutating func list(until end: String) throws(CoreDataError) -> [Expression] {
    if tokens.skip(symbol: end) { return [] }
    var result = [try expression()]
    while tokens.skip(symbol: ",") { result.append(try expression()) }
    try expect(end)
    return result
  }
}

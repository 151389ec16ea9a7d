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

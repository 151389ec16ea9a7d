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

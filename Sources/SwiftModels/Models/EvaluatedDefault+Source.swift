import ManagedModel

extension EvaluatedDefault {
  /// What makes another value each time, where that is called with nothing: `UUID()`.
  private static let makers: Set<String> = [
    "UUID", "NSUUID", "Date", "NSDate", "SystemRandomNumberGenerator",
  ]
  /// Members and functions that give another value each time.
  private static let changing: Set<String> = [
    "now", "random", "randomElement", "shuffled", "arc4random", "arc4random_uniform",
    "CACurrentMediaTime", "CFAbsoluteTimeGetCurrent", "systemUptime", "uptimeNanoseconds",
    "globallyUniqueString",
  ]

  /// The default that an expression is; `nil` for one that always gives the same value.
  init?(_ expression: [SwiftToken], as type: AttributeType) {
    guard Self.isChanging(expression, type) else { return nil }
    self.init(
      Self.kind(of: expression, type), expression: String(expression.spelling.prefix(80)))
  }

  private static func isChanging(_ expression: [SwiftToken], _ type: AttributeType) -> Bool {
    expression.indices.contains { place in
      let token = expression[place]
      guard token.isName else { return false }
      if changing.contains(token.text) { return true }
      let isCalled =
        place + 2 < expression.count && expression[place + 1].isMark("(")
        && expression[place + 2].isMark(")")
      guard isCalled else { return false }
      let isOwn = expression.count == 4 && place == 1 && (type == .uuid || type == .date)
      return makers.contains(token.text)
        || token.text == "init"
          && (isOwn || place > 1 && makers.contains(expression[place - 2].text))
    }
  }

  private static func kind(of expression: [SwiftToken], _ type: AttributeType) -> Kind {
    var words = expression.map(\.text)
    if words.first == "Foundation" { words.removeFirst(2) }
    switch (words.joined(), type) {
    case ("UUID()", .uuid), ("UUID.init()", .uuid), (".init()", .uuid),
      ("UUID().uuidString", .string), ("NSUUID().uuidString", .string):
      return .uuid
    case ("Date()", .date), ("Date.init()", .date), (".init()", .date), ("Date.now", .date),
      (".now", .date):
      return .now
    default: return integer(words, type)
    }
  }

  /// `Int.random(in: 0..<9)`, with bounds that are written out.
  private static func integer(_ words: [String], _ type: AttributeType) -> Kind {
    guard [.integer16, .integer32, .integer64].contains(type),
      let start = words.firstIndex(of: "random"),
      words.dropFirst(start + 1).prefix(3) == ["(", "in", ":"],
      words.last == ")", start <= 2
    else { return .unknown }
    let bounds = words[(start + 4)...].dropLast().joined().filter { $0 != "_" }
    for (mark, isClosed) in [("...", true), ("..<", false)] {
      let parts = bounds.split(separator: mark, omittingEmptySubsequences: false)
      guard parts.count == 2, let low = Int64(parts[0]), let high = Int64(parts[1]) else {
        continue
      }
      guard isClosed ? low <= high : low < high else { return .unknown }
      return .integer(low...(isClosed ? high : high - 1))
    }
    return .unknown
  }
}

extension [SwiftToken] {
  /// As the source spells it, on one line.
  fileprivate var spelling: String {
    enumerated().map { index, token in
      let text = token.kind == .string ? "\"\(token.text)\"" : token.text
      return (token.isAfterSpace && index > 0 ? " " : "") + text
    }.joined()
  }
}

import ManagedModel

// The type and the value of what stands behind `=`.
extension TypeResolver {
  /// The type that an expression has where none is written; `nil` where that cannot be determined.
  func type(of expression: [SwiftToken], in scope: [String]) -> SwiftType? {
    // Marks after the value, as in `URL(string: "…")!`, change nothing.
    var tokens = expression[...]
    while let last = tokens.last, last.isMark("!") { tokens.removeLast() }
    if let cast = tokens.lastIndex(where: { $0.isWord("as") }), cast > 0 {
      var reader = DeclarationReader(Array(tokens[(cast + 1)...]))
      let type = reader.type(depth: 0)
      return reader.at == reader.end ? type : nil
    }
    if let literal = literalType(tokens) { return literal }
    guard let first = tokens.first else { return nil }
    if first.isMark("[") || tokens.contains(where: { $0.isMark("<") && !$0.isAfterSpace }) {
      return spelled(Array(tokens), in: scope)
    }
    guard first.isName else { return nil }
    var names = tokens.indices.prefix { place in
      place % 2 == 0 ? tokens[place].isName : tokens[place].isMark(".")
    }.map { tokens[$0].text }.filter { $0 != "." }
    // The longest name that is a type's: `Kind.first` is of type Kind.
    while !names.isEmpty {
      if let found = known(names, in: scope) {
        return member(of: found, in: scope, Array(tokens.dropFirst(names.count * 2 - 1)))
      }
      names.removeLast()
    }
    return nil
  }

  private func known(_ names: [String], in scope: [String]) -> SwiftType? {
    switch table.meaning(of: names, in: scope) {
    case .entry: return .named(names)
    case .alias(let type): return type
    case .unknown:
      if case .none = resolve(.named(names), in: scope).kind { return nil }
      return .named(names)
    }
  }

  /// The type of `TYPE(…)`, `TYPE.member` or `TYPE.member(…)`.
  private func member(
    of type: SwiftType, in scope: [String], _ rest: [SwiftToken]
  ) -> SwiftType? {
    let brackets = Brackets(rest)
    var (at, calls, members) = (0, 0, [String]())
    while at < rest.count {
      if rest[at].isMark("("), calls <= members.count {
        calls += 1
        at = max(at + 1, brackets.afters[at])
      } else if rest[at].isMark("."), at + 1 < rest.count, rest[at + 1].isName {
        members.append(rest[at + 1].text)
        at += 2
      } else {
        return nil
      }
    }
    // A member of a type is mostly one of its values; one of a value is something else.
    let isValue = rest.first?.isMark("(") ?? false
    if let last = members.last, isValue || members.count > 1 {
      if last == "rawValue", case .enumeration(let place) = resolve(type, in: scope).kind {
        return table.entries[place].declaration.inherits.first
      }
      return Self.members[last]
    }
    if members.isEmpty, !isValue { return nil }
    return type
  }

  private static let members: [String: SwiftType] = [
    "uuidString": .named(["String"]), "description": .named(["String"]),
    "absoluteString": .named(["String"]), "count": .named(["Int"]),
    "timeIntervalSince1970": .named(["Double"]), "timeIntervalSinceNow": .named(["Double"]),
    "timeIntervalSinceReferenceDate": .named(["Double"]),
  ]

  /// The type of numbers, texts and truths, also of sums of numbers.
  private func literalType(_ tokens: ArraySlice<SwiftToken>) -> SwiftType? {
    guard let first = tokens.first else { return nil }
    if tokens.count == 1 {
      switch first.kind {
      case .string, .interpolatedString: return .named(["String"])
      case .word where first.text == "true" || first.text == "false": return .named(["Bool"])
      default: break
      }
    }
    if tokens.contains(where: { $0.kind == .string || $0.kind == .interpolatedString }),
      tokens.allSatisfy({
        $0.kind == .string || $0.kind == .interpolatedString || $0.isMark("+")
      })
    {
      return .named(["String"])
    }
    guard tokens.contains(where: { $0.kind == .number }),
      tokens.allSatisfy({
        $0.kind == .number || $0.kind == .mark && ["+", "-", "*", "/", "(", ")"].contains($0.text)
      })
    else { return nil }
    return .named([tokens.contains { $0.kind == .number && $0.isReal } ? "Double" : "Int"])
  }

  /// The type of `[String]()`, `Array<Int>()` or an array of literals.
  private func spelled(_ tokens: [SwiftToken], in scope: [String]) -> SwiftType? {
    var reader = DeclarationReader(tokens)
    let type = reader.type(depth: 0)
    if let call = reader.token(), call.isMark("("), type != .other("no type") {
      reader.skipBrackets()
      return reader.at == reader.end ? type : nil
    }
    guard tokens.first?.isMark("[") == true else { return nil }
    var elements = DeclarationReader(tokens)
    let list = elements.arguments()
    guard elements.at == elements.end, let first = list.first, first.label == nil else {
      return nil
    }
    if let colon = first.tokens.firstIndex(where: { $0.isMark(":") }) {
      guard let key = self.type(of: Array(first.tokens[..<colon]), in: scope),
        let value = self.type(of: Array(first.tokens[(colon + 1)...]), in: scope)
      else { return nil }
      return .dictionary(key, value)
    }
    return self.type(of: first.tokens, in: scope).map { .array($0) }
  }

  /// The value that an attribute starts with; `nil` where only a running program knows.
  static func value(of expression: [SwiftToken], as type: AttributeType) -> AttributeValue? {
    var tokens = expression[...]
    let isNegative = tokens.first?.isMark("-") ?? false
    if isNegative { tokens.removeFirst() }
    // `.zero` and `Decimal(5)` are literals in other words.
    if tokens.count == 4, tokens.first?.isName == true { tokens = tokens.dropFirst(2).dropLast() }
    guard let only = tokens.first else { return nil }
    if tokens.count <= 3, tokens.last?.isWord("zero") == true { return number("0", type) }
    guard tokens.count == 1 else { return nil }
    switch (only.kind, type) {
    case (.string, .string): return .string(only.text)
    case (.word, .boolean) where only.text == "true" || only.text == "false":
      return .boolean(only.text == "true")
    case (.number, _):
      return number((isNegative ? "-" : "") + only.text.filter { $0 != "_" }, type)
    default: return nil
    }
  }

  private static func number(_ text: String, _ type: AttributeType) -> AttributeValue? {
    switch type {
    case .integer16, .integer32, .integer64:
      for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] where text.hasPrefix(prefix) {
        return Int64(text.dropFirst(2), radix: radix).map { .integer($0) }
      }
      return Int64(text).map { .integer($0) }
    case .double, .float: return Double(text).map { .double($0) }
    case .decimal: return DefaultValueText.value(text, as: .decimal)
    default: return nil
    }
  }
}

extension SwiftToken {
  /// Whether a number has a fraction or an exponent.
  var isReal: Bool {
    guard !text.hasPrefix("0x"), !text.hasPrefix("0X") else { return text.contains(".") }
    return text.contains { $0 == "." || $0 == "e" || $0 == "E" }
  }
}

extension SwiftAttribute {
  /// The name behind `.transformable(by:)`.
  var transformer: String? {
    for argument in arguments where argument.label == nil {
      guard let place = argument.tokens.firstIndex(where: { $0.isWord("transformable") }) else {
        continue
      }
      let rest = argument.tokens[(place + 1)...]
      if let literal = rest.first(where: { $0.kind == .string }) { return literal.text }
      if let type = Array(rest).metatypes.first { return type.joined(separator: ".") }
      return "NSSecureUnarchiveFromData"
    }
    return nil
  }
}

extension SwiftType {
  /// The type without the question mark.
  var unwrapped: SwiftType {
    if case .optional(let type) = desugared { type } else { self }
  }
}

extension [SwiftToken] {
  /// Whether it is `nil` alone.
  var isNil: Bool { count == 1 && first?.isWord("nil") == true }

  /// Each `\Type.property`, as the property's path.
  var keyPaths: [String] {
    var paths: [String] = []
    var index = 0
    while index < count {
      guard self[index].isMark("\\") else {
        index += 1
        continue
      }
      index += 1
      let hasType = index < count && !self[index].isMark(".")
      var names: [String] = []
      while index < count,
        self[index].isName || self[index].isMark(".") || self[index].isMark("?")
          || self[index].isMark("!")
      {
        if self[index].isName { names.append(self[index].text) }
        index += 1
      }
      // The names of types come first, and begin with a capital.
      let properties =
        hasType ? names.drop { $0.first?.isUppercase == true } : names[...]
      if !properties.isEmpty { paths.append(properties.joined(separator: ".")) }
    }
    return paths
  }
}

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

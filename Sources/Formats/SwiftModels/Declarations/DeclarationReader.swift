/// Reads declarations among tokens; bodies of functions are passed over.
struct DeclarationReader {
  let tokens: [SwiftToken]
  let brackets: Brackets
  /// The token that is next.
  var at = 0
  /// Where what is being read ends.
  var end: Int
  /// Lines of `@Model` that were read.
  private(set) var modelLines: [Int] = []
  private(set) var problems: [(line: Int, message: String)] = []

  /// Types within types that are followed.
  static let maximumDepth = 48

  init(_ tokens: [SwiftToken]) {
    self.tokens = tokens
    brackets = Brackets(tokens)
    end = tokens.count
    for line in brackets.unclosed { problem("a bracket is never closed", line: line) }
  }

  /// A token from the next one on; `nil` behind the end.
  func token(_ offset: Int = 0) -> SwiftToken? {
    let index = at + offset
    return index < end ? tokens[index] : nil
  }

  /// Whether the token is this mark.
  func isMark(_ mark: String, _ offset: Int = 0) -> Bool { token(offset)?.isMark(mark) ?? false }

  /// Whether a bracket opens here.
  var isOpening: Bool { isMark("(") || isMark("[") || isMark("{") }

  /// Goes on behind the brackets that open here.
  mutating func skipBrackets() {
    guard at < end else { return }
    at = max(at + 1, min(brackets.afters[at], end))
  }

  /// Reads within the brackets that open here, and goes on behind them.
  mutating func within<T>(_ body: (inout Self) -> T) -> T {
    let (outer, inner) = (end, min(brackets.ends[at], end))
    let after = max(at + 1, min(brackets.afters[at], end))
    at += 1
    end = max(inner, at)
    if end > outer { end = outer }
    let result = body(&self)
    (at, end) = (after, outer)
    return result
  }

  mutating func problem(_ message: String, line: Int) {
    if problems.count < 100 { problems.append((line, message)) }
  }

  // MARK: Members

  private static let modifiers: Set<String> = [
    "public", "private", "fileprivate", "internal", "open", "package", "final", "static", "lazy",
    "weak", "unowned", "mutating", "nonmutating", "override", "required", "convenience", "dynamic",
    "optional", "indirect", "nonisolated", "isolated", "distributed", "prefix", "infix", "postfix",
    "consuming", "borrowing",
  ]
  private static let functions: Set<String> = [
    "func", "init", "deinit", "subscript", "macro", "precedencegroup",
  ]
  private static let lines: Set<String> = ["import", "operator", "associatedtype"]
  private static let types: [String: TypeDeclaration.Kind] = [
    "class": .class, "struct": .structure, "enum": .enumeration, "actor": .actor,
    "protocol": .protocol, "extension": .extension,
  ]

  /// Reads what is declared up to the end.
  mutating func members(of type: inout TypeDeclaration, depth: Int) {
    var attributes: [SwiftAttribute] = []
    var modifiers: Set<String> = []
    while let token = token() {
      let start = at
      var isDeclared = true
      if token.isMark("@") {
        if let attribute = attribute() { attributes.append(attribute) }
        isDeclared = false
      } else if token.kind == .pound {
        type.macros.append(macro())
      } else if token.kind == .word {
        switch token.text {
        case "var", "let":
          type.properties += properties(attributes, modifiers)
        case "class" where isModifier:
          modifiers.insert("static")
          at += 1
          isDeclared = false
        case "case" where type.kind == .enumeration: type.cases += cases()
        case "typealias": if let alias = alias() { type.aliases.append(alias) }
        case _ where Self.functions.contains(token.text): skipFunction()
        case _ where Self.lines.contains(token.text): skipLine()
        case _ where Self.modifiers.contains(token.text):
          modifiers.insert(token.text)
          at += 1
          if isMark("(") { skipBrackets() }
          isDeclared = false
        default:
          if let kind = Self.types[token.text], self.token(1)?.isName == true {
            if let nested = declaration(kind, attributes, depth: depth) {
              type.nested.append(nested)
            }
          } else {
            at += 1
          }
        }
      } else if isOpening {
        skipBrackets()
      } else {
        at += 1
      }
      if at <= start { at = start + 1 }
      if isDeclared { (attributes, modifiers) = ([], []) }
    }
  }

  /// Whether `class` stands here for `static`.
  private var isModifier: Bool {
    guard let next = token(1), next.kind == .word else { return false }
    return next.text == "var" || next.text == "let" || Self.functions.contains(next.text)
      || Self.modifiers.contains(next.text)
  }

  private mutating func declaration(
    _ kind: TypeDeclaration.Kind, _ attributes: [SwiftAttribute], depth: Int
  ) -> TypeDeclaration? {
    guard let keyword = token() else { return nil }
    at += 1
    var type = TypeDeclaration(
      kind: kind, name: [], attributes: attributes, line: keyword.line,
      conditions: keyword.conditions)
    if kind == .extension {
      // `extension [Item]` has no name that anything could be found by.
      let extended = self.type(depth: 0)
      type.name = extended.names ?? [extended.description]
    } else if let name = token(), name.isName {
      type.name = [name.text]
      at += 1
      if isMark("<") { type.parameters = parameters() }
    }
    if isMark(":") {
      at += 1
      repeat {
        type.inherits.append(self.type(depth: 0))
        guard isMark(",") || isMark("&") else { break }
        at += 1
      } while at < end
    }
    while let next = token(), !next.isMark("{") {
      if next.isFirstOfLine, startsDeclaration(next) { break }
      if isOpening { skipBrackets() } else { at += 1 }
    }
    if kind == .class {
      modelLines += attributes.filter { $0.name == "Model" }.map(\.line)
    }
    guard isMark("{") else {
      problem("a type without its braces", line: keyword.line)
      return type
    }
    guard depth < Self.maximumDepth else {
      problem("types within types are too deep and were not read", line: keyword.line)
      skipBrackets()
      return type
    }
    within { $0.members(of: &type, depth: depth + 1) }
    return type
  }

  /// Names of generic parameters; the angle brackets open here.
  private mutating func parameters() -> [String] {
    var names: [String] = []
    var depth = 0
    while let token = token(), !token.isMark("{") {
      if token.isMark("<") { depth += 1 }
      if token.isMark(">") { depth -= 1 }
      let isFirst = depth == 1 && (token.isMark("<") || token.isMark(","))
      at += 1
      if depth <= 0 { break }
      if isFirst, let name = self.token(), name.isName { names.append(name.text) }
    }
    return names
  }

  private mutating func alias() -> TypeAlias? {
    at += 1
    guard let name = token(), name.isName else { return nil }
    at += 1
    if isMark("<") { _ = parameters() }
    guard isMark("=") else { return nil }
    at += 1
    return TypeAlias(name: name.text, type: type(depth: 0))
  }

  private mutating func cases() -> [EnumCase] {
    at += 1
    var cases: [EnumCase] = []
    while let name = token(), name.isName {
      at += 1
      let hasPayload = isMark("(")
      if hasPayload { skipBrackets() }
      if isMark("=") {
        at += 1
        _ = expression()
      }
      cases.append(EnumCase(name: name.text, hasPayload: hasPayload))
      guard isMark(",") else { break }
      at += 1
    }
    return cases
  }

  // MARK: What is passed over

  private func startsDeclaration(_ token: SwiftToken) -> Bool {
    switch token.kind {
    case .pound: true
    case .mark: token.text == "@"
    case .word:
      token.text == "var" || token.text == "let" || token.text == "case"
        || token.text == "typealias" || Self.types[token.text] != nil
        || Self.functions.contains(token.text) || Self.lines.contains(token.text)
        || Self.modifiers.contains(token.text)
    default: false
    }
  }

  /// Passes over a function with its body, where it has one.
  private mutating func skipFunction() {
    at += 1
    while let token = token() {
      if token.isMark("{") { return skipBrackets() }
      if token.isFirstOfLine, startsDeclaration(token) { return }
      if isOpening { skipBrackets() } else { at += 1 }
    }
  }

  private mutating func skipLine() {
    at += 1
    while let token = token(), !token.isFirstOfLine { at += 1 }
  }
}

extension DeclarationReader {
  private static let prefixes: Set<String> = [
    "inout", "some", "any", "borrowing", "consuming", "sending", "__owned", "__shared", "isolated",
    "repeat", "each",
  ]

  /// Reads a type.
  mutating func type(depth: Int) -> SwiftType {
    guard depth < Self.maximumDepth else {
      if isOpening { skipBrackets() } else { at += 1 }
      return .other("a type that is nested too deeply")
    }
    while let token = token() {
      if token.isMark("@") {
        _ = attribute()
      } else if token.isMark("~") || token.kind == .word && Self.prefixes.contains(token.text) {
        at += 1
      } else {
        break
      }
    }
    guard let token = token() else { return .other("no type") }
    var type: SwiftType
    if token.isMark("[") {
      type = within { $0.collection(depth: depth) }
    } else if token.isMark("(") {
      type = within { $0.parenthesized(depth: depth) }
    } else if token.isName {
      type = named(depth: depth)
    } else {
      return .other("no type")
    }
    while let next = self.token() {
      if (next.isMark("?") || next.isMark("!")) && !next.isAfterSpace {
        type = .optional(type)
        at += 1
      } else if next.isMark("->") || isEffect(next) {
        while let word = self.token(), isEffect(word) {
          at += 1
          if isMark("(") { skipBrackets() }
        }
        guard isMark("->") else { break }
        at += 1
        _ = self.type(depth: depth + 1)
        return .other("a closure")
      } else {
        break
      }
    }
    return type
  }

  private func isEffect(_ token: SwiftToken) -> Bool {
    token.isWord("throws") || token.isWord("async") || token.isWord("rethrows")
  }

  private mutating func collection(depth: Int) -> SwiftType {
    let element = type(depth: depth + 1)
    if isMark(":") {
      at += 1
      return .dictionary(element, type(depth: depth + 1))
    }
    return at == end ? .array(element) : .other("an array of fixed length")
  }

  private mutating func parenthesized(depth: Int) -> SwiftType {
    let only = type(depth: depth + 1)
    return at == end && only != .other("no type") ? only : .other("a tuple")
  }

  private mutating func named(depth: Int) -> SwiftType {
    var parts: [SwiftType.Component] = []
    while let name = token(), name.isName {
      at += 1
      var part = SwiftType.Component(name: name.text)
      if let open = token(), open.isMark("<"), !open.isAfterSpace {
        at += 1
        while at < end, !isMark(">") {
          let before = at
          part.arguments.append(type(depth: depth + 1))
          if isMark(",") { at += 1 } else if !isMark(">") { break }
          if at == before { break }
        }
        if isMark(">") { at += 1 }
      }
      parts.append(part)
      guard isMark("."), token(1)?.isName == true else { break }
      at += 1
    }
    if let last = parts.last, ["Type", "Protocol"].contains(last.name), parts.count > 1 {
      return .other("a metatype")
    }
    return .named(parts)
  }
}

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

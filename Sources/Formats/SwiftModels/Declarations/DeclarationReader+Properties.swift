extension DeclarationReader {
  /// Reads the bindings behind `var` or `let`.
  mutating func properties(
    _ attributes: [SwiftAttribute], _ modifiers: Set<String>
  ) -> [PropertyDeclaration] {
    at += 1
    var found: [PropertyDeclaration] = []
    while let token = token() {
      var property = PropertyDeclaration(
        name: token.text, attributes: attributes, isStatic: modifiers.contains("static"),
        isLazy: modifiers.contains("lazy"), line: token.line, conditions: token.conditions)
      if token.isName {
        at += 1
      } else if token.isMark("(") {
        (property.name, property.isTuple) = ("(…)", true)
        skipBrackets()
      } else {
        break
      }
      if isMark(":") {
        at += 1
        property.type = type(depth: 0)
        if isMark("&") {
          property.type = .other("a composition of protocols")
          while isMark("&") {
            at += 1
            _ = type(depth: 0)
          }
        }
        // In `var a, b: Int` the type is that of both.
        for index in found.indices.reversed() {
          guard found[index].type == nil, found[index].initializer.isEmpty else { break }
          found[index].type = property.type
        }
      }
      if isMark("=") {
        at += 1
        property.initializer = expression()
      }
      if isMark("{") {
        property.isComputed = !isObserved
        let (first, last) = (at + 1, min(brackets.ends[at], end))
        if property.isStatic, first < last {
          property.body = Array(tokens[first..<min(last, first + Self.bodyLimit)])
        }
        skipBrackets()
      }
      found.append(property)
      guard isMark(",") else { break }
      at += 1
    }
    return found
  }

  /// Most tokens of a static property that are kept.
  private static let bodyLimit = 20_000
  /// Most tokens of the expression behind `=` that are kept.
  private static let expressionLimit = 20_000

  /// Whether the braces that open here hold didSet or willSet, which make nothing computed.
  private var isObserved: Bool {
    var place = 1
    while let token = token(place) {
      if token.isMark("@") {
        place += 2
      } else {
        return token.isWord("didSet") || token.isWord("willSet")
      }
    }
    return false
  }

  /// Passes over an expression, and gives its tokens.
  mutating func expression() -> [SwiftToken] {
    let start = at
    loop: while let token = token() {
      if at > start, token.isFirstOfLine, !continuesExpression(token) { break }
      switch token.kind {
      case .mark:
        switch token.text {
        case ",", ";", ")", "]", "}": break loop
        case "{":
          if at > start, isObserved { break loop }
          skipBrackets()
        case "(", "[": skipBrackets()
        case "<":
          if !token.isAfterSpace, let after = genericEnd { at = after } else { at += 1 }
        default: at += 1
        }
      default: at += 1
      }
    }
    return Array(tokens[start..<min(at, start + Self.expressionLimit)])
  }

  /// Whether the first token of a line belongs to the expression of the line before.
  private func continuesExpression(_ token: SwiftToken) -> Bool {
    if at > 0 {
      let last = tokens[at - 1]
      if last.kind == .mark {
        if ["=", ",", ":", "&", "|", "+", "-", "*", "/", "%"].contains(last.text) { return true }
        if last.isAfterSpace, ["?", "<", ">"].contains(last.text) { return true }
      }
      if last.isWord("as") || last.isWord("is") || last.isWord("try") || last.isWord("await") {
        return true
      }
    }
    switch token.kind {
    case .mark: return !["@", "(", "[", "{", "}", ")", "]", ";", "~", "\\"].contains(token.text)
    case .word: return token.text == "as" || token.text == "is"
    default: return false
    }
  }

  /// Where `<…>` ends, if it holds names of types.
  private var genericEnd: Int? {
    var (depth, place) = (0, 0)
    while let token = token(place), place < 200 {
      switch token.kind {
      case .word, .quotedWord: break
      case .mark:
        switch token.text {
        case "<": depth += 1
        case ">":
          depth -= 1
          if depth == 0 { return at + place + 1 }
        case ".", ",", ":", "?", "[", "]", "(", ")", "&": break
        default: return nil
        }
      default: return nil
      }
      place += 1
    }
    return nil
  }

  // MARK: Attributes and macros

  /// Reads `@Name(…)`; `at` is at the `@`.
  mutating func attribute() -> SwiftAttribute? {
    guard let mark = token() else { return nil }
    at += 1
    guard var name = token(), name.isName else { return nil }
    at += 1
    while isMark("."), let part = token(1), part.isName {
      name = part
      at += 2
    }
    if isMark("<"), let after = genericEnd { at = after }
    var attribute = SwiftAttribute(name: name.text, line: mark.line)
    if let open = token(), open.isMark("("),
      !open.isAfterSpace || ["Attribute", "Relationship"].contains(attribute.name)
    {
      attribute.arguments = arguments()
    }
    return attribute
  }

  /// Reads `#Name<…>(…) { … }`; `at` is at the name.
  mutating func macro() -> MacroUse {
    var macro = MacroUse(name: token()?.text ?? "", line: token()?.line ?? 0)
    at += 1
    if isMark("<"), let after = genericEnd { at = after }
    if isMark("(") { macro.arguments = arguments() }
    while let token = token() {
      if token.isMark("{") {
        skipBrackets()
      } else if token.isName, !token.isFirstOfLine, isMark(":", 1), isMark("{", 2) {
        at += 2
      } else {
        break
      }
    }
    return macro
  }

  /// Reads what is between the parentheses that open here.
  mutating func arguments() -> [SwiftArgument] {
    within { reader in
      var arguments: [SwiftArgument] = []
      while let token = reader.token() {
        var label: String?
        if token.isName, reader.isMark(":", 1) {
          label = token.text
          reader.at += 2
        }
        let start = reader.at
        while reader.at < reader.end, !reader.isMark(",") {
          if reader.isOpening { reader.skipBrackets() } else { reader.at += 1 }
        }
        arguments.append(
          SwiftArgument(label: label, tokens: Array(reader.tokens[start..<reader.at])))
        if reader.at < reader.end { reader.at += 1 }
      }
      return arguments
    }
  }
}

extension [SwiftToken] {
  /// Names before `.self`, in order.
  var metatypes: [[String]] {
    var found: [[String]] = []
    var names: [String] = []
    for (index, token) in enumerated() {
      if token.isWord("self"), !names.isEmpty, index > 0, self[index - 1].isMark(".") {
        found.append(names)
        names = []
      } else if token.isName {
        if index == 0 || !self[index - 1].isMark(".") { names = [] }
        names.append(token.text)
      } else if !token.isMark(".") {
        names = []
      }
    }
    return found
  }
}

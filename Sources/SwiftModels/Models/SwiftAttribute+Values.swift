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

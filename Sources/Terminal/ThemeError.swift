/// What is wrong with a theme file, and in which line.
package struct ThemeError: Error, Equatable, CustomStringConvertible {
  /// What is wrong with the file, as a clause.
  package let description: String
  /// From 1 on; `nil` where it is about the whole file.
  package private(set) var line: Int?
  /// The keys that lead to the mistake.
  private var path: [String]

  init(_ description: String, at path: [String] = []) {
    self.description = description
    self.path = path
  }

  /// The same with the line in which the last of the keys stands.
  ///
  /// The decoder forgets where it read a key, so they are looked for one after the other, in comments
  /// too: no more than a hint to a person.
  func placed(in text: String) -> ThemeError {
    guard line == nil, !path.isEmpty else { return self }
    var error = self
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var number = 0
    for key in path {
      guard let found = lines.indices.first(where: { $0 >= number && Self.has(key, lines[$0]) })
      else { return self }
      number = found
    }
    error.line = number + 1
    return error
  }

  /// Whether a key stands in a line: quoted or bare, before a colon, and not behind `//`.
  private static func has(_ key: String, _ line: Substring) -> Bool {
    var rest = line
    while let first = rest.first {
      if rest.hasPrefix("//") { return false }
      for form in ["\"\(key)\"", "'\(key)'", key] where !key.isEmpty && rest.hasPrefix(form) {
        if rest.dropFirst(form.count).drop(while: \.isWhitespace).first == ":" { return true }
      }
      // A bare key begins where a word does.
      rest =
        first.isLetter || first == "_"
        ? rest.drop { $0.isLetter || $0.isNumber || $0 == "_" } : rest.dropFirst()
    }
    return false
  }
}

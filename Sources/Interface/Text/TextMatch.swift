/// Whether a line has what was searched for in it: all of its words, in any order.
///
/// Case counts only where a capital was typed, as in vim and tig.
struct TextMatch: Sendable, Equatable {
  private let words: [String]
  private let isCaseSensitive: Bool

  init(_ text: String) {
    isCaseSensitive = text.contains(where: \.isUppercase)
    words = text.split(separator: " ").map(String.init)
  }

  /// The words as they are looked for.
  var foldedWords: [String] { isCaseSensitive ? words : words.map { $0.lowercased() } }

  func fold(_ character: Character) -> Character {
    guard !isCaseSensitive else { return character }
    let lower = character.lowercased()
    return lower.count == 1 ? lower.first ?? character : character
  }

  /// Everything matches a search for nothing.
  var isEmpty: Bool { words.isEmpty }

  func matches(_ line: String) -> Bool {
    guard !words.isEmpty else { return true }
    // A value of megabytes is not searched beyond what a line of it can show.
    let line = isCaseSensitive ? String(line.prefix(4_000)) : line.prefix(4_000).lowercased()
    return words.allSatisfy { Self.contains(line.utf8, $0.utf8) }
  }

  private static func contains(_ text: String.UTF8View, _ part: String.UTF8View) -> Bool {
    guard let first = part.first else { return true }
    var rest = text[...]
    while let place = rest.firstIndex(of: first) {
      if rest[place...].starts(with: part) { return true }
      rest = rest[rest.index(after: place)...]
    }
    return false
  }
}

import Terminal

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

extension TextMatch {
  /// A text as spans, what was searched for in a style of its own.
  func highlight(_ text: String, _ style: Style, match: Style) -> [Span] {
    // All words need not be in the same column.
    guard !isEmpty, foldedWords.contains(where: { TextMatch($0).matches(text) }) else {
      return [Span(text, style)]
    }
    let characters = Array(text.prefix(4_000))
    var isFound = [Bool](repeating: false, count: characters.count)
    for word in foldedWords {
      let word = Array(word)
      guard !word.isEmpty, word.count <= characters.count else { continue }
      for start in 0...(characters.count - word.count) {
        let isHere = word.indices.allSatisfy { fold(characters[start + $0]) == word[$0] }
        if isHere { for place in start..<start + word.count { isFound[place] = true } }
      }
    }
    var spans: [Span] = []
    var run = ""
    for (place, character) in characters.enumerated() {
      if place > 0, isFound[place] != isFound[place - 1] {
        spans.append(Span(run, isFound[place - 1] ? match : style))
        run = ""
      }
      run.append(character)
    }
    if let last = isFound.last { spans.append(Span(run, last ? match : style)) }
    return spans
  }
}

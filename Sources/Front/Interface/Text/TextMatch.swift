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

/// How well a few typed letters name a line: all of them occur in it, in their order.
///
/// Letters at the start of a word and letters that follow each other count most, as in the
/// file finders of editors. Words parted by spaces may come in any order.
struct FuzzyMatch: Sendable, Equatable {
  let score: Int
  /// The characters of the line that were meant.
  let positions: [Int]

  private static let longest = 200

  /// `nil` where a letter is missing.
  init?(_ query: String, in line: String) {
    let letters = line.prefix(Self.longest).map { $0 }
    let folded = letters.map { $0.lowercased() }
    var score = 0
    var positions: Set<Int> = []
    for word in query.split(separator: " ") {
      guard let found = Self.best(word.map { $0.lowercased() }, in: folded, letters) else {
        return nil
      }
      score += found.score
      positions.formUnion(found.positions)
    }
    self.score = score
    self.positions = positions.sorted()
  }

  /// The best way to lay the word over the line, found letter by letter: `best[place]` is the
  /// score of the letters so far with the last of them at that place.
  private static func best(
    _ word: [String], in line: [String], _ letters: [Character]
  ) -> (score: Int, positions: [Int])? {
    guard !word.isEmpty, word.count <= line.count else { return nil }
    var best = [Int?](repeating: nil, count: line.count)
    var ways: [[Int]] = []
    for (index, letter) in word.enumerated() {
      var next = [Int?](repeating: nil, count: line.count)
      var from = [Int](repeating: -1, count: line.count)
      // The best of the places two or more before, which a gap leads from.
      var far: (score: Int, place: Int)?
      for place in line.indices {
        if place >= 2, let score = best[place - 2], far.map({ score > $0.score }) ?? true {
          far = (score, place - 2)
        }
        guard line[place] == letter else { continue }
        let own = 1 + (isWordStart(place, letters) ? 8 : 0)
        if index == 0 {
          // The earlier the better, a little.
          next[place] = own * 4 - min(place, 20)
          continue
        }
        if place >= 1, let score = best[place - 1] {
          next[place] = score + (own + 6) * 4
          from[place] = place - 1
        }
        if let far, far.score + own * 4 - 12 > next[place] ?? .min {
          next[place] = far.score + own * 4 - 12
          from[place] = far.place
        }
      }
      best = next
      ways.append(from)
    }
    guard
      let end = best.indices.filter({ best[$0] != nil }).max(by: { left, right in
        (best[left] ?? 0, -left) < (best[right] ?? 0, -right)
      }), let score = best[end]
    else { return nil }
    var positions = [end]
    for from in ways.dropFirst().reversed() {
      positions.append(from[positions[positions.count - 1]])
    }
    return (score, positions.reversed())
  }

  private static func isWordStart(_ place: Int, _ letters: [Character]) -> Bool {
    guard place > 0 else { return true }
    let (before, letter) = (letters[place - 1], letters[place])
    let isLetter = letter.isLetter || letter.isNumber
    return isLetter && !(before.isLetter || before.isNumber)
      || letter.isUppercase && before.isLowercase
  }
}

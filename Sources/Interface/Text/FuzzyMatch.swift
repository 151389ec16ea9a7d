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

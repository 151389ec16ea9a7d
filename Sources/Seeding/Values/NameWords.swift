/// The words of a property's name: `firstName`, `first_name` and `URLString` have two each.
struct NameWords: Sendable, Equatable {
  let words: [String]

  init(_ name: String) {
    var words: [String] = []
    var word = ""
    var previous: Character?
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      guard character.isLetter || character.isNumber else {
        if !word.isEmpty { words.append(word) }
        (word, previous) = ("", nil)
        continue
      }
      let next = index + 1 < characters.count ? characters[index + 1] : nil
      // `URLString`: the last capital of several begins the next word.
      let begins =
        character.isUppercase
        && (previous?.isLowercase == true || previous?.isNumber == true
          || previous?.isUppercase == true && next?.isLowercase == true)
      if begins, !word.isEmpty {
        words.append(word)
        word = ""
      }
      word += character.lowercased()
      previous = character
    }
    if !word.isEmpty { words.append(word) }
    self.words = words
  }

  /// Whether one of the words is among these.
  func has(_ names: String...) -> Bool { words.contains { names.contains($0) } }

  /// Whether the name ends in one of these.
  func ends(in names: String...) -> Bool { words.last.map(names.contains) ?? false }

  /// All letters together, for names that people write in one word.
  var joined: String { words.joined() }

  /// Whether the name is one of these, however it is written.
  func isOne(of names: String...) -> Bool { names.contains(joined) }
}

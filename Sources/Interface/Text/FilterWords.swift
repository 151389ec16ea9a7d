/// The words of a predicate that is being typed, as far as completing it needs them.
struct FilterWords {
  enum Kind: Equatable {
    /// A name, a key path or a word of the language.
    case word
    case number
    case string
    /// A string that nothing closes yet.
    case open
    case sign
  }

  struct Word: Equatable {
    var kind: Kind
    var text: String
    /// In characters.
    var range: Range<Int>
  }

  private(set) var words: [Word] = []

  init(_ text: some StringProtocol) {
    let characters = Array(text.prefix(10_000))
    var place = 0
    while place < characters.count {
      let start = place
      let character = characters[place]
      func add(_ kind: Kind) {
        words.append(
          Word(kind: kind, text: String(characters[start..<place]), range: start..<place))
      }
      if character.isWhitespace {
        place += 1
      } else if character == "\"" || character == "'" {
        place += 1
        while place < characters.count, characters[place] != character {
          place += characters[place] == "\\" ? 2 : 1
        }
        let isOpen = place >= characters.count
        place = min(place + 1, characters.count)
        add(isOpen ? .open : .string)
      } else if Self.isName(character) {
        while place < characters.count,
          Self.isName(characters[place]) || characters[place].isNumber || characters[place] == "."
            || characters[place] == ":"
        { place += 1 }
        add(.word)
      } else if character.isNumber {
        while place < characters.count, characters[place].isNumber || characters[place] == "." {
          place += 1
        }
        add(.number)
      } else {
        place += 1
        if place < characters.count, "=<>&|".contains(characters[place]),
          "=<>!&|".contains(character)
        {
          place += 1
        }
        add(.sign)
      }
    }
  }

  private static func isName(_ character: Character) -> Bool {
    character.isLetter || character == "_" || character == "@" || character == "#"
  }

  static let quantifiers: Set = ["ANY", "ALL", "NONE", "SOME"]
  static let comparators: Set = [
    "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "IN", "BETWEEN",
  ]
  static let connectives: Set = ["AND", "OR"]
  private static let others: Set = ["NOT", "TRUEPREDICATE", "FALSEPREDICATE", "SUBQUERY"]

  /// Whether it is plain words that somebody looks for, and no predicate in the making.
  func isPlain(properties: Set<String>) -> Bool {
    guard let first = words.first else { return false }
    let isSpoken = words.allSatisfy { word in
      let text = word.text.uppercased()
      return (word.kind == .word || word.kind == .number) && !text.contains("@")
        && !Self.quantifiers.contains(text) && !Self.comparators.contains(text)
        && !Self.others.contains(text)
    }
    return isSpoken && !properties.contains(first.text)
  }
}

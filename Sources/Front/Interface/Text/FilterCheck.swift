import ManagedModel
import ManagedStore

/// What a text in the filter line is worth, found without asking the store.
enum FilterCheck: Sendable, Equatable {
  case empty
  /// A predicate, with its last quote closed if that was missing.
  case predicate(String)
  /// Plain words, and the predicate that finds them in any text.
  case words(String, predicate: String)
  case wrong(CoreDataError)

  init(_ text: String, entity: String, store: StoreSummary) {
    let text = text.trimmed
    guard !text.isEmpty else {
      self = .empty
      return
    }
    let failure: CoreDataError
    do {
      _ = try RowFilter(text, entity: entity, layout: store.layout)
      self = .predicate(text)
      return
    } catch {
      failure = error
    }
    let words = FilterWords(text)
    if words.words.last?.kind == .open, let quote = words.words.last?.text.first,
      (try? RowFilter(text + String(quote), entity: entity, layout: store.layout)) != nil
    {
      self = .predicate(text + String(quote))
      return
    }
    let columns = store.columns[entity] ?? []
    let properties = Set(columns.map(\.name))
    if words.isPlain(properties: properties) {
      if let predicate = Self.predicate(finding: text, in: columns),
        (try? RowFilter(predicate, entity: entity, layout: store.layout)) != nil
      {
        self = .words(text, predicate: predicate)
        return
      }
    }
    // Where something is marked, that is what is wrong; else the predicate has only begun.
    let isBegun = failure.mark?.range.isEmpty ?? true
    self = .wrong((isBegun ? Self.earlier(text, entity, store) : nil) ?? failure)
  }

  /// A name that is wrong in a predicate that has only begun, found by ending it somehow.
  private static func earlier(
    _ text: String, _ entity: String, _ store: StoreSummary
  ) -> CoreDataError? {
    do {
      _ = try RowFilter(
        text + " == nil", entity: entity, layout: store.layout, isWhole: false)
    } catch {
      if let mark = error.mark, !mark.range.isEmpty, mark.range.upperBound <= text.utf8.count {
        return error
      }
    }
    return nil
  }

  /// The text that the filter would be; `nil` where it makes none.
  var text: String? {
    switch self {
    case .empty: ""
    case .predicate(let text), .words(_, predicate: let text): text
    case .wrong: nil
    }
  }

  /// What finds words in the texts of an object. A whole number alone is its key, too, and so is p12: people say
  /// “recipe 12”, and references have the latter.
  private static func predicate(finding text: String, in columns: [RowColumn]) -> String? {
    let texts = columns.filter { $0.kind == .attribute(.string) }.map(\.name)
    let words = predicate(finding: text, in: texts)
    let number = text.hasPrefix("p") ? String(text.dropFirst()) : text
    guard let key = Int64(number), key > 0, "\(key)" == number,
      !columns.contains(where: { $0.name == "key" })
    else { return words }
    return keyPrefix + number + (words.map { " OR " + $0 } ?? "")
  }

  private static let keyPrefix = "key == "

  /// What such a predicate says of the words in it.
  static func sentence(_ words: String, of predicate: String) -> String {
    (predicate.hasPrefix(keyPrefix) ? "key \(words), or " : "") + "any text contains “\(words)”"
  }

  /// Every word is in some text of the object, in any case and with any accents.
  static func predicate(finding text: String, in properties: [String]) -> String? {
    guard !properties.isEmpty else { return nil }
    let words = text.split(whereSeparator: \.isWhitespace).map { word in
      let parts = properties.map { "\($0) CONTAINS[cd] \(quoted(word))" }
      return parts.count == 1 ? parts[0] : "(" + parts.joined(separator: " OR ") + ")"
    }
    guard words.count == 1 else { return words.joined(separator: " AND ") }
    let only = words[0]
    return only.hasPrefix("(") ? String(only.dropFirst().dropLast()) : only
  }

  /// The words that such a predicate finds; `nil` for one that says anything else.
  static func words(in predicate: String, _ columns: [RowColumn]) -> String? {
    let texts = columns.filter { $0.kind == .attribute(.string) }.map(\.name)
    guard !texts.isEmpty else { return nil }
    let strings = FilterWords(predicate).words.filter { $0.kind == .string }.map(\.text)
    let words = stride(from: 0, to: strings.count, by: texts.count).map { index in
      unquoted(strings[index].dropFirst().dropLast())
    }
    let text = words.joined(separator: " ")
    return !words.isEmpty && self.predicate(finding: text, in: columns) == predicate ? text : nil
  }

  private static func unquoted(_ text: Substring) -> String {
    var plain = ""
    var isEscaped = false
    for character in text {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        plain.append(character)
        isEscaped = false
      }
    }
    return plain
  }

  private static func quoted(_ word: Substring) -> String {
    "\"" + word.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
  }
}

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

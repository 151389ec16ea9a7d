import ManagedModel

extension LogText {
  /// A code that the text names.
  struct Code {
    let domain: String?
    let code: Int
    /// Where the number stands.
    let place: Int
  }

  /// `Domain=X Code=N`; `(X error N.)`; `X Code: N`; `NSSQLiteErrorDomain = N`; "Cocoa error N" and
  /// its like in any language; `error: (N)`; a constant's name; Core Data's own numbers alone.
  var codes: [Code] {
    var codes: [Code] = []
    var domain: String?
    var distance = 0
    for index in words.indices {
      let word = words[index]
      if let named = Self.domain(word, text(word.range)) {
        (domain, distance) = (named, 0)
        continue
      }
      if let family = Self.family(words, at: index) {
        (domain, distance) = (family.rawValue, 0)
        continue
      }
      if word.text == "cocoa" {
        codes += Self.localized(words, around: index)
        continue
      }
      distance += 1
      if let current = domain, distance <= 3, let code = word.number {
        codes.append(Code(domain: current, code: code, place: word.range.lowerBound))
        domain = nil
        continue
      }
      if distance > 3 { domain = nil }
      if let code = word.number {
        if let found = loggedCode(words, at: index) ?? bareCode(word, code) { codes.append(found) }
      } else if isCapital(word), let meaning = ErrorCatalogue.meaning(named: text(word.range)) {
        codes.append(
          Code(
            domain: meaning.domain.rawValue, code: meaning.code, place: word.range.lowerBound))
      }
    }
    return codes
  }

  private static func domain(_ word: Word, _ text: String) -> String? {
    guard word.range.count >= 11, word.text.hasSuffix("errordomain") else { return nil }
    return ErrorMeaning.Domain.allCases.first { $0.rawValue.lowercased() == word.text }?.rawValue
      ?? text
  }

  /// The domain of "Cocoa error", "SQLite error", "sqlite3 code" and the like.
  private static func family(_ words: [Word], at index: Int) -> ErrorMeaning.Domain? {
    let family: ErrorMeaning.Domain
    switch words[index].text {
    case "sqliteexception", "sqliteerror": return .sqlite
    case "cocoa": family = .cocoa
    case "sqlite", "sqlite3": family = .sqlite
    default: return nil
    }
    guard index + 1 < words.count, ["error", "code"].contains(words[index + 1].text) else {
      return nil
    }
    return family
  }

  /// Whether a word begins as all constants do: a log has many words.
  private func isCapital(_ word: Word) -> Bool {
    (0x41...0x5A).contains(byte(word.range.lowerBound))
  }

  /// "(Cocoa-Fehler 134100.)", "erreur Cocoa 1570", "خطأ Cocoa ١٣٤١٠٠": a number of Cocoa's near its name.
  private static func localized(_ words: [Word], around index: Int) -> [Code] {
    let near = Array(words[(index + 1)...].prefix(3)) + words[..<index].suffix(2).reversed()
    let found = near.first { word in
      guard let number = word.number, number >= 256 else { return false }
      return ErrorCatalogue.meaning(of: number, domain: ErrorMeaning.Domain.cocoa.rawValue) != nil
    }
    return found.flatMap { word in
      word.number.map {
        [
          Code(
            domain: ErrorMeaning.Domain.cocoa.rawValue, code: $0, place: word.range.lowerBound)
        ]
      }
    } ?? []
  }

  /// `CoreData: error: (264) attempt to …`: SQLite's codes, and Cocoa's where they are none.
  private func loggedCode(_ words: [Word], at index: Int) -> Code? {
    let word = words[index]
    let place = word.range.lowerBound
    guard let code = word.number, index > 0, words[index - 1].text == "error",
      byte(place - 1) == UInt8(ascii: "("), byte(word.range.upperBound) == UInt8(ascii: ")"),
      small[words[index - 1].range.upperBound..<place].contains(UInt8(ascii: ":"))
    else { return nil }
    let domain: ErrorMeaning.Domain = code > 0xFFFF ? .cocoa : .sqlite
    guard ErrorCatalogue.meaning(of: code, domain: domain.rawValue) != nil else { return nil }
    return Code(domain: domain.rawValue, code: code, place: place)
  }

  /// "错误 134100": Core Data's numbers are so particular that one alone is a code, unless it is
  /// part of a time, a version, a path or an address.
  private func bareCode(_ word: Word, _ code: Int) -> Code? {
    guard (132_000..<135_000).contains(code),
      let meaning = ErrorCatalogue.meaning(of: code, domain: ErrorMeaning.Domain.cocoa.rawValue)
    else { return nil }
    let (start, end) = (word.range.lowerBound, word.range.upperBound)
    let before = byte(start - 1)
    guard !"#/-.@".utf8.contains(before),
      !":.-/".utf8.contains(byte(end)) || !Self.isPlain(byte(end + 1)),
      before != UInt8(ascii: ":") || !Self.isDigit(byte(start - 2))
    else { return nil }
    return Code(domain: meaning.domain.rawValue, code: code, place: start)
  }
}

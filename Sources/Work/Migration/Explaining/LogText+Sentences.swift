import ManagedModel

extension LogText {
  /// A sentence that the text has, with the names behind it.
  struct Said {
    let sentence: ErrorSentence
    let place: Int
    let names: [String]
  }

  /// The known sentences in the text, in order, those of which another says more left out.
  var sentences: [Said] {
    var found: [Said] = []
    var told = 0
    for at in places(of: KnownSentences.all.starts) where at >= told {
      let candidates = KnownSentences.all.byStart[Self.start(of: small, at: at)] ?? []
      let hit = candidates.first { says($0.small, at: at) }
      guard let hit else { continue }
      let end = at + hit.small.count
      // A log that says one thing over and over has said it by then.
      let named = found.count < Self.namedSentences ? names(hit.sentence.names, from: end) : []
      found.append(Said(sentence: hit.sentence, place: at, names: named))
      // Within a sentence there is no other.
      told = end
    }
    return found.filter { said in
      !said.sentence.isGeneral
        || !found.contains {
          $0.sentence.speaker == said.sentence.speaker && !$0.sentence.isGeneral
        }
    }
  }

  /// Most names that are taken of one sentence.
  private static let limit = 50
  /// Most sentences whose names are looked for.
  private static let namedSentences = 1000
  /// How far from a sentence its statement is looked for, in bytes.
  private static let nearby = 4096

  private func names(_ kind: ErrorSentence.Names, from start: Int) -> [String] {
    switch kind {
    case .none: return []
    case .quoted: return quoted(from: start).map { [$0] } ?? []
    case .table, .columns:
      var names: [String] = []
      var at = start
      while names.count < (kind == .table ? 1 : Self.limit) {
        while at < bytes.count, bytes[at] == 32 || bytes[at] == UInt8(ascii: ":") { at += 1 }
        guard let name = identifier(from: &at) else { break }
        names.append(name)
        guard byte(at) == UInt8(ascii: ",") else { break }
        at += 1
      }
      return names
    case .column:
      var at = start
      while at < bytes.count, bytes[at] == 32 { at += 1 }
      guard let name = identifier(from: &at) else { return [] }
      let parts = name.split(separator: ".").map(String.init)
      guard parts.count == 2, let table = table(called: parts[0], near: start) else {
        return [name]
      }
      return ["\(table).\(parts[1])"]
    case .properties: return properties(from: start)
    }
  }

  /// The text in the next quotes, if they are near.
  private func quoted(from start: Int) -> String? {
    let end = min(start + 80, bytes.count)
    guard start < end,
      let open = bytes[start..<end].firstIndex(where: { $0 == 0x22 || $0 == 0x27 }),
      let close = bytes[(open + 1)..<min(open + 200, bytes.count)].firstIndex(of: bytes[open])
    else { return nil }
    return text((open + 1)..<close)
  }

  /// `name` or `name.name`, in quotes or not.
  private func identifier(from at: inout Int) -> String? {
    func isPart(_ byte: UInt8) -> Bool { Self.isPlain(byte) || byte >= 0x80 || byte == 0x24 }
    let isQuoted = byte(at) == 0x22 || byte(at) == 0x27 || byte(at) == 0x60
    if isQuoted { at += 1 }
    let start = at
    while at < bytes.count, at - start < 200,
      isPart(bytes[at]) || (bytes[at] == UInt8(ascii: ".") && at > start && isPart(byte(at + 1)))
    { at += 1 }
    let end = at
    if isQuoted, at < bytes.count { at += 1 }
    return end > start ? text(start..<end) : nil
  }

  /// What ` FROM ZUSER t0` or ` JOIN ZUSER t0` calls by an alias.
  private func table(called alias: String, near place: Int) -> String? {
    let alias = Array(alias.lowercased().utf8)
    for keyword in [" from ", " join "] {
      let keyword = Array(keyword.utf8)
      var rest =
        small[max(0, place - Self.nearby)..<min(small.count, place + Self.nearby)]
      while let found = rest.firstRange(of: keyword) {
        var at = found.upperBound
        rest = rest[found.upperBound...]
        guard let table = identifier(from: &at), byte(at) == 32 else { continue }
        at += 1
        if small[min(at, small.count)...].starts(with: Array("as ".utf8)) { at += 3 }
        let end = min(at + alias.count, small.count)
        if at <= end, small[at..<end].elementsEqual(alias), !Self.isPlain(byte(end)) {
          return table
        }
      }
    }
    return nil
  }

  /// `Entity: one, two`, `Entity:one - Deny` and so on, as long as it goes on like that.
  private func properties(from start: Int) -> [String] {
    var at = min(start, bytes.count)
    if byte(start - 1) != UInt8(ascii: ".") {
      // The rest of the sentence, where it is there, ends in a colon.
      let rest = bytes[at..<min(start + 200, bytes.count)]
      guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
        colon == at || ",.".utf8.contains(bytes[at])
      else { return [] }
      at = colon + 1
    }
    var names: [String] = []
    while names.count < Self.limit {
      skipBlanks(&at)
      let mark = at
      guard let entity = identifier(from: &at), !entity.contains("."),
        entity.utf8.first.map(Self.isDigit) == false, byte(at) == UInt8(ascii: ":")
      else {
        at = mark
        break
      }
      at += 1
      var count = 0
      while names.count < Self.limit {
        skipBlanks(&at)
        guard let name = identifier(from: &at) else { break }
        names.append("\(entity).\(name)")
        count += 1
        let mark = at
        skipBlanks(&at)
        guard byte(at) == UInt8(ascii: ",") else {
          at = mark
          break
        }
        at += 1
      }
      guard count > 0 else { break }
      // A reason behind the name: ` - Deny`.
      if bytes[min(at, bytes.count)...].starts(with: Array(" - ".utf8)) {
        at += 3
        _ = identifier(from: &at)
      }
    }
    return names
  }

  private func skipBlanks(_ at: inout Int) {
    // Some lists are written with dashes.
    while at < bytes.count, bytes[at] == 32 || (bytes[at] == 0x2D && byte(at + 1) == 32) { at += 1 }
  }
}

/// The sentences by how they begin.
private struct KnownSentences {
  struct Known {
    let sentence: ErrorSentence
    let small: [UInt8]
  }

  static let all = KnownSentences()

  let byStart: [UInt32: [Known]]
  let starts: Set<UInt32>

  private init() {
    var byStart: [UInt32: [Known]] = [:]
    for sentence in ErrorCatalogue.sentences {
      let small = Array(sentence.words.lowercased().utf8)
      byStart[LogText.start(of: small, at: 0), default: []].append(
        Known(sentence: sentence, small: small))
    }
    // The longer one says more.
    self.byStart = byStart.mapValues { $0.sorted { $0.small.count > $1.small.count } }
    starts = Set(byStart.keys)
  }
}

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

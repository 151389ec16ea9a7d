import ManagedModel

/// Merges the codes and the sentences of a text, so that each error is listed once.
struct ErrorGathering {
  /// An error, and how often codes and sentences report it.
  private struct Found {
    var entry: ErrorReport.Entry
    var place: Int
    var codes = 0
    var sentences = 0
  }

  private var found: [Found] = []

  /// Most errors of one text.
  private static let limit = 32
  /// Most names that are listed with one error.
  private static let names = 100

  init(_ log: LogText) {
    // A number near two words that name its domain is one error.
    var places: Set<Int> = []
    for code in log.codes where places.insert(code.place).inserted { add(code) }
    for said in log.sentences { add(said) }
  }

  /// In the order in which they first appear.
  var entries: [ErrorReport.Entry] {
    found.sorted { $0.place < $1.place }.prefix(Self.limit).map { found in
      var entry = found.entry
      entry.count = max(1, found.codes, found.sentences)
      return entry
    }
  }

  private mutating func add(_ code: LogText.Code) {
    if let index = found.firstIndex(where: {
      $0.entry.domain == code.domain && $0.entry.code == code.code
    }) {
      found[index].codes += 1
      return
    }
    guard found.count < 4 * Self.limit else { return }
    let meaning = ErrorCatalogue.meaning(of: code.code, domain: code.domain)
    let entry = ErrorReport.Entry(
      domain: code.domain ?? meaning?.domain.rawValue, code: code.code, meaning: meaning)
    found.append(Found(entry: entry, place: code.place, codes: 1))
  }

  private mutating func add(_ said: LogText.Said) {
    let sentence = said.sentence
    if let own = sentence.own {
      if let index = found.firstIndex(where: { $0.entry.sentence?.own == own }) {
        found[index].sentences += 1
        for name in said.names
        where found[index].entry.names.count < Self.names
          && !found[index].entry.names.contains(name)
        {
          found[index].entry.names.append(name)
        }
        return
      }
      if let index = found.firstIndex(where: {
        $0.entry.sentence?.own == nil && Self.isCode(of: sentence, $0.entry)
      }) {
        found[index].entry.sentence = sentence
        found[index].entry.names = said.names
        found[index].sentences = 1
        return
      }
    } else if let index = found.firstIndex(where: { Self.isCode(of: sentence, $0.entry) }) {
      if found[index].codes == 0 { found[index].sentences += 1 }
      return
    }
    guard found.count < 4 * Self.limit else { return }
    let domain = sentence.domain?.rawValue
    let entry = ErrorReport.Entry(
      domain: domain, code: sentence.code,
      meaning: sentence.code.flatMap { ErrorCatalogue.meaning(of: $0, domain: domain) },
      sentence: sentence, names: said.names)
    found.append(Found(entry: entry, place: said.place, sentences: 1))
  }

  /// Whether an error's code is the sentence's; SQLite's codes appear in full or in part.
  private static func isCode(of sentence: ErrorSentence, _ entry: ErrorReport.Entry) -> Bool {
    guard let code = sentence.code, let other = entry.code,
      entry.domain == sentence.domain?.rawValue
    else { return false }
    return sentence.domain == .sqlite ? code & 0xFF == other & 0xFF : code == other
  }
}

import Files
import ManagedModel
import ManagedStore
import ModelSearch

/// What can be read out of an error that someone pasted: a log line, an NSError as it prints itself.
public struct ErrorReport: Sendable, Equatable {
  /// One error within the text.
  public struct Entry: Sendable, Equatable {
    /// As the text has it, or as the catalogue knows the code; `nil` where neither has one, or where
    /// there is no code.
    public var domain: String?
    /// The error's number; `nil` for a sentence that comes without one.
    public var code: Int?
    /// `nil` for a code that the catalogue does not have.
    public var meaning: ErrorMeaning?
    /// The words by which it was recognised, or that say more than its code.
    public var sentence: ErrorSentence?
    /// What the sentence names: entities, properties, tables or columns, as the text has them.
    public var names: [String] = []
    /// How often it appears in the text.
    public var count = 1

    /// What it means; `nil` for a code that the catalogue does not have.
    public var explanation: ErrorSentence.Explanation? { sentence?.own ?? meaning?.explanation }
  }

  /// The errors within the text, each once, in the order in which they first appear, 32 at most.
  public var entries: [Entry] = []
  /// What the text gives as reasons (`reason = …` and its like), each once.
  public var reasons: [String] = []
  /// The entity that the text names first; `nil` where it names none.
  public var entity: String?
  /// The property that the text names first; `nil` where it names none.
  public var property: String?
  /// NSStoreModelVersionHashes, where the text has them: enough to find the store's model by.
  public var hashes: [String: HashPattern] = [:]
  /// Whether the text may be longer than the part that is read: a caller that reads it from a file stops at
  /// the same bound.
  public var isCut = false

  /// Most bytes of a text that are read.
  public static let limit = 4 << 20

  /// Reads a code, a constant's name, or the whole text of one error or of several; never fails.
  public init(_ text: String) {
    isCut = text.utf8.count >= Self.limit
    let flat = isCut ? String(decoding: text.utf8.prefix(Self.limit), as: UTF8.self) : text
    let log = LogText(flat)
    entries = ErrorGathering(log).entries
    let words = log.words
    if entries.isEmpty, words.count <= 2, let code = words.last?.number {
      // A number alone, or behind a word that is no domain's name.
      let known = ErrorCatalogue.meaning(of: code)
      if words.count == 1 || known != nil {
        entries = [Entry(domain: known?.domain.rawValue, code: code, meaning: known)]
      }
    }
    guard words.count > 2 else { return }
    reasons = Self.values(
      after: ["reason", "NSLocalizedFailureReason", "NSUnderlyingException"], in: flat)
    entity = Self.values(after: ["entity", "NSValidationErrorEntity"], in: flat).first
    property =
      Self.values(
        after: ["property", "NSValidationErrorKey", "NSValidationKeyErrorKey", "attribute"],
        in: flat
      ).first
    hashes = HashPattern.read(fromLog: flat)
  }

  /// What follows `key=`, in quotes or up to the end of the entry.
  private static func values(after keys: [String], in text: String) -> [String] {
    var result: [String] = []
    let bytes = Array(text.utf8)
    for key in keys {
      let key = Array(key.utf8)
      var index = 0
      while result.count < 16, let place = ByteSearch.place(of: key, in: bytes, from: index) {
        index = place + 1
        guard place == 0 || !bytes[place - 1].isOfWord else { continue }
        index = place
        var at = skipSpaces(bytes, index + key.count)
        // `reason=…`, `reason = …`, and `reason : …` where each entry has a line of its own.
        let isLine = at > index + key.count && at < bytes.count && bytes[at] == UInt8(ascii: ":")
        guard at < bytes.count, bytes[at] == UInt8(ascii: "=") || isLine else {
          index += key.count
          continue
        }
        at = skipSpaces(bytes, at + 1)
        let (value, end) = value(bytes, at)
        if !value.isEmpty, !result.contains(value) { result.append(value) }
        index = max(end, index + 1)
      }
    }
    return result
  }

  private static func value(_ bytes: [UInt8], _ start: Int) -> (String, Int) {
    guard start < bytes.count else { return ("", start) }
    let isQuoted = bytes[start] == UInt8(ascii: "\"")
    let stops: [UInt8] =
      isQuoted
      ? [UInt8(ascii: "\"")] : [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "}"), 10]
    let from = isQuoted ? start + 1 : start
    var end = from
    while end < bytes.count, end - from < 1000, !stops.contains(bytes[end]) { end += 1 }
    return (String(decoding: bytes[from..<end], as: UTF8.self).trimmed, end)
  }

  private static func skipSpaces(_ bytes: [UInt8], _ start: Int) -> Int {
    var at = start
    while at < bytes.count, bytes[at] == 32 || bytes[at] == 9 || bytes[at] == 10 { at += 1 }
    return at
  }

}

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

/// What the tables and columns of an SQLite message are called in the model.
public struct TableWords: Sendable {
  private let schema: StoreSchema

  /// The words of a store's own model and numbers.
  public init(_ store: Store) { schema = store.schema }

  /// The words of a model; numbers in names are those of a fresh store.
  public init(_ model: Model) { schema = StoreSchema(model: model) }

  /// `User.id` for `ZUSER.ZID`, `User` for `ZUSER`; for a column alone all properties that have one
  /// of that name. Empty for what the model has no name for.
  public func names(for text: String) -> [String] {
    var parts = text.split(separator: ".", maxSplits: 2).map { $0.uppercased() }
    // The database's own name, or the name that a fetch gives to a table.
    if parts.count > 1, ["MAIN", "TEMP"].contains(parts[0]) || Self.isAlias(parts[0]) {
      parts.removeFirst()
    }
    if let first = parts.first, parts.count == 2 {
      return name(of: parts[1], in: first).map { [$0] } ?? []
    }
    guard let word = parts.first else { return [] }
    if let table = name(ofTable: word) { return [table] }
    return schema.tables.compactMap { name(of: word, in: $0.name) }
  }

  /// What a name that is no entity's is Core Data's own for, as a clause; `nil` for others.
  public static func bookkeeping(_ text: String) -> String? {
    let words = text.split(separator: ".").map { $0.uppercased() }
    let table = words.first { $0 != "MAIN" && $0 != "TEMP" } ?? ""
    if table.hasPrefix("ANSCK") { return "CloudKit mirroring's own bookkeeping" }
    if HistoryTable.allCases.contains(where: { $0.name == table }) {
      return "persistent history"
    }
    if ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"].contains(table) {
      return "Core Data's own bookkeeping"
    }
    return nil
  }

  /// Whether a word is one of the names that Core Data gives to the tables of a fetch: `t0`, `t1`.
  private static func isAlias(_ word: String) -> Bool {
    word.hasPrefix("T") && word.count > 1 && word.dropFirst().allSatisfy(\.isNumber)
  }

  private func name(ofTable table: String) -> String? {
    if let found = schema.table(named: table) { return found.root }
    return schema.joins.first { $0.name.uppercased() == table }
      .map { "\($0.entity).\($0.relationship)" }
  }

  private func name(of column: String, in table: String) -> String? {
    if let found = schema.table(named: table) {
      if column == "Z_PK" { return "the key of \(found.root)" }
      guard let property = found.columns.first(where: { $0.name == column })?.content.property
      else { return nil }
      return "\(property.entity).\(property.name)"
    }
    guard let join = schema.joins.first(where: { $0.name.uppercased() == table }) else {
      return nil
    }
    return "\(join.entity).\(join.relationship)"
  }
}

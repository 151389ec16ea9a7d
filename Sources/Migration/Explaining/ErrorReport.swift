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
  /// Whether the text may be longer than what is read of it: whoever read it from a file stops at the
  /// same bound.
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
        guard place == 0 || !isWord(bytes[place - 1]) else { continue }
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

  private static func isWord(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte >= 0x80
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}

import ManagedModel
import ManagedStore
import ModelSearch

/// What can be read out of an error that someone pasted: a log line, an NSError as it prints itself.
public struct ErrorReport: Sendable, Equatable {
  /// One error within the text: the outermost first, those beneath it after.
  public struct Entry: Sendable, Equatable {
    /// As the text has it, or as the catalogue knows the code; `nil` where neither tells.
    public var domain: String?
    /// The error's number.
    public var code: Int
    /// `nil` for a code that the catalogue does not have.
    public var meaning: ErrorMeaning?
  }

  /// The errors within the text, each once, 32 at most.
  public var entries: [Entry] = []
  /// What the text gives as reasons (`reason = …` and its like), each once.
  public var reasons: [String] = []
  /// The entity that the text names first; `nil` where it names none.
  public var entity: String?
  /// The property that the text names first; `nil` where it names none.
  public var property: String?
  /// NSStoreModelVersionHashes, where the text has them: enough to find the store's model by.
  public var hashes: [String: HashPattern] = [:]

  /// Reads a code, a constant's name, or the whole text of an error; never fails.
  public init(_ text: String) {
    // A pasted log is read up to a bound, in a line: NSError breaks its own lines as it likes.
    let flat = String(decoding: text.utf8.prefix(1 << 20), as: UTF8.self)
    let words = flat.split(whereSeparator: \.isWhitespace)
    if words.count <= 2, let code = words.last.flatMap({ Int($0) }) {
      append(words.count == 2 ? String(words[0]) : nil, code)
      return
    }
    if words.count == 1, let named = ErrorCatalogue.meaning(named: flat.trimmed) {
      entries.append(Entry(domain: named.domain.rawValue, code: named.code, meaning: named))
      return
    }
    readCodes(flat)
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

  private mutating func append(_ domain: String?, _ code: Int) {
    let known = ErrorCatalogue.meaning(of: code, domain: domain)
    let entry = Entry(domain: domain ?? known?.domain.rawValue, code: code, meaning: known)
    if !entries.contains(entry), entries.count < 32 { entries.append(entry) }
  }

  /// `Domain=X Code=N`; `(X error N.)`; `X Code: N`; `NSSQLiteErrorDomain = N`; "Cocoa error N".
  private mutating func readCodes(_ text: String) {
    let separators: Set<Character> = ["=", " ", ",", ";", ":", "(", ")", "{", "}", "\"", "'", "."]
    let words = text.split { separators.contains($0) || $0.isNewline }.map(String.init)
    var domain: String?
    var distance = 0
    for (index, word) in words.enumerated() {
      if word.hasSuffix("ErrorDomain") {
        domain = word
        distance = 0
        continue
      }
      if word == "Cocoa" || word == "SQLite" {
        let next = index + 1 < words.count ? words[index + 1].lowercased() : ""
        if next == "error" || next == "code" {
          domain = word == "Cocoa" ? "NSCocoaErrorDomain" : "NSSQLiteErrorDomain"
          distance = 0
          continue
        }
      }
      distance += 1
      if let current = domain, distance <= 3, let code = Int(word) {
        append(current, code)
        domain = nil
      } else if distance > 3 {
        domain = nil
      }
      if let named = ErrorCatalogue.meaning(named: word) {
        append(named.domain.rawValue, named.code)
      }
    }
  }

  /// What follows `key=`, in quotes or up to the end of the entry.
  private static func values(after keys: [String], in text: String) -> [String] {
    var result: [String] = []
    let bytes = Array(text.utf8)
    for key in keys {
      let key = Array(key.utf8)
      var index = 0
      while index + key.count < bytes.count, result.count < 16 {
        let isStart = index == 0 || !isWord(bytes[index - 1])
        guard isStart, bytes[index] == key[0], bytes[index..<(index + key.count)].elementsEqual(key)
        else {
          index += 1
          continue
        }
        var at = skipSpaces(bytes, index + key.count)
        guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else {
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

extension String {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}

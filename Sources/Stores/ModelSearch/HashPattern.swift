import Files
import ManagedModel

/// A version hash as far as it is known.
///
/// A store states it whole. A log of a newer system prints `{length = 32, bytes = 0x5431c046 8e0a…
/// ... 51d3b4a2 }`: the beginning and the end, which is enough to distinguish one hash from another.
public struct HashPattern: Sendable, Equatable {
  /// The bytes that the hash begins with.
  public let prefix: [UInt8]
  /// The bytes that it ends with; empty where the prefix is all that is known.
  public let suffix: [UInt8]

  /// The pattern of a hash that is known whole.
  public init(_ hash: VersionHash) {
    prefix = hash.bytes
    suffix = []
  }

  /// - Returns: `nil` where fewer than eight bytes are known, or more than 32.
  public init?(prefix: [UInt8], suffix: [UInt8] = []) {
    guard prefix.count + suffix.count >= 8, prefix.count + suffix.count <= 32 else { return nil }
    self.prefix = prefix
    self.suffix = suffix
  }

  /// Whether all 32 bytes are known.
  public var isWhole: Bool { prefix.count + suffix.count == 32 }

  /// Whether a hash has the bytes that are known.
  public func matches(_ hash: VersionHash) -> Bool {
    hash.bytes.starts(with: prefix) && hash.bytes.suffix(suffix.count).elementsEqual(suffix)
  }

  /// What a model's entities are, as far as a store's hashes show.
  ///
  /// Every entity of the model must be among them and the reverse, as Core Data has it.
  public static func compare(
    _ patterns: [String: HashPattern], with hashes: [String: VersionHash]
  ) -> (matching: [String], differing: [String]) {
    let names = Set(patterns.keys).union(hashes.keys).sorted()
    var matching: [String] = []
    var differing: [String] = []
    for name in names {
      if let pattern = patterns[name], let hash = hashes[name], pattern.matches(hash) {
        matching.append(name)
      } else {
        differing.append(name)
      }
    }
    return (matching, differing)
  }

  /// Reads `NSStoreModelVersionHashes = { Event = <5431c046 …>; … }` out of a pasted error.
  ///
  /// Where the text has several such dictionaries, the first counts: it is the store's.
  public static func read(fromLog text: String) -> [String: HashPattern] {
    let bytes = Array(text.utf8.prefix(1 << 20))
    let key = Array("NSStoreModelVersionHashes".utf8)
    var start = 0
    var at = 0
    // The digest and the number of the hashes' version begin with the same word.
    while start == 0, let found = ByteSearch.place(of: key, in: bytes, from: at) {
      at = found + key.count
      if at < bytes.count, !isName(bytes[at]) { start = at }
    }
    var scanner = LogScanner(bytes: bytes, at: start)
    return scanner.hashes(isInDictionary: start > 0)
  }

  static func isName(_ byte: UInt8) -> Bool {
    byte.isOfWord || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "$")
  }
}

/// Walks over `Name = <hex>;` entries as NSDictionary and NSData print themselves.
private struct LogScanner {
  let bytes: [UInt8]
  var at: Int

  /// - Parameter isInDictionary: stop where the dictionary's brace closes.
  mutating func hashes(isInDictionary: Bool) -> [String: HashPattern] {
    var result: [String: HashPattern] = [:]
    var isOpen = false
    while at < bytes.count, result.count < 10_000 {
      let byte = bytes[at]
      if byte == UInt8(ascii: "{") { isOpen = true }
      if byte == UInt8(ascii: "}"), isInDictionary, isOpen { break }
      guard HashPattern.isName(byte) || byte == UInt8(ascii: "\"") else {
        at += 1
        continue
      }
      let name = word()
      let mark = at
      skip([32, 9, 10, 13])
      guard at < bytes.count,
        bytes[at] == UInt8(ascii: "=") || bytes[at] == UInt8(ascii: ":")
      else {
        at = max(mark, at)
        continue
      }
      at += 1
      skip([32, 9, 10, 13])
      if let pattern = data(), result[name] == nil { result[name] = pattern }
    }
    return result
  }

  private mutating func word() -> String {
    let isQuoted = bytes[at] == UInt8(ascii: "\"")
    if isQuoted { at += 1 }
    let start = at
    while at < bytes.count, at - start < 500,
      isQuoted ? bytes[at] != UInt8(ascii: "\"") : HashPattern.isName(bytes[at])
    { at += 1 }
    let name = String(decoding: bytes[start..<at], as: UTF8.self)
    if isQuoted, at < bytes.count { at += 1 }
    return name
  }

  private mutating func skip(_ set: Set<UInt8>) {
    while at < bytes.count, set.contains(bytes[at]) { at += 1 }
  }

  /// `<5431c046 …>`, or `{length = 32, bytes = 0x5431c046 … ... 51d3b4a2 }`.
  private mutating func data() -> HashPattern? {
    guard at < bytes.count else { return nil }
    let close: UInt8
    switch bytes[at] {
    case UInt8(ascii: "<"): close = UInt8(ascii: ">")
    case UInt8(ascii: "{"):
      let head = String(decoding: bytes[at..<min(at + 16, bytes.count)], as: UTF8.self)
      guard head.hasPrefix("{length = 32") || head.hasPrefix("{length=32") else { return nil }
      close = UInt8(ascii: "}")
    default: return nil
    }
    let start = at
    while at < bytes.count, at - start < 200, bytes[at] != close { at += 1 }
    guard at < bytes.count, bytes[at] == close else { return nil }
    var text = String(decoding: bytes[(start + 1)..<at], as: UTF8.self)
    at += 1
    if close == UInt8(ascii: "}") {
      guard let mark = text.lastIndex(of: "=") else { return nil }
      text = String(text[text.index(after: mark)...])
    }
    let ellipsis = text.firstIndex { $0 == "." || $0 == "…" }
    let first = ellipsis.map { text[..<$0] } ?? text[...]
    let last = ellipsis.map { text[$0...].drop { $0 == "." || $0 == "…" } } ?? ""
    guard let prefix = Self.hex(first), let suffix = Self.hex(last) else { return nil }
    return HashPattern(prefix: prefix, suffix: suffix)
  }

  private static func hex(_ text: Substring) -> [UInt8]? {
    var digits = text.filter { !$0.isWhitespace }
    if digits.hasPrefix("0x") { digits.removeFirst(2) }
    return digits.isEmpty ? [] : ByteText.bytes(hex: digits)
  }
}

extension HashPattern {
  /// Hexadecimal digits, with an ellipsis for what is not known.
  public var text: String {
    ByteText.hex(prefix) + (isWhole ? "" : "…") + ByteText.hex(suffix)
  }
}

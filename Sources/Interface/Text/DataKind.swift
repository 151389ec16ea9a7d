/// What bytes are, told from how they begin.
package enum DataKind: String, Sendable {
  case jpeg = "JPEG"
  case png = "PNG"
  case gif = "GIF"
  case heic = "HEIC"
  case webP = "WebP"
  case pdf = "PDF"
  case zip = "ZIP"
  case gzip = "gzip"
  case sqlite = "SQLite"
  /// A binary property list, which a keyed archive is too.
  case propertyList = "bplist"
  case xml = "XML"
  case json = "JSON"
  case text = "UTF-8"
  case bytes = "bytes"

  package init(_ bytes: some Collection<UInt8>) {
    let head = Array(bytes.prefix(64))
    func starts(_ magic: [UInt8], at offset: Int = 0) -> Bool {
      head.dropFirst(offset).starts(with: magic)
    }
    func starts(_ magic: String, at offset: Int = 0) -> Bool {
      starts(Array(magic.utf8), at: offset)
    }
    if starts([0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if starts([0x89, 0x50, 0x4E, 0x47]) {
      self = .png
    } else if starts("GIF8") {
      self = .gif
    } else if starts("ftyphei", at: 4) || starts("ftypmif1", at: 4) {
      self = .heic
    } else if starts("RIFF"), starts("WEBP", at: 8) {
      self = .webP
    } else if starts("%PDF") {
      self = .pdf
    } else if starts([0x50, 0x4B, 3, 4]) {
      self = .zip
    } else if starts([0x1F, 0x8B]) {
      self = .gzip
    } else if starts("SQLite format 3\0") {
      self = .sqlite
    } else if starts("bplist0") {
      self = .propertyList
    } else if !head.isEmpty, Self.isText(head) {
      let first = head.first { ![9, 10, 13, 32].contains($0) }
      switch first {
      case UInt8(ascii: "{"), UInt8(ascii: "["): self = .json
      case UInt8(ascii: "<"): self = .xml
      default: self = .text
      }
    } else {
      self = .bytes
    }
  }

  var isText: Bool { self == .json || self == .text || self == .xml }

  /// Whether the bytes can be the beginning of readable UTF-8; a character cut in half at the end
  /// counts as one.
  private static func isText(_ head: [UInt8]) -> Bool {
    guard !head.contains(where: { $0 < 32 && ![9, 10, 13].contains($0) }) else { return false }
    let text = String(decoding: head, as: UTF8.self)
    let broken = text.unicodeScalars.reduce(0) { $0 + ($1 == "\u{FFFD}" ? 1 : 0) }
    return broken == 0 || (head.count == 64 && broken <= 3 && text.hasSuffix("\u{FFFD}"))
  }
}

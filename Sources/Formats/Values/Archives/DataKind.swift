/// What bytes are, determined by their content.
public enum DataKind: Sendable, Hashable {
  /// The image formats that are distinguished; the raw value is the name people know.
  public enum Image: String, Sendable {
    case png = "PNG", jpeg = "JPEG", gif = "GIF", heic = "HEIC", webp = "WebP", tiff = "TIFF"
  }

  /// No bytes at all.
  case empty
  /// An image; its size is `nil` where the format is not read for it or the header is cut off.
  case image(Image, size: PixelSize?)
  case pdf
  case gzip
  /// A property list that an NSKeyedArchiver wrote.
  case keyedArchive
  /// Any other property list, binary or XML.
  case propertyList
  /// UTF-8 text that begins and ends as JSON does; it is not parsed.
  case json
  /// Any other UTF-8 text without control characters.
  case text
  /// Anything else.
  case bytes

  /// An image's width and height, as its header states them.
  public struct PixelSize: Sendable, Hashable {
    /// Pixels across.
    public var width: Int
    /// Pixels down.
    public var height: Int
  }

  /// - Parameters:
  ///   - bytes: the content, or its beginning.
  ///   - isWhole: whether nothing was cut off: text and JSON are judged by what is there.
  public init(_ bytes: [UInt8], isWhole: Bool = true) {
    if bytes.isEmpty {
      self = .empty
    } else if let image = Self.image(bytes) {
      self = image
    } else if bytes.starts(with: Array("%PDF-".utf8)) {
      self = .pdf
    } else if bytes.starts(with: [0x1F, 0x8B, 8]) {
      self = .gzip
    } else if let list = Self.propertyList(bytes, isWhole: isWhole) {
      self = list
    } else if let text = Self.text(bytes, isWhole: isWhole) {
      self = text
    } else {
      self = .bytes
    }
  }

  private static func image(_ bytes: [UInt8]) -> DataKind? {
    func number(_ offset: Int, _ count: Int, littleEndian: Bool = false) -> Int? {
      guard offset >= 0, offset + count <= bytes.count else { return nil }
      let part = bytes[offset..<(offset + count)]
      return (littleEndian ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }
    func size(_ width: Int?, _ height: Int?) -> PixelSize? {
      guard let width, let height else { return nil }
      return PixelSize(width: width, height: height)
    }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      return .image(.png, size: size(number(16, 4), number(20, 4)))
    }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .image(.jpeg, size: jpegSize(bytes)) }
    if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) {
      return .image(
        .gif, size: size(number(6, 2, littleEndian: true), number(8, 2, littleEndian: true)))
    }
    if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
      return .image(.tiff, size: nil)
    }
    guard bytes.count >= 12 else { return nil }
    if bytes.starts(with: Array("RIFF".utf8)), bytes[8..<12].elementsEqual("WEBP".utf8) {
      return .image(.webp, size: nil)
    }
    let brand = String(decoding: bytes[8..<12], as: UTF8.self)
    if bytes[4..<8].elementsEqual("ftyp".utf8),
      ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"].contains(brand)
    {
      return .image(.heic, size: nil)
    }
    return nil
  }

  /// The frame header's size; the segments before it are skipped by their lengths.
  private static func jpegSize(_ bytes: [UInt8]) -> PixelSize? {
    var offset = 2
    while offset + 9 <= bytes.count, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
        return PixelSize(
          width: Int(bytes[offset + 7]) << 8 | Int(bytes[offset + 8]),
          height: Int(bytes[offset + 5]) << 8 | Int(bytes[offset + 6]))
      }
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      guard length >= 2 else { return nil }
      offset += 2 + length
    }
    return nil
  }

  private static func propertyList(_ bytes: [UInt8], isWhole: Bool) -> DataKind? {
    let isBinary = bytes.starts(with: Array("bplist00".utf8))
    let isXML =
      bytes.prefix(1) == [UInt8(ascii: "<")]
      && String(decoding: bytes.prefix(512), as: UTF8.self).contains("<plist")
    guard isBinary || isXML else { return nil }
    guard isWhole, let value = try? PropertyList.read(bytes) else {
      // An archive cut off names its archiver near its beginning, where it can be seen at all.
      let head = String(decoding: bytes.prefix(4096), as: UTF8.self)
      return head.contains("$archiver") || head.contains("$objects") ? .keyedArchive : .propertyList
    }
    return KeyedArchive.isKeyedArchive(value) ? .keyedArchive : .propertyList
  }

  private static func text(_ bytes: [UInt8], isWhole: Bool) -> DataKind? {
    // A cut may go through a character.
    let whole = isWhole ? bytes[...] : bytes.dropLast(min(4, bytes.count / 2))
    let isText = isWhole ? isUTF8(whole) : (0...3).contains { isUTF8(bytes.dropLast($0)) }
    guard isText,
      whole.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 || $0 == 10 || $0 == 13 })
    else { return nil }
    let inner = whole.filter { ![9, 10, 13, 32].contains($0) }
    switch (inner.first, inner.last) {
    case (UInt8(ascii: "{"), let last) where !isWhole || last == UInt8(ascii: "}"):
      // An object begins with a key, or is empty.
      let next = inner.dropFirst().first
      return next == UInt8(ascii: "\"") || next == UInt8(ascii: "}") ? .json : .text
    case (UInt8(ascii: "["), let last) where !isWhole || last == UInt8(ascii: "]"):
      let next = inner.dropFirst().first ?? 0
      return "{[\"]-0123456789tfn".utf8.contains(next) ? .json : .text
    default: return .text
    }
  }

  private static func isUTF8(_ bytes: some Collection<UInt8>) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }
}

extension DataKind: CustomStringConvertible {
  /// A word or two: `PNG 640×480`, `keyed archive`.
  public var description: String {
    switch self {
    case .empty: "empty"
    case .image(let image, let size):
      image.rawValue + (size.map { " \($0.width)×\($0.height)" } ?? "")
    case .pdf: "PDF"
    case .gzip: "gzip"
    case .keyedArchive: "keyed archive"
    case .propertyList: "property list"
    case .json: "JSON"
    case .text: "text"
    case .bytes: "bytes"
    }
  }
}

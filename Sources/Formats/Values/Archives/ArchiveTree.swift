import JSON

/// An archive unfolded for reading: a node for each value, with its key and what it is.
///
/// Depth and size are bounded, and a circle ends in a node that says so, so that any archive can be
/// shown.
package struct ArchiveTree: Sendable, Equatable {
  /// The key, the index, or nothing for the root.
  package var label: String
  /// A plain value as text, or the class of an object or collection with its count.
  package var text: String
  /// What an object or a collection holds; a plain value holds nothing.
  package var children: [ArchiveTree]

  /// A node with what it holds.
  package init(label: String, text: String, children: [ArchiveTree] = []) {
    self.label = label
    self.text = text
    self.children = children
  }

  /// The tree as lines, two spaces a level, without control characters.
  package func lines(depth: Int = 0) -> [String] {
    let indent = String(repeating: "  ", count: depth)
    let head = label.isEmpty ? text.printable : "\(label.printable): \(text.printable)"
    return [indent + head] + children.flatMap { $0.lines(depth: depth + 1) }
  }
}

extension KeyedArchive {
  /// What was archived, unfolded.
  ///
  /// - Parameters:
  ///   - maximumDepth: levels below the root; deeper ones are shown as `…`.
  ///   - maximumNodes: nodes in all; what does not fit is shown as `…`.
  package func tree(maximumDepth: Int = 12, maximumNodes: Int = 2_000) -> ArchiveTree {
    var unfolding = Unfolding(maximumDepth: min(maximumDepth, 64), nodes: max(maximumNodes, 1))
    return unfolding.node("", root, depth: 0)
  }
}

private struct Unfolding {
  let maximumDepth: Int
  var nodes: Int
  var path: [Int] = []

  mutating func node(_ label: String, _ reference: ArchivedReference, depth: Int) -> ArchiveTree {
    nodes -= 1
    let value = reference.value
    if let uid = reference.uid, path.contains(uid) {
      let name = value.object?.className ?? "collection"
      return ArchiveTree(label: label, text: "↻ \(name)")
    }
    var tree = ArchiveTree(label: label, text: "")
    var children: [(String, ArchivedReference)] = []
    switch value {
    case .null: tree.text = "nil"
    case .boolean(let value): tree.text = value ? "true" : "false"
    case .integer(let value): tree.text = String(value)
    case .real(let value): tree.text = String(value)
    case .decimal(let digits): tree.text = digits
    case .date(let seconds): tree.text = "date \(seconds)"
    case .data(let bytes):
      tree.text =
        "\(bytes.count) bytes" + (bytes.isEmpty ? "" : " \(ByteText.hex(bytes.prefix(16)))")
    case .string(let text): tree.text = JSONText.quoted(String(text.prefix(500)))
    case .uuid(let bytes): tree.text = UUIDText.text(bytes)
    case .url(let text): tree.text = String(text.prefix(500))
    case .array(let items):
      tree.text = "array of \(items.count)"
      children = items.prefix(nodes + 1).enumerated().map { (String($0.offset), $0.element) }
    case .set(let items):
      tree.text = "set of \(items.count)"
      children = items.prefix(nodes + 1).map { ("", $0) }
    case .dictionary(let pairs):
      tree.text = "dictionary of \(pairs.count)"
      children = pairs.prefix(nodes + 1).map { (key($0.key), $0.value) }
    case .object(let object):
      tree.text = object.className
      children = object.keys.prefix(nodes + 1).map { ($0, object.reference($0)) }
    }
    guard !children.isEmpty else { return tree }
    if let uid = reference.uid { path.append(uid) }
    defer { if reference.uid != nil { path.removeLast() } }
    for (label, child) in children {
      guard nodes > 0, depth < maximumDepth else {
        tree.children.append(ArchiveTree(label: "", text: "…"))
        break
      }
      tree.children.append(node(label, child, depth: depth + 1))
    }
    return tree
  }

  private func key(_ reference: ArchivedReference) -> String {
    switch reference.value {
    case .string(let text): text
    case .integer(let value): String(value)
    case .object(let object): object.className
    default: "key"
    }
  }
}

/// Bytes as a person can read them: what they are, and their content unfolded where that can be
/// done without any class of the app.
///
/// Any bytes at all end quickly: archives and property lists are bounded in depth and nodes, and
/// circles are named instead of followed.
public struct UnfoldedData: Sendable, Equatable {
  /// What the bytes are, determined by their content.
  public let kind: DataKind
  /// The content in lines, two spaces a level; empty where there is nothing to unfold.
  public let lines: [String]

  /// - Parameters:
  ///   - bytes: the content, or its beginning.
  ///   - isWhole: whether nothing was cut off; what is cut is named but not unfolded.
  public init(_ bytes: [UInt8], isWhole: Bool = true, maximumLines: Int = 200) {
    kind = DataKind(bytes, isWhole: isWhole)
    var lines: [String] = []
    switch kind {
    case .keyedArchive where isWhole:
      lines =
        (try? KeyedArchive(bytes).tree(maximumNodes: maximumLines + 1).lines()) ?? []
    case .propertyList where isWhole:
      lines =
        (try? PropertyList.read(bytes).tree(maximumNodes: maximumLines + 1).lines()) ?? []
    case .json where isWhole && bytes.count <= 16_384 && !bytes.contains(0x0A):
      lines = IndentedJSON.lines(bytes).map { String($0.prefix(2_000)) }
    case .json, .text:
      lines = String(decoding: bytes.prefix(16_384), as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).map { String($0.prefix(2_000)) }
    default: break
    }
    if lines.count > maximumLines { lines = lines.prefix(maximumLines) + ["…"] }
    self.lines = lines
  }
}

extension PropertyListValue {
  /// The value unfolded, bounded like ``KeyedArchive/tree(maximumDepth:maximumNodes:)``.
  package func tree(maximumDepth: Int = 12, maximumNodes: Int = 2_000) -> ArchiveTree {
    var nodes = max(1, maximumNodes)
    return tree("", depth: 0, min(maximumDepth, 64), &nodes)
  }

  private func tree(
    _ label: String, depth: Int, _ maximumDepth: Int, _ nodes: inout Int
  ) -> ArchiveTree {
    nodes -= 1
    var result = ArchiveTree(label: label, text: "")
    var children: [(String, PropertyListValue)] = []
    switch self {
    case .null: result.text = "nil"
    case .boolean(let value): result.text = value ? "true" : "false"
    case .integer(let value): result.text = String(value)
    case .real(let value): result.text = String(value)
    case .date(let seconds): result.text = CoreDataDate.text(seconds)
    case .data(let bytes):
      result.text =
        "\(bytes.count) bytes" + (bytes.isEmpty ? "" : " \(ByteText.hex(bytes.prefix(16)))")
    case .string(let text): result.text = "\"\(text.prefix(500))\""
    case .uid(let number): result.text = "reference \(number)"
    case .array(let items):
      result.text = "array of \(items.count)"
      children = items.prefix(nodes + 1).enumerated().map { (String($0.offset), $0.element) }
    case .dictionary(let fields):
      result.text = "dictionary of \(fields.count)"
      children = fields.sortedByBytes(\.key)
        .prefix(nodes + 1).map { ($0.key, $0.value) }
    }
    for (label, child) in children {
      guard nodes > 0, depth < maximumDepth else {
        result.children.append(ArchiveTree(label: "", text: "…"))
        break
      }
      result.children.append(child.tree(label, depth: depth + 1, maximumDepth, &nodes))
    }
    return result
  }
}

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

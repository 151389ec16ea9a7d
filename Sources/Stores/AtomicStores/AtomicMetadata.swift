import Files
import ManagedModel
import ModelWriting

/// An atomic store with other metadata: its objects stay byte for byte.
package enum AtomicMetadata {
  /// Writes a copy of a store whose metadata have a model's version hashes.
  ///
  /// - Parameters:
  ///   - path: the store.
  ///   - model: a model that fits its objects, which the caller has to know.
  ///   - output: where nothing may be.
  /// - Returns: how many objects the copy has, and whether other metadata could be read and stayed.
  /// - Throws: ``CoreDataError``: unreadable where the metadata have no place in the file; refused where they would not
  ///   stay as they are; or what writing ends in. Nothing is left then.
  @discardableResult
  package static func write(
    _ path: String, with model: Model, to output: String
  ) throws -> (
    objects: Int, keepsMetadata: Bool
  ) {
    let contents = try AtomicContents(path: path)
    let refusal = CoreDataError(
      .refused, "the metadata hold more than a property list can, and would not stay as they are",
      path: path, hint: "Convert it to an SQLite store, and repair that.")
    guard contents.isMetadataPlain else { throw refusal }
    var values = contents.metadata ?? [:]
    values["NSStoreModelVersionHashes"] = .dictionary(
      model.versionHashes.mapValues { .data($0.bytes) })
    values["NSStoreModelVersionHashesVersion"] = .integer(3)
    values["NSStoreModelVersionIdentifiers"] = .array(
      model.versionIdentifiers.map { .string($0) })
    let file = try OpenFile(path)
    let place = try PendingOutput(for: output)
    let name = FileSystem.name(of: output)
    let made = try place.folder.create(name)
    switch contents.form {
    case .xml: try writeXML(file, values, path) { try made.append($0) }
    case .binary:
      values["NSStoreType"] = .string("Binary")
      if let uuid = contents.uuid { values["NSStoreUUID"] = .string(uuid) }
      try writeBinary(file, values, path) { try made.append($0) }
    }
    try made.sync()
    let written = try AtomicContents(path: place.folder.path + "/" + name)
    guard written.isMetadataPlain, written.metadata == values, written.objects == contents.objects,
      written.losses == contents.losses.filter({ $0.kind != .metadata })
    else { throw refusal }
    try place.finish()
    return (written.objects, contents.metadata != nil)
  }

  /// Most bytes before the end of an XML store's metadata.
  private static let mostBytes = 1 << 26

  private static func writeXML(
    _ file: OpenFile, _ values: [String: PropertyListValue], _ path: String,
    _ append: ([UInt8]) throws -> Void
  ) throws {
    let head = try file.read(at: 0, count: min(file.size, mostBytes))
    let (opening, closing) = (Array("<metadata>".utf8), Array("</metadata>".utf8))
    let empty = Array("<metadata/>".utf8)
    let range: Range<Int>
    if let start = ByteSearch.place(of: opening, in: head, from: 0),
      let end = ByteSearch.place(of: closing, in: head, from: start)
    {
      range = start..<end + closing.count
    } else if let start = ByteSearch.place(of: empty, in: head, from: 0) {
      range = start..<start + empty.count
    } else {
      throw CoreDataError(.unreadable, "the file has no <metadata>", path: path)
    }
    try append(Array(head[..<range.lowerBound]))
    try append(
      Array("<metadata><plist version=\"1.0\">\(text(.dictionary(values)))</plist></metadata>".utf8)
    )
    try append(Array(head[range.upperBound...]))
    try copy(file, from: head.count, to: file.size, append)
  }

  private static func writeBinary(
    _ file: OpenFile, _ values: [String: PropertyListValue], _ path: String,
    _ append: ([UInt8]) throws -> Void
  ) throws {
    var head = try file.read(at: 0, count: BinaryStoreReader.headerSize)
    guard let map = BinaryStoreReader.range(head, at: 32, of: file.size) else {
      throw CoreDataError(.unreadable, "the objects are not in the file", path: path)
    }
    let archive = archived(values)
    func put(_ number: Int, at place: Int) {
      for index in 0..<8 {
        head[place + index] = UInt8(truncatingIfNeeded: number >> ((7 - index) * 8))
      }
    }
    put(BinaryStoreReader.headerSize + map.count, at: 16)
    put(archive.count, at: 24)
    put(BinaryStoreReader.headerSize, at: 32)
    put(map.count, at: 40)
    try append(head)
    try copy(file, from: map.lowerBound, to: map.upperBound, append)
    try append(archive)
  }

  private static func copy(
    _ file: OpenFile, from start: Int, to end: Int, _ append: ([UInt8]) throws -> Void
  ) throws {
    var position = start
    while position < end {
      let piece = try file.read(at: position, count: min(1 << 20, end - position))
      guard !piece.isEmpty else { return }
      try append(piece)
      position += piece.count
    }
  }

  /// The archive that a binary store has of its metadata.
  private static func archived(_ values: [String: PropertyListValue]) -> [UInt8] {
    var writer = KeyedArchiveWriter()
    func add(_ value: PropertyListValue, depth: Int) -> PropertyListValue {
      guard depth < PropertyList.maximumDepth else { return KeyedArchiveWriter.null }
      switch value {
      case .dictionary(let fields):
        return writer.dictionary(
          fields.sorted { $0.key < $1.key }.map {
            (writer.string($0.key), add($0.value, depth: depth + 1))
          })
      case .array(let elements): return writer.array(elements.map { add($0, depth: depth + 1) })
      case .date(let seconds):
        return writer.add(class: ["NSDate", "NSObject"], ["NS.time": .real(seconds)])
      default: return writer.add(value)
      }
    }
    let root = add(.dictionary(values), depth: 0)
    guard case .dictionary(var list) = writer.propertyList(root: root) else { return [] }
    list["$top"] = .dictionary(["metadata": root])
    return PropertyList.binary(.dictionary(list))
  }

  /// A property list in XML.
  private static func text(_ value: PropertyListValue) -> String {
    return switch value {
    case .null: "<string></string>"
    case .boolean(let flag): flag ? "<true/>" : "<false/>"
    case .integer(let number): "<integer>\(number)</integer>"
    case .uid(let number): "<integer>\(number)</integer>"
    case .real(let number): "<real>\(number)</real>"
    case .date(let seconds): "<date>\(CoreDataDate.text(seconds.rounded(.down)))</date>"
    case .data(let bytes): "<data>\(ByteText.base64(bytes))</data>"
    case .string(let text): "<string>\(text.escapedForXML)</string>"
    case .array(let elements): "<array>\(elements.map(text).joined())</array>"
    case .dictionary(let fields):
      "<dict>"
        + fields.sorted { $0.key < $1.key }.map {
          "<key>\($0.key.escapedForXML)</key>\(text($0.value))"
        }
        .joined() + "</dict>"
    }
  }
}

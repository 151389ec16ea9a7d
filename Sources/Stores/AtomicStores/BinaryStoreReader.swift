import Files
import ManagedModel

/// Reads a binary store: a header of 64 bytes, then an archive of the objects, then one of the metadata.
///
/// No class of the app's is needed: an object of one stays an archive (atomic-stores).
struct BinaryStoreReader {
  /// The store's identity; `nil` where the metadata cannot be read.
  private(set) var uuid: String?
  /// The last number that was given out.
  private(set) var lastKey: Int64 = 0
  /// The metadata; `nil` if none can be read.
  private(set) var metadata: [String: PropertyListValue]?
  /// Whether the metadata hold nothing but what a property list has.
  private(set) var isMetadataPlain = true
  /// Values of the metadata that may still be read, every 64 bytes of their content for one more: they may refer to one
  /// another again and again.
  private var metadataRoom = 0
  /// Why the metadata cannot be read.
  private(set) var metadataBreach: String?
  /// Why the objects cannot be read, or not all.
  private(set) var breach: String?
  /// Objects that could not be read.
  private(set) var lostObjects = 0
  /// Objects of which a part could be read.
  private(set) var partialObjects = 0

  /// Bytes before the map.
  static let headerSize = 64
  /// A file that is read whole: real ones stay below 100 MB.
  static let mostBytes = 1 << 31

  /// - Throws: ``CoreDataError`` of kind unreadable where it is no store of this kind, or the objects cannot be
  ///   read; and what `sink` throws.
  static func read(
    _ file: OpenFile, _ sink: (AtomicObject) throws -> Void
  ) throws -> BinaryStoreReader {
    var reader = BinaryStoreReader()
    guard file.size <= mostBytes else {
      throw CoreDataError(
        .unreadable, "the file is too large for a binary store: \(NumberText.bytes(file.size))")
    }
    let head = try file.read(at: 0, count: headerSize)
    guard head.count == headerSize, head.starts(with: AtomicStoreForm.binaryMagic) else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreInvalidType,
        head.count < headerSize
          ? "the binary store is cut off within its header"
          : "the header of the binary store is of an unknown version")
    }
    reader.lastKey = Int64(bitPattern: number(head, at: 48))
    guard let map = range(head, at: 32, of: file.size) else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "the binary store is cut off: its objects are not in the file")
    }
    if let place = range(head, at: 16, of: file.size), place.count == number(head, at: 24) {
      reader.takeMetadata(try file.read(at: place.lowerBound, count: place.count))
    } else {
      reader.metadataBreach = "they are cut off"
    }
    let bytes = try file.read(at: map.lowerBound, count: map.count)
    var archive: ArchivedObjects
    do {
      archive = try ArchivedObjects(bytes)
    } catch {
      guard let remains = ArchivedObjects(remainsOf: bytes) else { throw error }
      let isCut = map.count != number(head, at: 40)
      reader.breach =
        isCut ? "it is cut off within its objects" : "the archive of the objects: \(error.message)"
      archive = remains
      try reader.takeRemains(&archive, sink)
      return reader
    }
    try reader.takeObjects(&archive, sink)
    return reader
  }

  private mutating func takeMetadata(_ bytes: [UInt8]) {
    metadataRoom = 100_000 + bytes.count
    do {
      let archive = try KeyedArchive(bytes)
      guard case .dictionary = archive.root.value else {
        metadataBreach = "they are no dictionary"
        return
      }
      guard case .dictionary(let values) = list(archive.root.value, depth: 0), metadataRoom > 0
      else {
        metadataBreach = "they refer to their values too often"
        return
      }
      metadata = values
      uuid = values["NSStoreUUID"]?.string
    } catch { metadataBreach = error.message }
  }

  /// A value of the metadata as a property list; what is none is left out.
  private mutating func list(_ value: ArchivedValue, depth: Int) -> PropertyListValue? {
    metadataRoom -= 1
    switch value {
    case .data(let bytes): metadataRoom -= bytes.count / 64
    case .string(let text), .url(let text): metadataRoom -= text.utf8.count / 64
    case .array(let places), .set(let places): metadataRoom -= places.count
    case .dictionary(let pairs):
      metadataRoom -= pairs.count
      // A key that is no text, or one that is there twice.
      if Set(value.entries.map(\.key)).count < pairs.count { isMetadataPlain = false }
    default: break
    }
    guard depth < 16, metadataRoom > 0 else {
      isMetadataPlain = false
      return nil
    }
    switch value {
    case .null, .object, .decimal, .url, .uuid, .set: isMetadataPlain = false
    default: break
    }
    return switch value {
    case .null, .object: nil
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .decimal(let text), .string(let text), .url(let text): .string(text)
    case .date(let value): .date(value)
    case .data(let bytes): .data(bytes)
    case .uuid(let bytes): .string(UUIDText.text(bytes))
    case .array(let places), .set(let places):
      .array(places.compactMap { list(at: $0, depth: depth + 1) })
    case .dictionary:
      .dictionary(
        Dictionary(
          value.entries.compactMap { entry in
            list(at: entry.value, depth: depth + 1).map { (entry.key, $0) }
          }
        ) { first, _ in first })
    }
  }

  /// The same of what a place refers to, which is not looked at where there is no room for it.
  private mutating func list(at place: ArchivedReference, depth: Int) -> PropertyListValue? {
    guard metadataRoom > 0 else {
      isMetadataPlain = false
      return nil
    }
    return list(place.value, depth: depth)
  }

  private mutating func takeObjects(
    _ archive: inout ArchivedObjects, _ sink: (AtomicObject) throws -> Void
  ) throws {
    guard let reference = archive.top["mapData"] else {
      throw CoreDataError(.unreadable, "the archive of the binary store has no map of objects")
    }
    guard let nodes = try archive.references(of: "NS.objects", in: reference) else {
      throw CoreDataError(.unreadable, "the map of the binary store is no dictionary")
    }
    for node in nodes {
      let object: AtomicObject
      do { object = try Self.object(archive.value(of: node), &archive).object } catch {
        lostObjects += 1
        continue
      }
      try sink(object)
    }
  }

  /// Takes each node of which something is left, whatever refers to it.
  private mutating func takeRemains(
    _ archive: inout ArchivedObjects, _ sink: (AtomicObject) throws -> Void
  ) throws {
    var found = 0
    var places: [String: Int] = [:]
    for uid in 0..<archive.count {
      guard let node = try? archive.object(uid), node["NSEntityName"] != nil,
        let remains = try? Self.object(node, &archive, isLenient: true)
      else { continue }
      var object = remains.object
      if object.places > 0 {
        places[object.entity] = object.places
      } else {
        // Of one without its values the model is not doubted.
        object.places = places[object.entity] ?? 0
      }
      found += 1
      if !remains.isWhole { partialObjects += 1 }
      try sink(object)
    }
    guard found > 0 else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "the binary store is damaged: none of its objects is left")
    }
    // The map is what was archived first, and lists all nodes.
    if let nodes = try? archive.references(of: "NS.objects", in: .uid(1)) {
      lostObjects = max(0, nodes.count - found)
    }
  }

  /// - Parameter isLenient: whether values that are not to be had are left out.
  /// - Returns: the object, and whether nothing of it was left out.
  private static func object(
    _ node: PropertyListValue, _ archive: inout ArchivedObjects, isLenient: Bool = false
  ) throws(CoreDataError) -> (object: AtomicObject, isWhole: Bool) {
    var isWhole = true
    /// What a part is; `nil` where it is not to be had and may be left out.
    func part<Part>(
      _ body: () throws(CoreDataError) -> Part?
    ) throws(CoreDataError) -> Part? {
      do { return try body() } catch {
        guard isLenient else { throw error }
        isWhole = false
        return nil
      }
    }
    func field(_ name: String) throws(CoreDataError) -> PropertyListValue? {
      guard let value = node[name] else { return nil }
      return try archive.value(of: value)
    }
    let (number, other) = (try field("NSPrimaryKey64"), try field("NSKey"))
    guard let entity = try field("NSEntityName")?.string, let key = (number ?? other).flatMap(name)
    else { throw CoreDataError(.unreadable, "a node of the map has no entity, or no key") }
    var object = AtomicObject(reference: key, entity: entity)
    let values = try part { () throws(CoreDataError) in try field("NSAttributeValues") }
    if let values = values?["NS.objects"]?.array {
      object.places = values.count
      for (place, value) in values.enumerated() {
        object.attributes[Self.name(ofPlace: place)] = try part { () throws(CoreDataError) in
          try self.value(value, &archive)
        }
      }
    } else if let values = try part({ () throws(CoreDataError) in try field("NSAttributes") }) {
      // An older form, by name.
      for (name, value) in try pairs(values, &archive) {
        object.attributes[name] = try part { () throws(CoreDataError) in
          try self.value(value, &archive)
        }
      }
    }
    if let related = try part({ () throws(CoreDataError) in try field("NSRelatedNodes") }) {
      let names = try part { () throws(CoreDataError) in try pairs(related, &archive) }
      for (name, value) in names ?? [] {
        object.relationships[name] = try part { () throws(CoreDataError) in
          let keys = try archive.value(of: value)["NS.objects"]?.array ?? []
          var names: [String] = []
          for key in keys {
            // A reference that is no key is one to an object that is not there.
            names.append(self.name(try archive.value(of: key)) ?? "?")
          }
          return names
        }
      }
    }
    return (object, isWhole)
  }

  private static let placeNames = (0..<100).map { "#\($0)" }

  private static func name(ofPlace place: Int) -> String {
    placeNames.indices.contains(place) ? placeNames[place] : "#\(place)"
  }

  private static func name(_ key: PropertyListValue) -> String? {
    key.integer.map { "\($0)" } ?? key.string
  }

  private static func pairs(
    _ dictionary: PropertyListValue, _ archive: inout ArchivedObjects
  ) throws(CoreDataError) -> [(String, PropertyListValue)] {
    let keys = dictionary["NS.keys"]?.array ?? []
    let values = dictionary["NS.objects"]?.array ?? []
    var result: [(String, PropertyListValue)] = []
    for (key, value) in zip(keys, values) {
      guard let name = try archive.value(of: key).string else { continue }
      result.append((name, value))
    }
    return result
  }

  /// A value of an attribute; `nil` for null.
  private static func value(
    _ reference: PropertyListValue, _ archive: inout ArchivedObjects
  ) throws(CoreDataError) -> AtomicValue? {
    switch try archive.element(of: reference) {
    case .null, .uid: return nil
    case .boolean(let value): return .plain(.boolean(value))
    case .integer(let value): return .plain(.integer(value))
    case .real(let value): return .plain(.double(value))
    case .date(let value): return .plain(.date(value))
    case .data(let value): return .plain(.bytes(value))
    case .string(let value): return .plain(.string(value))
    case .array: throw CoreDataError(.unreadable, "a value of an attribute is no object")
    case .dictionary(let fields):
      guard case .uid(let uid) = reference,
        let name = try archive.className(of: .dictionary(fields))
      else { throw CoreDataError(.unreadable, "a value of an attribute has no class") }
      if let known = try archive.foundationValue(of: fields, className: name),
        let value = meaning(known)
      {
        return .known(value, className: name)
      }
      let alone = try archive.archive(of: uid)
      return .object(
        meaning(try KeyedArchive(propertyList: alone).root.value), className: name,
        archive: PropertyList.binary(alone))
    }
  }

  private static func meaning(_ value: ArchivedValue) -> AttributeValue? {
    switch value {
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .double(value)
    case .decimal(let digits): .decimal(digits)
    case .date(let seconds): .date(seconds)
    case .data(let bytes): .bytes(bytes)
    case .string(let text): .string(text)
    case .uuid(let bytes): .uuid(bytes)
    case .url(let text): .uri(text)
    case .null, .array, .set, .dictionary, .object: nil
    }
  }

  private static func number(_ head: [UInt8], at place: Int) -> UInt64 {
    head[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The bytes that two numbers of the header name, as far as they are in the file; `nil` where none is.
  static func range(_ head: [UInt8], at place: Int, of size: Int) -> Range<Int>? {
    guard let start = Int(exactly: number(head, at: place)),
      let count = Int(exactly: number(head, at: place + 8)), start >= headerSize, start < size
    else { return nil }
    return start..<start + min(count, size - start)
  }
}

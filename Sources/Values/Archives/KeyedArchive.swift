/// An archive that Apple's NSKeyedArchiver wrote: compiled models, model caches, mapping models,
/// transformable values.
///
/// It is a list of objects that refer to each other by number, in circles too, so nothing is
/// unfolded until asked for: an ``ArchivedValue`` holds its references as ``ArchivedReference``,
/// and following one is a step of the caller's. No class of Apple's is needed; each object keeps
/// the name of its class.
package struct KeyedArchive: Sendable {
  /// The entry of `$top` that archivers use when one object is archived.
  package static let rootKey = "root"

  /// What the archive holds, in its own order.
  package let objects: [PropertyListValue]
  let top: [String: PropertyListValue]

  /// Reads an archive from a property list, binary or XML.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable when the bytes are no property list, or one
  ///   that is no keyed archive.
  package init(_ bytes: [UInt8]) throws(CoreDataError) {
    try self.init(propertyList: PropertyList.read(bytes))
  }

  /// Takes a property list that was read already.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable when it is no keyed archive.
  package init(propertyList: PropertyListValue) throws(CoreDataError) {
    guard let objects = propertyList["$objects"]?.array, let top = propertyList["$top"]?.dictionary
    else {
      throw CoreDataError(.unreadable, "a property list, but not a keyed archive")
    }
    self.objects = objects
    self.top = top
  }

  /// Takes a property list that is an archive, or else is itself what would be archived.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for an archive that is damaged.
  package init(holding list: PropertyListValue) throws(CoreDataError) {
    let top = PropertyListValue.dictionary([Self.rootKey: list])
    let alone = PropertyListValue.dictionary(["$objects": .array([]), "$top": top])
    try self.init(propertyList: Self.isKeyedArchive(list) ? list : alone)
  }

  /// Whether a property list looks like a keyed archive.
  package static func isKeyedArchive(_ value: PropertyListValue) -> Bool {
    value["$objects"]?.array != nil && value["$top"]?.dictionary != nil
  }

  /// The archived object: what `$top` holds as root, or its only entry.
  package var root: ArchivedReference {
    let value = top[Self.rootKey] ?? (top.count == 1 ? top.values.first : nil)
    return ArchivedReference(archive: self, raw: value ?? .null)
  }

  /// The value of a raw property list value of this archive, one reference followed.
  ///
  /// A reference to nothing and `$null` are ``ArchivedValue/null``.
  func resolve(_ raw: PropertyListValue) -> ArchivedValue {
    guard case .uid(let uid) = raw else { return plain(raw, uid: nil) }
    guard objects.indices.contains(uid) else { return .null }
    if uid == 0, objects[0] == .string("$null") { return .null }
    return plain(objects[uid], uid: uid)
  }

  private func plain(_ value: PropertyListValue, uid: Int?) -> ArchivedValue {
    switch value {
    case .null, .uid: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .date(let value): .date(value)
    case .data(let value): .data(value)
    case .string(let value): .string(value)
    case .array(let values): .array(references(values))
    case .dictionary(let fields): object(fields, uid: uid)
    }
  }

  private func object(_ fields: [String: PropertyListValue], uid: Int?) -> ArchivedValue {
    guard case .uid(let type) = fields["$class"], objects.indices.contains(type),
      let name = objects[type]["$classname"]?.string
    else {
      let pairs = fields.sortedByBytes(\.key)
      return .dictionary(
        pairs.map {
          (
            key: ArchivedReference(archive: self, raw: .string($0.key)),
            value: ArchivedReference(archive: self, raw: $0.value)
          )
        })
    }
    let object = ArchivedObject(archive: self, uid: uid, className: name, fields: fields)
    return FoundationObject.value(of: object) ?? .object(object)
  }

  func references(_ values: [PropertyListValue]) -> [ArchivedReference] {
    values.map { ArchivedReference(archive: self, raw: $0) }
  }
}

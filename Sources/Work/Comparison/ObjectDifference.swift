import Files
import ManagedModel
import ManagedStore

/// The objects of one entity as a store has them.
package struct ObjectSide {
  /// What is read of a file that is compared as a whole: of a longer one its digest is.
  package static let pieceLimit = 1 << 20

  /// Where they are.
  package let table: EntityTable
  /// The predicate that objects must match; `nil` where it does not fit the store.
  let filter: RowFilter?
  private let store: Store
  private let cursor: ObjectCursor
  private let external: ExternalFolder
  private let isFiltered: Bool
  private let ignored: Set<String>
  private let label: Int?

  /// - Parameters:
  ///   - ignored: names of properties that are not reported.
  ///   - isFiltered: whether only objects that match the filter count.
  ///   - fileLimit: most bytes of an external data file to read.
  ///   - properties: names of those that are read; `nil` for all. Others count as empty.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  package init(
    _ store: Store, _ table: EntityTable, ignored: Set<String> = [], filter: RowFilter? = nil,
    isFiltered: Bool = false, fileLimit: Int = pieceLimit, properties: Set<String>? = nil
  ) throws {
    (self.store, self.table, self.ignored) = (store, table, ignored)
    (self.filter, self.isFiltered) = (filter, isFiltered)
    cursor = try ObjectCursor(
      store, entity: table.entity, properties: properties, fileLimit: fileLimit, isSeeking: true)
    external = ExternalFolder(store.files)
    let name = ObjectLabels().attribute(of: table, in: store.model)
    label = table.attributes.firstIndex { $0.attribute.name == name }
  }

  fileprivate func id(_ key: Int64) -> ObjectID { ObjectID(entity: table.entity, key: key) }

  /// The object of a key; `nil` where the entity has none.
  package func object(_ key: Int64) throws -> ObjectCursor.Object? { try cursor.object(key) }

  /// Whether an object is one of those that were asked for.
  package func counts(_ key: Int64) throws -> Bool {
    guard isFiltered else { return true }
    guard let filter else { return false }
    return try store.cursor(of: key, in: RowQuery(entity: table.entity, filter: filter)) != nil
  }

  fileprivate func label(_ object: ObjectCursor.Object) -> String {
    guard let label, label < object.attributes.count,
      case .value(let value) = object.attributes[label]
    else { return "" }
    return String((value.text ?? "").prefix(100))
  }

  /// A value, with the digest of a file that was not read to its end.
  fileprivate func value(_ value: PropertyValue) throws -> ObjectChange.Value {
    guard case .data(let data) = value, data.bytes.count < data.count,
      case .file(let name) = data.location, case .file(let file) = external.place(of: name)
    else { return ObjectChange.Value(value: value) }
    return ObjectChange.Value(value: value, sha256: try file.sha256())
  }

  /// An object that only one side has, with all that it holds.
  package func change(
    _ kind: ObjectChange.Kind, _ object: ObjectCursor.Object
  ) throws -> ObjectChange {
    let isInsert = kind == .insert
    var change = ObjectChange(
      kind: kind, a: isInsert ? nil : id(object.key), b: isInsert ? id(object.key) : nil,
      label: label(object), attributes: [], relationships: [])
    for (entry, value) in zip(table.attributes, object.attributes)
    where value != .value(.null) && !ignored.contains(entry.path.first ?? "") {
      let value = try self.value(value)
      change.attributes.append(
        .init(path: entry.path, old: isInsert ? nil : value, new: isInsert ? value : nil))
    }
    for (entry, related) in zip(table.relationships, object.relationships)
    where !ignored.contains(entry.relationship.name) {
      let ids = related.objects
      guard !ids.isEmpty else { continue }
      change.relationships.append(
        .init(
          name: entry.relationship.name, added: isInsert ? ids : [], removed: isInsert ? [] : ids))
    }
    return change
  }
}

/// What an object of one side is on the other.
protocol ObjectPairing {
  /// What an object of the first side is on the second.
  func counterpart(of id: ObjectID, _ related: ObjectDifference.Related) throws -> ObjectID?
  /// Whether it is known that the second side has no link to an object.
  func isRemoved(_ counterpart: ObjectID?, _ related: ObjectDifference.Related) throws -> Bool
  /// Whether it is known that the first side has no link to an object of the second.
  func isAdded(_ id: ObjectID, _ related: ObjectDifference.Related) throws -> Bool
}

/// Two states of one store, both read whole.
private struct SameObjects: ObjectPairing {
  func counterpart(of id: ObjectID, _ related: ObjectDifference.Related) -> ObjectID? { id }
  func isRemoved(_ counterpart: ObjectID?, _ related: ObjectDifference.Related) -> Bool { true }
  func isAdded(_ id: ObjectID, _ related: ObjectDifference.Related) -> Bool { true }
}

/// What of two objects that are one is compared.
package struct ObjectDifference {
  /// A relationship of both sides.
  struct Related {
    /// Its places among those of both tables.
    var a: Int
    var b: Int
    var isOrdered: Bool
    /// The tables of the objects that it references.
    var tables = (a: "", b: "")
    /// Whether links may be missing, and whether the objects' own rows are the links.
    var lacksLinks = (a: false, b: false)
    var isInRows = false
  }

  /// Places of properties among those of both tables.
  private let attributes: [(a: Int, b: Int)]
  private let relationships: [Related]

  /// The properties that an entity of two stores has in both.
  init(_ pair: EntityPair, _ stores: (a: Store, b: Store)) {
    attributes = pair.attributes.compactMap { one, other in
      guard let a = pair.a?.attributes.firstIndex(where: { $0.path == one.path }),
        let b = pair.b?.attributes.firstIndex(where: { $0.path == other.path })
      else { return nil }
      return (a, b)
    }
    relationships = pair.relationships.compactMap { one, other in
      guard
        let a = pair.a?.relationships.firstIndex(where: {
          $0.relationship.name == one.relationship.name
        }),
        let b = pair.b?.relationships.firstIndex(where: {
          $0.relationship.name == other.relationship.name
        })
      else { return nil }
      func lacksLinks(_ store: Store, _ storage: RelationshipStorage?) -> Bool {
        storage.map { $0.kind != .toOne && store.mayLackRows(of: $0.table) } ?? false
      }
      return Related(
        a: a, b: b, isOrdered: one.relationship.isOrdered && other.relationship.isOrdered,
        tables: (
          stores.a.table(of: one.relationship.destination)?.table ?? "",
          stores.b.table(of: other.relationship.destination)?.table ?? ""
        ), lacksLinks: (lacksLinks(stores.a, one.storage), lacksLinks(stores.b, other.storage)),
        isInRows: one.storage?.isInDestinationRow == true
          && other.storage?.isInDestinationRow == true)
    }
  }

  /// All properties of a table, for two states of it.
  package init(of table: EntityTable) {
    attributes = table.attributes.indices.map { ($0, $0) }
    relationships = table.relationships.enumerated().map { place, entry in
      Related(a: place, b: place, isOrdered: entry.relationship.isOrdered)
    }
  }

  /// What differs between two states of an object; `nil` where nothing does.
  ///
  /// - Parameter unreadable: raised for values of which it is unknown whether they differ.
  package func change(
    from old: ObjectCursor.Object, to new: ObjectCursor.Object, _ sideA: ObjectSide,
    _ sideB: ObjectSide, unreadable: inout Int
  ) throws -> ObjectChange? {
    try change(
      from: old, to: new, sideA, sideB, unreadable: &unreadable, pairing: SameObjects())
  }

  /// What differs between two objects that are one; `nil` where nothing is known to.
  func change(
    from old: ObjectCursor.Object, to new: ObjectCursor.Object, _ sideA: ObjectSide,
    _ sideB: ObjectSide, unreadable: inout Int, pairing: some ObjectPairing
  ) throws -> ObjectChange? {
    var change = ObjectChange(
      kind: .update, a: sideA.id(old.key), b: sideB.id(new.key), label: sideB.label(new),
      attributes: [], relationships: [])
    for (a, b) in attributes {
      guard a < old.attributes.count, b < new.attributes.count else { continue }
      let (former, value) = (old.attributes[a], new.attributes[b])
      guard former.isUnreadable || value.isUnreadable || former != value else { continue }
      let (one, other) = (try sideA.value(former), try sideB.value(value))
      switch one.isEqual(to: other) {
      case true?: continue
      case false?:
        change.attributes.append(
          .init(path: sideB.table.attributes[b].path, old: one, new: other))
      case nil: unreadable += 1
      }
    }
    for related in relationships {
      guard related.a < old.relationships.count, related.b < new.relationships.count else {
        continue
      }
      let found = try Self.difference(
        old.relationships[related.a].objects, new.relationships[related.b].objects,
        sideB.table.relationships[related.b].relationship.name, related, pairing)
      if let found { change.relationships.append(found) }
    }
    return change.attributes.isEmpty && change.relationships.isEmpty ? nil : change
  }

  private static func difference(
    _ formers: [ObjectID], _ ids: [ObjectID], _ name: String, _ related: Related,
    _ pairing: some ObjectPairing
  ) throws -> ObjectChange.RelationshipChange? {
    // What each of the first side is on the second.
    let counterparts = try formers.map { try pairing.counterpart(of: $0, related) }
    if counterparts == ids { return nil }
    let (before, after) = (Set(counterparts.compactMap { $0 }), Set(ids))
    let known = after.intersection(before)
    let removed = try zip(formers, counterparts).filter { _, counterpart in
      guard counterpart.map({ !after.contains($0) }) ?? true else { return false }
      return try pairing.isRemoved(counterpart, related)
    }.map(\.0)
    let added = try ids.filter { try !known.contains($0) && pairing.isAdded($0, related) }
    let isReordered =
      related.isOrdered
      && counterparts.compactMap { $0 }.filter(after.contains) != ids.filter(known.contains)
    guard !removed.isEmpty || !added.isEmpty || isReordered else { return nil }
    return .init(name: name, added: added, removed: removed, isReordered: isReordered)
  }
}

extension PropertyValue {
  /// Whether it is in a file that is there and cannot be read.
  fileprivate var isUnreadable: Bool {
    if case .data(let data) = self, case .unreadable = data.location { true } else { false }
  }
}

extension ObjectChange.Value {
  /// Whether two values are the same, wherever they are kept; `nil` where that is not known.
  fileprivate func isEqual(to other: ObjectChange.Value) -> Bool? {
    guard case .data(let one) = value, case .data(let two) = other.value else {
      return value.isUnreadable || other.value.isUnreadable ? nil : value == other.value
    }
    if value.isUnreadable || other.value.isUnreadable { return nil }
    // What is missing is another than what is there, and no other than what is missing.
    guard one.isReadable, two.isReadable else { return one.isReadable == two.isReadable }
    return one.count == two.count && one.bytes == two.bytes && sha256 == other.sha256
  }
}

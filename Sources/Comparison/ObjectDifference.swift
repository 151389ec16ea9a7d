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
  /// - Throws: ``CoreDataError`` when SQLite fails.
  package init(
    _ store: Store, _ table: EntityTable, ignored: Set<String> = [], filter: RowFilter? = nil,
    isFiltered: Bool = false, fileLimit: Int = pieceLimit
  ) throws {
    (self.store, self.table, self.ignored) = (store, table, ignored)
    (self.filter, self.isFiltered) = (filter, isFiltered)
    cursor = try ObjectCursor(seeking: store, entity: table.entity, fileLimit: fileLimit)
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

/// What of two objects that are one is compared.
package struct ObjectDifference {
  /// Places of properties among those of both tables.
  private let attributes: [(a: Int, b: Int)]
  private let relationships: [(a: Int, b: Int, isOrdered: Bool, table: String)]

  /// The properties that an entity of two stores has in both.
  init(_ pair: EntityPair, in a: Store) {
    attributes = pair.attributes.compactMap { one, other in
      guard let a = pair.a?.attributes.firstIndex(where: { $0.path == one.path }),
        let b = pair.b?.attributes.firstIndex(where: { $0.path == other.path })
      else { return nil }
      return (a, b)
    }
    relationships = pair.relationships.compactMap { one, other in
      guard
        let first = pair.a?.relationships.firstIndex(where: {
          $0.relationship.name == one.relationship.name
        }),
        let second = pair.b?.relationships.firstIndex(where: {
          $0.relationship.name == other.relationship.name
        })
      else { return nil }
      let table = a.table(of: one.relationship.destination)?.table ?? ""
      let isOrdered = one.relationship.isOrdered && other.relationship.isOrdered
      return (first, second, isOrdered, table)
    }
  }

  /// All properties of a table, for two states of it.
  package init(of table: EntityTable) {
    attributes = table.attributes.indices.map { ($0, $0) }
    relationships = table.relationships.enumerated().map { place, entry in
      (place, place, entry.relationship.isOrdered, "")
    }
  }

  /// What differs between two objects that are one; `nil` where nothing does.
  ///
  /// - Parameters:
  ///   - unreadable: raised for values of which it is unknown whether they differ.
  ///   - counterpart: what an object of the first side, in a table of its store, is on the second.
  package func change(
    from old: ObjectCursor.Object, to new: ObjectCursor.Object, _ sideA: ObjectSide,
    _ sideB: ObjectSide, unreadable: inout Int,
    counterpart: (_ id: ObjectID, _ table: String) throws -> ObjectID? = { id, _ in id }
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
    for entry in relationships {
      guard entry.a < old.relationships.count, entry.b < new.relationships.count else { continue }
      // What each of the first store is in the second.
      let formers = try old.relationships[entry.a].objects.map { id in
        (id: id, now: try counterpart(id, entry.table))
      }
      let found = Self.difference(
        formers, new.relationships[entry.b].objects,
        sideB.table.relationships[entry.b].relationship.name, isOrdered: entry.isOrdered)
      if let found { change.relationships.append(found) }
    }
    return change.attributes.isEmpty && change.relationships.isEmpty ? nil : change
  }

  private static func difference(
    _ formers: [(id: ObjectID, now: ObjectID?)], _ ids: [ObjectID], _ name: String,
    isOrdered: Bool
  ) -> ObjectChange.RelationshipChange? {
    let counterparts = formers.map(\.now)
    if counterparts == ids { return nil }
    let (before, after) = (Set(counterparts.compactMap { $0 }), Set(ids))
    let known = after.intersection(before)
    let removed = formers.filter { former in
      former.now.map { !after.contains($0) } ?? true
    }.map(\.id)
    let added = ids.filter { !known.contains($0) }
    let isReordered =
      isOrdered
      && counterparts.compactMap { $0 }.filter(after.contains) != ids.filter(known.contains)
    guard !removed.isEmpty || !added.isEmpty || isReordered else { return nil }
    return .init(name: name, added: added, removed: removed, isReordered: isReordered)
  }
}

extension ObjectCursor.RelatedObjects {
  /// All of them.
  fileprivate var objects: [ObjectID] {
    switch self {
    case .toOne(let id): id.map { [$0] } ?? []
    case .toMany(let ids): ids
    }
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

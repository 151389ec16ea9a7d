import Files
import ManagedModel
import ManagedStore
import SQLite

/// Reads the objects of one entity that may differ, and reports which do.
final class EntityComparison {
  /// What is read of a file that is compared as a whole: of a longer one its digest is.
  private static let pieceLimit = 1 << 20

  /// Values that could not be read, so that it is unknown whether they differ.
  private(set) var unreadableValues = 0
  /// Whether links of the object that is compared could not be read.
  private var isUnknown = false

  private let pair: EntityPair
  private let connection: Connection
  private let tables: PairedTables
  private let alignment: ModelAlignment
  private let sideA: Side?
  private let sideB: Side?
  private let attributes: [(a: Int, b: Int)]
  private let relationships: [RelatedPair]
  /// Whether rows of either store's table may be missing.
  private let lacksRows: (a: Bool, b: Bool)

  /// A relationship of both stores.
  private struct RelatedPair {
    let a: Int
    let b: Int
    let isOrdered: Bool
    /// The tables of the objects that it references.
    let tables: (a: String, b: String)
    /// Whether links may be missing, and whether the objects' own rows are the links.
    let lacksLinks: (a: Bool, b: Bool)
    let isInRows: Bool
  }

  init(
    _ pair: EntityPair, stores: (a: Store, b: Store), _ tables: PairedTables,
    _ alignment: ModelAlignment, predicate: String?
  ) throws {
    (self.pair, self.tables, self.alignment) = (pair, tables, alignment)
    connection = tables.connection
    var refusal: CoreDataError?
    func side(_ store: Store, _ table: EntityTable?, _ ignored: Set<String>) throws -> Side? {
      guard let table else { return nil }
      var filter: RowFilter?
      if let predicate {
        // A property that one version has not is no mistake.
        do { filter = try RowFilter(predicate, entity: table.entity, store: store) } catch {
          refusal = error
        }
      }
      return try Side(store, table, ignored, filter: filter, isFiltered: predicate != nil)
    }
    sideA = try side(stores.a, pair.a, pair.ignored.a)
    sideB = try side(stores.b, pair.b, pair.ignored.b)
    if let refusal, sideA?.filter == nil, sideB?.filter == nil { throw refusal }
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
      return RelatedPair(
        a: a, b: b, isOrdered: one.relationship.isOrdered && other.relationship.isOrdered,
        tables: (
          stores.a.table(of: one.relationship.destination)?.table ?? "",
          stores.b.table(of: other.relationship.destination)?.table ?? ""
        ), lacksLinks: (lacksLinks(stores.a, one.storage), lacksLinks(stores.b, other.storage)),
        isInRows: one.storage?.isInDestinationRow == true
          && other.storage?.isInDestinationRow == true)
    }
    lacksRows = (
      pair.a.map { stores.a.mayLackRows(of: $0.table) } ?? false,
      pair.b.map { stores.b.mayLackRows(of: $0.table) } ?? false
    )
  }

  /// Reports changes up to a limit, and counts them all.
  func run(
    limit: Int, isCancelled: () -> Bool, _ report: (ObjectChange) throws -> Void
  ) throws -> ComparisonSummary.EntityCount {
    var count = ComparisonSummary.EntityCount(entity: pair.entity)
    func checkCancelled() throws {
      guard isCancelled() else { return }
      throw CoreDataError(.cancelled, code: .migrationCancelled, "cancelled")
    }
    let changed = try connection.prepare(
      "SELECT a, b FROM temp.compare_changed WHERE place = \(pair.place) AND differs ORDER BY a")
    while try changed.step() {
      try checkCancelled()
      let key = changed.integer(at: 0)
      guard !changed.isNull(at: 1) else {
        guard let sideA, try sideA.counts(key) else { continue }
        guard !lacksRows.b else {
          count.unknown += 1
          continue
        }
        count.deleted += 1
        if count.count <= limit, let object = try sideA.cursor.object(key) {
          try report(self.change(.delete, object, sideA))
        }
        continue
      }
      guard let sideA, let sideB, let old = try sideA.cursor.object(key),
        let new = try sideB.cursor.object(changed.integer(at: 1))
      else { continue }
      isUnknown = false
      let change = try change(from: old, to: new, sideA, sideB)
      guard change != nil || isUnknown, try sideA.counts(old.key) || sideB.counts(new.key)
      else { continue }
      guard let change else {
        count.unknown += 1
        continue
      }
      count.updated += 1
      if count.count <= limit { try report(change) }
    }
    let inserted = try connection.prepare(
      "SELECT b FROM temp.compare_inserted WHERE place = \(pair.place) ORDER BY b")
    while let sideB, try inserted.step() {
      try checkCancelled()
      let key = inserted.integer(at: 0)
      guard try sideB.counts(key) else { continue }
      guard !lacksRows.a else {
        count.unknown += 1
        continue
      }
      count.inserted += 1
      if count.count <= limit, let object = try sideB.cursor.object(key) {
        try report(change(.insert, object, sideB))
      }
    }
    return count
  }

  /// The entity in one of the stores.
  private struct Side {
    let store: Store
    let table: EntityTable
    let cursor: ObjectCursor
    let external: ExternalFolder
    let filter: RowFilter?
    let isFiltered: Bool
    let ignored: Set<String>
    private let label: Int?

    init(
      _ store: Store, _ table: EntityTable, _ ignored: Set<String>, filter: RowFilter?,
      isFiltered: Bool
    ) throws {
      (self.store, self.table, self.ignored) = (store, table, ignored)
      (self.filter, self.isFiltered) = (filter, isFiltered)
      cursor = try ObjectCursor(
        seeking: store, entity: table.entity, fileLimit: EntityComparison.pieceLimit)
      external = ExternalFolder(store.files)
      let name = ObjectLabels().attribute(of: table, in: store.model)
      label = table.attributes.firstIndex { $0.attribute.name == name }
    }

    func id(_ key: Int64) -> ObjectID { ObjectID(entity: table.entity, key: key) }

    /// Whether an object is one of those that were asked for.
    func counts(_ key: Int64) throws -> Bool {
      guard isFiltered else { return true }
      guard let filter else { return false }
      return try store.cursor(of: key, in: RowQuery(entity: table.entity, filter: filter)) != nil
    }

    func label(_ object: ObjectCursor.Object) -> String {
      guard let label, label < object.attributes.count,
        case .value(let value) = object.attributes[label]
      else { return "" }
      return String((value.text ?? "").prefix(100))
    }

    /// A value, with the digest of a file that was not read to its end.
    func value(_ value: PropertyValue) throws -> ObjectChange.Value {
      guard case .data(let data) = value, data.bytes.count < data.count,
        case .file(let name) = data.location, case .file(let file) = external.place(of: name)
      else { return ObjectChange.Value(value: value) }
      return ObjectChange.Value(value: value, sha256: try file.sha256())
    }
  }

  /// An object that only one store has, with all that it holds.
  private func change(
    _ kind: ObjectChange.Kind, _ object: ObjectCursor.Object, _ side: Side
  ) throws -> ObjectChange {
    let isInsert = kind == .insert
    var change = ObjectChange(
      kind: kind, a: isInsert ? nil : side.id(object.key), b: isInsert ? side.id(object.key) : nil,
      label: side.label(object), attributes: [], relationships: [])
    for (entry, value) in zip(side.table.attributes, object.attributes)
    where value != .value(.null) && !side.ignored.contains(entry.path.first ?? "") {
      let value = try side.value(value)
      change.attributes.append(
        .init(
          path: entry.path, old: isInsert ? nil : value, new: isInsert ? value : nil))
    }
    for (entry, related) in zip(side.table.relationships, object.relationships)
    where !side.ignored.contains(entry.relationship.name) {
      let ids = related.objects
      guard !ids.isEmpty else { continue }
      change.relationships.append(
        .init(
          name: entry.relationship.name, added: isInsert ? ids : [], removed: isInsert ? [] : ids))
    }
    return change
  }

  /// What differs between two objects that are one; `nil` where nothing does.
  private func change(
    from old: ObjectCursor.Object, to new: ObjectCursor.Object, _ sideA: Side, _ sideB: Side
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
      case nil: unreadableValues += 1
      }
    }
    for entry in relationships {
      guard entry.a < old.relationships.count, entry.b < new.relationships.count else { continue }
      let (formers, ids) = (
        old.relationships[entry.a].objects, new.relationships[entry.b].objects
      )
      if let found = try difference(
        formers, ids, sideB.table.relationships[entry.b].relationship.name, entry)
      {
        change.relationships.append(found)
      }
    }
    return change.attributes.isEmpty && change.relationships.isEmpty ? nil : change
  }

  private func difference(
    _ formers: [ObjectID], _ ids: [ObjectID], _ name: String, _ entry: RelatedPair
  ) throws -> ObjectChange.RelationshipChange? {
    // What each of the first store is in the second.
    let counterparts = try formers.map { id in
      try tables.counterpart(of: id.key, in: entry.tables.a).map {
        ObjectID(entity: alignment.entities[id.entity] ?? id.entity, key: $0)
      }
    }
    if counterparts == ids { return nil }
    let (before, after) = (Set(counterparts.compactMap { $0 }), Set(ids))
    let known = after.intersection(before)
    let removed = try zip(formers, counterparts).filter { _, counterpart in
      guard counterpart.map({ !after.contains($0) }) ?? true else { return false }
      return try !entry.lacksLinks.b
        || isRead(counterpart?.key, "main", entry.tables.b, isInRows: entry.isInRows)
    }.map(\.0)
    let added = try ids.filter { id in
      guard !known.contains(id) else { return false }
      return try !entry.lacksLinks.a
        || isRead(
          tables.former(of: id.key, in: entry.tables.b), "src", entry.tables.a,
          isInRows: entry.isInRows)
    }
    let isReordered =
      entry.isOrdered
      && counterparts.compactMap { $0 }.filter(after.contains) != ids.filter(known.contains)
    guard !removed.isEmpty || !added.isEmpty || isReordered else { return nil }
    return .init(name: name, added: added, removed: removed, isReordered: isReordered)
  }

  /// Whether a link to an object is known to be missing in a store some of whose links could not be read: its row is
  /// there, and says so.
  private func isRead(
    _ key: Int64?, _ schema: String, _ table: String, isInRows: Bool
  ) throws -> Bool {
    if isInRows, let key {
      let statement = try connection.cached(
        "SELECT 1 FROM \(schema).\(quoted(table)) WHERE Z_PK = ?")
      try statement.bind([.integer(key)])
      defer { statement.reset() }
      if try statement.step() { return true }
    }
    isUnknown = true
    return false
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

import ManagedModel
import SQLite
import StoreTables

extension Store {
  /// Bytes of a Binary or Transformable attribute that a row page keeps: enough to name its kind.
  static let pageSummary = 64
  /// Bytes that a single object keeps: enough to unfold an ordinary archive.
  static let objectSummary = 1 << 20

  /// The columns that rows of an entity have: attributes, then relationships.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity.
  public func columns(of entity: String) throws -> [RowColumn] {
    try layout.columns(of: entity)
  }

  func knownTable(of entity: String) throws(CoreDataError) -> EntityTable {
    try layout.knownTable(of: entity)
  }

  /// Reads one page of an entity's objects, those of subentities included.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or property, or when SQLite fails.
  public func rows(_ query: RowQuery) throws -> RowPage {
    let table = try knownTable(of: query.entity)
    let all = try columns(of: query.entity)
    let shown: [RowColumn]
    if let names = query.properties {
      shown = try named(names, in: query.entity, all)
    } else {
      shown = all
    }
    guard database.contains(table.table) else {
      return RowPage(entity: query.entity, columns: shown, rows: [])
    }
    let source = try queryRows(query, table)
    return try reading {
      let selection = try Selection(
        store: self, table: table, columns: shown, summary: Self.pageSummary,
        longestText: query.longestText)
      let keyset = Keyset(
        source, descending: query.sort.isDescending, anchor: query.anchor, limit: query.limit)
      let direction = keyset.isDescending ? "DESC" : "ASC"
      let sql = """
        SELECT t.Z_PK, t.Z_ENT, \(RowCursor.SortValue.columns(of: "k.k"))\(selection.sql)
        FROM (\(keyset.sql.sql)) k CROSS JOIN \(quoted(table.table)) t ON t.Z_PK = k.Z_PK
        ORDER BY k.k \(direction), t.Z_PK \(direction)
        """
      let statement = try connection.cached(sql)
      try statement.bind(keyset.sql.values)
      // What a filter looked for must not stay behind in the statement.
      defer { statement.reset() }
      var rows: [RowPage.Row] = []
      while try statement.step() {
        let key = statement.integer(at: 0)
        let entity = entityNames[statement.integer(at: 1)] ?? query.entity
        rows.append(
          RowPage.Row(
            id: ObjectID(entity: entity, key: key),
            values: try selection.values(of: statement, from: 4),
            cursor: RowCursor(
              key: key, sortValue: source.sort == nil ? .none : .init(statement, at: 2))))
      }
      if source.sort == nil { try requireOrder(of: rows, keyset, query, table.table) }
      if keyset.isBackward { rows.reverse() }
      return RowPage(entity: query.entity, columns: shown, rows: rows)
    }
  }

  /// Refuses rows in the order of their keys where these do not rise, or stand before the row that the page
  /// begins behind: the tree leads in a circle, or to another's pages.
  private func requireOrder(
    of rows: [RowPage.Row], _ keyset: Keyset, _ query: RowQuery, _ table: String
  ) throws {
    guard !isInspected, mended == nil else { return }
    var last: Int64? =
      switch query.anchor {
      case .after(let cursor), .before(let cursor): cursor.key
      default: nil
      }
    for row in rows {
      if let last, keyset.isDescending ? row.id.key >= last : row.id.key <= last {
        throw SQLiteError.disorder(of: table)
      }
      last = row.id.key
    }
  }

  /// The columns of those names, in their order; a name may be a key path, such as `author.name`.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or name.
  package func columns(_ names: [String], of entity: String) throws -> [RowColumn] {
    try named(names, in: entity, columns(of: entity))
  }

  /// The columns of those names, a composite attribute's in its place.
  private func named(
    _ names: [String], in entity: String, _ all: [RowColumn]
  ) throws -> [RowColumn] {
    var shown: [RowColumn] = []
    for name in names {
      let found =
        all.first { $0.name == name }.map { [$0] }
        ?? all.filter { $0.name.hasPrefix(AttributeStorage.path(name, "")) && $0.path.count > 1 }
      guard found.isEmpty else {
        shown += found
        continue
      }
      shown.append(try layout.column(ofKeyPath: name, of: entity))
    }
    for index in shown.indices where shown[index].path.count > 1 {
      func isBeside(_ column: RowColumn) -> Bool { column.path.first == shown[index].path.first }
      shown[index].isPart = all.contains { other in
        isBeside(other) && !shown.contains { $0.name == other.name }
      }
    }
    return shown
  }

  func unknownProperty(
    _ name: String, in entity: String, _ known: [RowColumn]
  )
    -> CoreDataError
  { layout.unknownProperty(name, in: entity, known) }

  /// One object with all its properties; `nil` if no object has that entity and key.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity, or when SQLite fails.
  public func object(_ id: ObjectID, related: Int = 50) throws -> StoredObject? {
    let table = try knownTable(of: id.entity)
    guard database.contains(table.table) else { return nil }
    return try reading {
      let found = try connection.rows(
        "SELECT Z_ENT FROM \(quoted(table.table)) WHERE Z_PK = ?", [.integer(id.key)])
      // Rows of a table that is an entity's alone are its own, whatever number they have.
      guard let number = found.first?.first?.integer,
        table.isWholeTable || table.numbers.contains(number)
      else { return nil }
      let own = ObjectID(entity: entityNames[number] ?? id.entity, key: id.key)
      let table = self.table(of: own.entity) ?? table
      let columns = try columns(of: own.entity)
      let selection = try Selection(
        store: self, table: table, columns: columns, summary: Self.objectSummary)
      let statement = try connection.prepare(
        "SELECT t.Z_PK\(selection.sql) FROM \(quoted(table.table)) t WHERE t.Z_PK = ?")
      try statement.bind([.integer(id.key)])
      guard try statement.step() else { return nil }
      var values = try selection.values(of: statement, from: 1)
      for (index, column) in columns.enumerated() {
        guard column.isToMany, index < values.count, case .toMany(let many) = values[index],
          let entry = table.relationship(named: column.name)
        else { continue }
        values[index] = .toMany(
          ToMany(
            count: many.count,
            first: try self.related(to: id.key, entry, limit: related)))
      }
      return StoredObject(id: own, columns: columns, values: values)
    }
  }
}

extension StoreLayout {
  /// The columns that rows of an entity have: attributes, then relationships.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity.
  package func columns(of entity: String) throws(CoreDataError) -> [RowColumn] {
    let table = try knownTable(of: entity)
    return table.attributes.map {
      RowColumn(name: $0.attribute.name, kind: .attribute($0.attribute.type), path: $0.path)
    }
      + table.relationships.filter { $0.storage != nil }.map {
        RowColumn(
          name: $0.relationship.name,
          kind: $0.relationship.isToMany
            ? .toMany(destination: $0.relationship.destination)
            : .toOne(destination: $0.relationship.destination))
      }
  }

  /// The column that a key path such as `author.name` names.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for an unknown entity, or a path that leads nowhere.
  package func column(ofKeyPath path: String, of entity: String) throws(CoreDataError) -> RowColumn
  {
    try KeyPathColumn(path, of: knownTable(of: entity), in: self).column
  }

  func unknownProperty(
    _ name: String, in entity: String, _ known: [RowColumn]
  ) -> CoreDataError {
    if let wrong = model.unknownElement(name, of: entity) {
      return CoreDataError(
        .usage, wrong.message, path: path, entity: entity, property: name, hint: wrong.hint)
    }
    return CoreDataError(
      unknown: "property", name, of: entity, known: known.map(\.name), path: path)
  }
}

extension RowColumn {
  /// Whether the column shows a to-many relationship.
  public var isToMany: Bool {
    if case .toMany = kind { true } else { false }
  }
}

/// One object of a store with every property it has.
public struct StoredObject: Sendable, Equatable, NamedValues {
  /// The object's own entity and its key.
  public var id: ObjectID
  /// Its properties: attributes, then relationships.
  public var columns: [RowColumn]
  /// One a column.
  public var values: [PropertyValue]
}

/// A relationship of some entity through which objects reference one object.
public struct ReferringRelationship: Sendable, Equatable {
  /// The entity that declares the relationship.
  public var entity: String
  /// The relationship that holds the object.
  public var relationship: Relationship
  /// Objects that point.
  public var count: Int
  /// The first of them, by key.
  public var first: [ObjectID]
}

extension Store {
  /// Everything that references an object: relationships of all entities, with and without inverse.
  ///
  /// - Parameter limit: objects to name for each relationship.
  /// - Throws: ``CoreDataError`` for an unknown entity, or when SQLite fails.
  public func references(to id: ObjectID, limit: Int = 50) throws -> [ReferringRelationship] {
    var found: [ReferringRelationship] = []
    for entity in model.entities {
      guard let table = layout.table(of: entity.name) else { continue }
      for relationship in entity.relationships
      where model.isKind(id.entity, of: relationship.destination) {
        guard let storage = table.storage(of: relationship.name) else { continue }
        // Another entity of the owner's table can use a to-one's column for something else.
        let pairs = storage.pairs(of: table.isWholeTable ? nil : table.numbers)
        let number = entityExpression(key: "e.owner", entityColumn: nil, destination: table.entity)
        let source = "SELECT e.owner, \(number) FROM (\(pairs)) e WHERE e.destination = ?"
        let values: [Value] = [.integer(id.key)]
        let (count, first) = try reading {
          let count = try connection.value("SELECT count(*) FROM (\(source))", values)
          let rows = try connection.rows("\(source) ORDER BY 1 LIMIT \(max(0, limit))", values)
          return (Int(count?.integer ?? 0), rows)
        }
        guard count > 0 else { continue }
        found.append(
          ReferringRelationship(
            entity: entity.name, relationship: relationship, count: count,
            first: first.compactMap { self.id($0, else: entity.name) }))
      }
    }
    return found
  }
}

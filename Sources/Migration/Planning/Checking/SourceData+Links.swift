import ManagedModel
import ManagedStore
import SQLite

/// Conditions on links; each is SQL over a row `t`, and `nil` where it cannot be.
extension SourceData {
  /// True for rows whose to-one leads to no object of its entity.
  func leadsNowhere(_ relationship: String, of entity: String) -> String? {
    guard let table = store.table(of: entity), let column = table.toOneColumn(of: relationship),
      let destination = store.model.relationship(named: relationship, of: entity)?.destination
    else { return nil }
    let key = "t.\(quoted(column))"
    guard let object = object(key, of: destination) else { return nil }
    let condition = "\(key) IS NOT NULL AND NOT \(object)"
    if allLead(from: column, of: table.table, to: destination) {
      counts.know(entity, condition, 0)
    }
    return condition
  }

  /// True for rows of a one-to-one whose partner does not lead back.
  func isOneSided(_ relationship: String, of entity: String) -> String? {
    guard let own = store.model.relationship(named: relationship, of: entity),
      let inverse = own.inverse,
      // The columns of both sides are there.
      store.table(of: entity)?.toOneColumn(of: relationship) != nil,
      store.table(of: own.destination)?.toOneColumn(of: inverse) != nil
    else { return nil }
    return store.schema.disagreement(own, of: entity)
  }

  /// True for rows that have objects without a position in an ordered relationship.
  func hasNoPosition(_ relationship: String, of entity: String) -> String? {
    guard let storage = store.table(of: entity)?.storage(of: relationship),
      let position = storage.position
    else { return nil }
    // Few are: the table is looked through once, not for each object.
    let condition = """
      t.Z_PK IN (SELECT o.\(quoted(storage.owner)) FROM \(quoted(storage.table)) o
      WHERE o.\(quoted(position)) IS NULL)
      """
    if store.facts?.nulls(in: position, ofTable: storage.table) == 0 {
      counts.know(entity, condition, 0)
    }
    return condition
  }

  /// How many objects a relationship of a row leads to.
  func count(of relationship: String, from entity: String) -> String? {
    store.table(of: entity)?.storage(of: relationship)?.count(of: "t.Z_PK").sql
  }

  /// Rows of a join table with a key that no object has, and the objects at their other ends.
  func brokenRows(of join: StoreSchema.JoinTable) throws -> FoundRows? {
    guard store.database.contains(join.name),
      let one = object("t.\(quoted(join.first))", of: join.entity),
      let two = object("t.\(quoted(join.second))", of: join.inverseEntity)
    else { return nil }
    if allLead(from: join.first, of: join.name, to: join.entity),
      allLead(from: join.second, of: join.name, to: join.inverseEntity)
    {
      return nil
    }
    return try store.reading {
      try FoundRows(
        "FROM \(quoted(join.name)) t WHERE NOT \(one) OR NOT \(two)",
        columns: "t.\(quoted(join.first)), t.\(quoted(join.second)), \(one)", on: store.connection
      ) { row in
        let isFirst = row[2].integer == 1
        return row[isFirst ? 0 : 1].integer.map {
          ObjectID(entity: isFirst ? join.entity : join.inverseEntity, key: $0)
        }
      }
    }
  }

  /// Rows that are in a to-many without an inverse, of an owner that does not exist.
  func rowsWithoutOwner(
    in table: StoreSchema.Table, _ column: StoreSchema.Column, owner: String
  ) throws -> FoundRows? {
    let key = "t.\(quoted(column.name))"
    guard store.database.columns(of: table.name).contains(column.name),
      let isThere = object(key, of: owner)
    else { return nil }
    if allLead(from: column.name, of: table.name, to: owner) { return nil }
    return try store.reading {
      try FoundRows(
        "FROM \(quoted(table.name)) t WHERE \(key) IS NOT NULL AND NOT \(isThere)",
        columns: "t.Z_PK, t.Z_ENT", on: store.connection
      ) { row in
        guard let key = row[0].integer,
          let entity = row[1].integer.flatMap({ store.entityNames[$0] })
        else { return nil }
        return ObjectID(entity: entity, key: key)
      }
    }
  }

  /// Whether it is known that each key in a column is that of an object of its kind.
  private func allLead(from column: String, of table: String, to entity: String) -> Bool {
    guard let facts = store.facts, let other = store.table(of: entity) else { return false }
    return facts.allLead(from: column, ofTable: table, to: other) == true
  }

  /// True where an object of that kind has the key.
  private func object(_ key: String, of entity: String) -> String? {
    guard let table = store.table(of: entity), store.database.contains(table.table) else {
      return nil
    }
    let kind = table.kindRows("d").map { " AND " + $0 } ?? ""
    return "EXISTS (SELECT 1 FROM \(quoted(table.table)) d WHERE d.Z_PK = \(key)\(kind))"
  }
}

extension SourceData {
  /// Rows whose values are in files that cannot be had.
  struct UnavailableFiles {
    var rows = 0
    /// The first of these objects, and the names of their files.
    var first: [ObjectID] = []
    var files: [String] = []
    /// Why the first file cannot be read; `nil` where the files are not there.
    var reason: String?

    fileprivate mutating func add(_ object: ObjectID, _ file: String, _ reason: String?) {
      if rows == 0 { self.reason = reason }
      rows += 1
      guard first.count < 5 else { return }
      first.append(object)
      files.append(file)
    }
  }

  /// Rows of exactly one entity whose value is in a file that is not there, or that cannot be read.
  func rowsWithoutFile(
    _ attribute: String, of entity: String
  ) throws -> (missing: UnavailableFiles, unreadable: UnavailableFiles)? {
    guard !counts.isGathering, let column = column(of: attribute, in: entity) else { return nil }
    var conditions = [MarkedBytes.isFile(column)]
    if let table = store.table(of: entity), let name = table.column(of: attribute),
      let keys = store.facts?.rowsInFiles(name, of: table)
    {
      guard !keys.isEmpty else { return nil }
      conditions.append("t.Z_PK IN (\(keys.list))")
    }
    guard let rows = rows(of: entity, where: conditions) else { return nil }
    return try store.reading {
      let statement = try store.connection.prepare(
        "SELECT t.Z_PK, \(MarkedBytes.reference(column)) \(rows) ORDER BY t.Z_PK")
      var (missing, unreadable) = (UnavailableFiles(), UnavailableFiles())
      let external = ExternalFolder(store.files)
      while try statement.step() {
        guard case .file(let name) = MarkedBytes(statement.bytes(at: 1)) else { continue }
        let object = ObjectID(entity: entity, key: statement.integer(at: 0))
        switch external.place(of: name) {
        case .file: continue
        case .missing: missing.add(object, name, nil)
        case .unreadable(let error): unreadable.add(object, name, error.message)
        }
      }
      return (missing, unreadable)
    }
  }
}

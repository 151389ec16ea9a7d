import ManagedModel
import ManagedStore
import SQLite

/// Objects that are equal in what must differ: one of each group stays, and takes over the links of
/// the others, as Apple's own code for mirrored stores does it.
struct UniquenessMending {
  let work: RepairWork
  let kept: RepairOptions.Kept
  private var source: Store { work.source }
  private var connection: Connection { work.connection }

  init?(_ work: RepairWork) {
    guard work.kinds.contains(.uniqueness), let kept = work.options.kept else { return nil }
    (self.work, self.kept) = (work, kept)
  }

  func run() throws {
    for entity in source.model.entities {
      for constraint in entity.uniquenessConstraints {
        let columns = constraint.compactMap { source.schema.column(of: $0, in: entity.name) }
        guard columns.count == constraint.count, !columns.isEmpty,
          let table = source.table(of: entity.name),
          Set(columns).isSubset(of: source.database.columns(of: table.table))
        else { continue }
        try merge(table, columns.map { quoted($0) })
      }
    }
    try mergeUnderIndexes()
  }

  /// An index that is not in the model can say so.
  private func mergeUnderIndexes() throws {
    for (index, name) in source.database.indexes.sorted(by: { $0.key < $1.key }) {
      guard let sql = source.database.sql[index]?.uppercased(), sql.hasPrefix("CREATE UNIQUE "),
        !sql.contains(" WHERE "),
        let table = source.entityTables.first(where: { $0.table == name && $0.isWholeTable })
      else { continue }
      let columns = try source.connection.rows("PRAGMA index_info(\(quoted(index)))").map {
        $0.count == 3 ? $0[2].text : nil
      }
      // One over an expression has no name there.
      guard !columns.isEmpty, columns.allSatisfy({ $0 != nil && $0 != "Z_PK" }) else { continue }
      try merge(table, columns.compactMap { $0 }.map { quoted($0) })
    }
  }

  /// Rows `log.places`: `old` is an object that goes, `new` the one that stays for it.
  private func merge(_ table: EntityTable, _ columns: [String]) throws {
    let name = "main." + quoted(table.table)
    let keys = columns.joined(separator: ", ")
    try connection.execute(
      """
      DELETE FROM log.places;
      INSERT INTO log.places (old, new) SELECT Z_PK, kept FROM (
        SELECT Z_PK, first_value(Z_PK) OVER (
          PARTITION BY \(keys) ORDER BY Z_PK \(kept == .newest ? "DESC" : "ASC")) AS kept
        FROM \(name) NOT INDEXED WHERE Z_ENT IN (\(table.numbers.list))
        AND \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
      ) WHERE Z_PK <> kept;
      CREATE INDEX IF NOT EXISTS log.places_old ON places (old);
      """)
    guard try connection.value("SELECT 1 FROM log.places LIMIT 1") != nil else { return }
    try noteObjects(table)
    for other in source.entityTables where source.database.contains(other.table) {
      for entry in other.relationships { try lead(entry, of: other, to: table) }
    }
    for join in source.schema.joins where source.database.contains(join.name) {
      try lead(join, to: table)
    }
    try connection.execute("DELETE FROM \(name) WHERE Z_PK IN (SELECT old FROM log.places)")
  }

  /// What the objects held that go.
  private func noteObjects(_ table: EntityTable) throws {
    let rows = "FROM main.\(quoted(table.table)) t JOIN log.places p ON p.old = t.Z_PK"
    try work.note(
      .uniqueness, entity: work.entity(of: "t", else: table.entity), key: "t.Z_PK",
      property: "NULL", old: "'object'", rows)
    for own in source.entityTables where own.table == table.table {
      for entry in own.attributes {
        let column = "t." + quoted(entry.column)
        try work.note(
          .uniqueness, entity: own.entity.literal, key: "t.Z_PK",
          property: entry.attribute.name.literal,
          old: """
            CASE typeof(\(column)) WHEN 'blob' THEN length(\(column)) || ' bytes'
            ELSE substr(CAST(\(column) AS TEXT), 1, 2000) END
            """, "\(rows) WHERE t.Z_ENT = \(own.entityID) AND \(column) IS NOT NULL")
      }
      for entry in own.relationships {
        guard let name = entry.storage?.toOneColumn else { continue }
        let column = "t." + quoted(name)
        try work.note(
          .uniqueness, entity: own.entity.literal, key: "t.Z_PK",
          property: entry.relationship.name.literal,
          old: "\(entry.relationship.destination.literal) || '/p' || \(column)",
          "\(rows) WHERE t.Z_ENT = \(own.entityID) AND \(column) IS NOT NULL")
      }
    }
  }

  /// Objects that referenced one that goes reference the one that stays.
  private func lead(
    _ entry: EntityTable.RelationshipColumns, of table: EntityTable, to other: EntityTable
  ) throws {
    guard let storage = entry.storage else { return }
    let relationship = entry.relationship
    switch storage.kind {
    case .toOne:
      guard source.table(of: relationship.destination)?.table == other.table else { return }
      let inverse = relationship.inverse.flatMap {
        source.model.relationship(named: $0, of: relationship.destination)
      }
      // Of a one-to-one, the object that stays has its own partner, or gets none unasked.
      let isSingle = inverse.map { !$0.isToMany } ?? false
      try turn(
        relationship.name, column: storage.destination, entityColumn: storage.entityColumn,
        position: storage.inversePosition,
        fitting: isSingle ? nil : source.table(of: relationship.destination),
        rows: "main.\(quoted(table.table))", of: table.entity, to: relationship.destination,
        in: other, where: "t.Z_ENT = \(table.entityID)")
    case .withoutInverse:
      guard table.table == other.table else { return }
      let owner = source.model.declaringEntity(of: relationship.name, in: table.entity)
      try turn(
        "\(table.entity).\(relationship.name)", column: storage.owner, entityColumn: nil,
        position: storage.position, fitting: source.table(of: owner ?? table.entity),
        rows: "main.\(quoted(storage.table))", of: relationship.destination, to: table.entity,
        in: other, where: "1")
    case .inverseOfToOne, .join, .reflexive: return
    }
  }

  /// - Parameters:
  ///   - fitting: what the relationship can reference; the objects that are equal can be of several entities of
  ///     their table, and a link is emptied where the one that stays is not of these. `nil` for a link that
  ///     is emptied in any case.
  ///   - merged: the table of the objects that are equal.
  private func turn(
    _ property: String, column: String, entityColumn: String?, position: String?,
    fitting: EntityTable?, rows: String, of entity: String, to destination: String,
    in merged: EntityTable, where condition: String
  ) throws {
    let key = "t." + quoted(column)
    let those = "\(condition) AND \(key) IN (SELECT old FROM log.places)"
    /// Something of the object that stays.
    func kept(_ value: String) -> String {
      """
      (SELECT \(value) FROM log.places p JOIN main.\(quoted(merged.table)) o ON o.Z_PK = p.new
      WHERE p.old = \(key))
      """
    }
    let fits = fitting.map { "\(kept("o.Z_ENT")) IN (\($0.numbers.list))" } ?? "0"
    func ifFitting(_ value: String) -> String { "CASE WHEN \(fits) THEN \(value) END" }
    try work.note(
      .uniqueness, entity: work.entity(of: "t", else: entity), key: "t.Z_PK",
      property: property.literal, old: "\(destination.literal) || '/p' || \(key)",
      new: ifFitting(kept("\(work.entity(of: "o", else: destination)) || '/p' || o.Z_PK")),
      "FROM \(rows) t WHERE \(those)")
    var assignments = ["\(quoted(column)) = \(ifFitting(kept("o.Z_PK")))"]
    if let entityColumn {
      assignments.append("\(quoted(entityColumn)) = \(ifFitting(kept("o.Z_ENT")))")
    }
    if let position {
      assignments.append("\(quoted(position)) = \(ifFitting("t." + quoted(position)))")
    }
    try connection.execute(
      "UPDATE \(rows) AS t SET \(assignments.joined(separator: ", ")) WHERE \(those)")
  }

  /// The same for the rows of a join table, of which two may come to be one.
  private func lead(_ join: StoreSchema.JoinTable, to table: EntityTable) throws {
    let sides = [
      (join.first, join.entity, join.relationship), (join.second, join.inverseEntity, join.inverse),
    ]
    let name = "main." + quoted(join.name)
    for (column, entity, relationship) in sides
    where source.table(of: entity)?.table == table.table {
      let own = quoted(column)
      let other =
        column == join.first ? (join.second, join.inverseEntity) : (join.first, join.entity)
      // The one that stays can be of an entity that has no such relationship.
      let holders = source.table(of: entity)?.numbers.list ?? "NULL"
      let fits = "o.Z_ENT IN (\(holders))"
      let stays = "main.\(quoted(table.table)) o ON o.Z_PK = p.new"
      let link = "\(other.1.literal) || '/p' || t.\(quoted(other.0))"
      try work.note(
        .uniqueness,
        entity:
          "CASE WHEN \(fits) THEN \(work.entity(of: "o", else: entity)) ELSE \(entity.literal) END",
        key: "CASE WHEN \(fits) THEN p.new ELSE p.old END", property: relationship.literal,
        old: "\(entity.literal) || '/p' || p.old || ' – ' || \(link)",
        new: "CASE WHEN \(fits) THEN \(link) END",
        "FROM \(name) t JOIN log.places p ON p.old = t.\(own) JOIN \(stays)")
      try connection.execute(
        """
        UPDATE OR IGNORE \(name) AS t SET \(own) =
          (SELECT p.new FROM log.places p WHERE p.old = t.\(own))
        WHERE t.\(own) IN (SELECT p.old FROM log.places p JOIN \(stays) WHERE \(fits));
        DELETE FROM \(name) WHERE \(own) IN (SELECT old FROM log.places);
        """)
    }
  }
}

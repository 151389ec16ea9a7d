import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Follows what statements, and the store's own triggers, write into a copy of a store, and makes the list of it by
/// comparing the rows that were touched with those of the original, which is attached as `src`.
///
/// So the list holds what differs in the end, whatever wrote it: both sides of a relationship, positions, and objects
/// that lost a partner.
struct RowTrace {
  let store: Store
  let connection: Connection
  private let tables: [String]
  private let joins: [StoreSchema.JoinTable]

  private var schema: StoreSchema { store.schema }

  /// Begins to follow.
  init(_ store: Store, on connection: Connection) throws {
    (self.store, self.connection) = (store, connection)
    tables = store.schema.tables.map(\.name).filter { store.database.contains($0) }
    joins = store.schema.joins.filter { store.database.contains($0.name) }
    try connection.execute(
      """
      CREATE TEMP TABLE strata_touched (place INTEGER, key INTEGER, other INTEGER,
        PRIMARY KEY (place, key, other)) WITHOUT ROWID
      """)
    for (place, table) in tables.enumerated() {
      for event in ["UPDATE", "DELETE"] {
        try watch(table, event, ["(\(place), OLD.Z_PK, 0)"])
      }
    }
    for (index, join) in joins.enumerated() {
      func pair(_ row: String) -> String {
        "(\(tables.count + index), \(row).\(quoted(join.first)), \(row).\(quoted(join.second)))"
      }
      try watch(join.name, "INSERT", [pair("NEW")])
      try watch(join.name, "DELETE", [pair("OLD")])
      try watch(join.name, "UPDATE", [pair("OLD"), pair("NEW")])
    }
  }

  private func name(_ table: String, _ event: String) -> String {
    quoted("strata_\(event)_\(table)")
  }

  private func watch(_ table: String, _ event: String, _ rows: [String]) throws {
    try connection.execute(
      """
      CREATE TEMP TRIGGER \(name(table, event)) AFTER \(event) ON main.\(quoted(table))
      BEGIN INSERT OR IGNORE INTO strata_touched VALUES \(rows.joined(separator: ", ")); END
      """)
  }

  /// Ends following.
  func stop() throws {
    for table in tables {
      for event in ["UPDATE", "DELETE"] {
        try connection.execute("DROP TRIGGER temp.\(name(table, event))")
      }
    }
    for join in joins {
      for event in ["INSERT", "DELETE", "UPDATE"] {
        try connection.execute("DROP TRIGGER temp.\(name(join.name, event))")
      }
    }
  }

  /// Writes what differs into the list, which is attached as `edit`.
  func tell() throws {
    for (place, table) in tables.enumerated() {
      try connection.execute(
        """
        INSERT INTO edit.deleted SELECT s.Z_ENT, s.Z_PK FROM temp.strata_touched e
        CROSS JOIN src.\(quoted(table)) s ON s.Z_PK = e.key
        LEFT JOIN main.\(quoted(table)) t ON t.Z_PK = e.key
        WHERE e.place = \(place) AND t.Z_PK IS NULL
        """)
      let numbers = try connection.rows(
        """
        SELECT DISTINCT s.Z_ENT FROM temp.strata_touched e
        CROSS JOIN src.\(quoted(table)) s ON s.Z_PK = e.key WHERE e.place = \(place)
        """
      ).compactMap { $0.first?.integer }
      for number in numbers { try tellRows(of: number, in: table, place) }
    }
    for entity in schema.model.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        guard schema.model.declaringEntity(of: relationship.name, in: entity.name) == entity.name,
          let storage = schema.storage(of: relationship.name, in: entity.name)
        else { continue }
        if storage.kind == .withoutInverse {
          try tellOwners(of: relationship, in: entity.name, storage)
        } else if storage.isJoin {
          try tellPairs(of: relationship, in: entity.name, storage)
        }
      }
    }
  }

  /// Rows of one entity, before and after.
  private func rows(
    of number: Int64, in table: String, _ place: Int, orGone: Bool = false
  ) -> String {
    """
    FROM temp.strata_touched e CROSS JOIN src.\(quoted(table)) s ON s.Z_PK = e.key
    \(orGone ? "LEFT JOIN" : "CROSS JOIN") main.\(quoted(table)) t ON t.Z_PK = e.key
    WHERE e.place = \(place) AND s.Z_ENT = \(number)
    """
  }

  private func add(
    _ subject: String, _ name: String, object: String = "t.Z_ENT, t.Z_PK", _ rows: String
  ) throws {
    try connection.execute(
      """
      INSERT OR IGNORE INTO edit.changes SELECT \(object), \(Value.text(subject + name).literal),
      \(Value.text(name).literal) \(rows)
      """)
  }

  private func tellRows(of number: Int64, in table: String, _ place: Int) throws {
    guard let entity = store.entityNames[number], let own = store.table(of: entity) else { return }
    let both = rows(of: number, in: table, place)
    func differs(_ column: String) -> String { "t.\(quoted(column)) IS NOT s.\(quoted(column))" }
    for entry in own.attributes where !entry.attribute.isDerived {
      try add(
        EditList.Subject.attribute, entry.attribute.name, both + " AND " + differs(entry.column))
    }
    for entry in own.relationships {
      guard let storage = entry.storage, let column = storage.toOneColumn else { continue }
      let name = entry.relationship.name
      try add(EditList.Subject.toOne, name, both + " AND " + differs(column))
      if let other = storage.entityColumn {
        // Its bit stands beside the key's.
        try add(
          EditList.Subject.toOneEntity, name,
          both + " AND (\(differs(column)) OR \(differs(other)))")
      }
      if let order = storage.inversePosition {
        try add(EditList.Subject.toOneOrder, name, both + " AND " + differs(order))
      }
      guard let (_, inverse) = schema.inverse(of: entry.relationship), inverse.isToMany,
        let destination = store.table(of: entry.relationship.destination)
      else { continue }
      let moved = ([column] + [storage.inversePosition].compactMap { $0 }).map(differs)
      try tellToMany(
        inverse.name, in: destination.table, column,
        rows(of: number, in: table, place, orGone: true)
          + " AND (t.Z_PK IS NULL OR \(moved.joined(separator: " OR ")))")
    }
  }

  /// The objects that a column led to before, and those that it leads to now, whose to-many is another.
  private func tellToMany(
    _ name: String, in table: String, _ column: String, _ rows: String
  ) throws {
    for row in ["s", "t"] {
      try add(
        EditList.Subject.toMany, name, object: "d.Z_ENT, d.Z_PK",
        """
        FROM (SELECT DISTINCT \(row).\(quoted(column)) k \(rows)) k
        CROSS JOIN main.\(quoted(table)) d ON d.Z_PK = k.k
        """)
    }
  }

  /// A to-many without an inverse, whose owner's key is in the rows of its objects.
  private func tellOwners(
    of relationship: Relationship, in entity: String, _ storage: RelationshipStorage
  ) throws {
    guard let place = tables.firstIndex(of: storage.table), let own = store.table(of: entity) else {
      return
    }
    let name = relationship.name
    func rows(_ join: String) -> String {
      """
      FROM temp.strata_touched e CROSS JOIN src.\(quoted(storage.table)) s ON s.Z_PK = e.key
      \(join) main.\(quoted(storage.table)) t ON t.Z_PK = e.key WHERE e.place = \(place)
      """
    }
    func differs(_ column: String) -> String { "t.\(quoted(column)) IS NOT s.\(quoted(column))" }
    try add(
      EditList.Subject.owner, "\(entity).\(name)",
      rows("CROSS JOIN") + " AND " + differs(storage.owner))
    if let order = storage.position {
      try add(
        EditList.Subject.ownerOrder, "\(entity).\(name)",
        rows("CROSS JOIN") + " AND " + differs(order))
    }
    let moved = ([storage.owner] + [storage.position].compactMap { $0 }).map(differs)
    try tellToMany(
      name, in: own.table, storage.owner,
      rows("LEFT JOIN") + " AND (t.Z_PK IS NULL OR \(moved.joined(separator: " OR ")))")
  }

  /// A relationship whose links are rows of a join table.
  private func tellPairs(
    of relationship: Relationship, in entity: String, _ storage: RelationshipStorage
  ) throws {
    guard let index = joins.firstIndex(where: { $0.name == storage.table }),
      let own = store.table(of: entity)
    else { return }
    let join = joins[index]
    let isFirst = storage.owner == join.first
    let value = storage.position.map { "ifnull(\(quoted($0)), 0)" } ?? "1"
    func link(_ schema: String) -> String {
      """
      (SELECT \(value) FROM \(schema).\(quoted(join.name)) j
      WHERE j.\(quoted(join.first)) = e.key AND j.\(quoted(join.second)) = e.other)
      """
    }
    var owners = [isFirst ? "e.key" : "e.other"]
    if storage.kind == .reflexive { owners = ["e.key", "e.other"] }
    for owner in owners {
      try add(
        EditList.Subject.toMany, relationship.name, object: "o.Z_ENT, o.Z_PK",
        """
        FROM temp.strata_touched e CROSS JOIN main.\(quoted(own.table)) o ON o.Z_PK = \(owner)
        WHERE e.place = \(tables.count + index) AND \(link("main")) IS NOT \(link("src"))
        """)
    }
  }
}

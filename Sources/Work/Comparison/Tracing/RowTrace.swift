import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Makes the list of what was written into a copy of a store, by comparing the rows that were touched with those of the
/// original, which is attached beside it. It finds these rows by following statements and the store's own triggers,
/// or the code that wrote them names them.
///
/// So the list holds what differs in the end, whatever wrote it: both sides of a relationship, positions, and objects
/// that lost a partner.
package struct RowTrace {
  private let store: Store
  private let connection: Connection
  private let original: String
  private let tables: [String]
  private let joins: [StoreSchema.JoinTable]

  private var schema: StoreSchema { store.schema }

  /// - Parameters:
  ///   - store: the original, which is attached as `original` says.
  ///   - connection: has the copy as `main`, and a ``ChangeList``.
  package init(_ store: Store, on connection: Connection, original: String = "src") throws {
    (self.store, self.connection, self.original) = (store, connection, original)
    tables = store.schema.tables.map(\.name).filter { store.database.contains($0) }
    joins = store.schema.joins.filter { store.database.contains($0.name) }
    try connection.execute(
      """
      CREATE TEMP TABLE strata_touched (place INTEGER, key INTEGER, other INTEGER,
        PRIMARY KEY (place, key, other)) WITHOUT ROWID
      """)
  }

  /// Begins to follow.
  package func follow() throws {
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
  package func stop() throws {
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

  /// Notes that rows of a table were written, or came.
  ///
  /// - Parameter keys: SQL of their keys.
  package func add(_ keys: String, of table: String) throws {
    guard let place = tables.firstIndex(of: table) else { return }
    try connection.execute(
      "INSERT OR IGNORE INTO temp.strata_touched SELECT \(place), key, 0 FROM (\(keys))")
  }

  /// Notes all rows of join tables that differ.
  package func addLinks() throws {
    for (index, join) in joins.enumerated() {
      let (first, second) = (quoted(join.first), quoted(join.second))
      let columns = store.database.tables[join.name] ?? []
      let rest = columns.map(\.name).filter { $0 != join.first && $0 != join.second }
      let keys = ["o.\(first) = n.\(first)", "o.\(second) = n.\(second)"]
      let isEqual = (keys + rest.map { "o.\(quoted($0)) IS n.\(quoted($0))" })
        .joined(separator: " AND ")
      for (one, other) in [("main", original), (original, "main")] {
        try connection.execute(
          """
          INSERT OR IGNORE INTO temp.strata_touched
          SELECT \(tables.count + index), n.\(first), n.\(second) FROM \(one).\(quoted(join.name)) n
          WHERE NOT EXISTS (SELECT 1 FROM \(other).\(quoted(join.name)) o WHERE \(isEqual))
          """)
      }
    }
  }

  /// Writes what differs into the list.
  package func tell() throws {
    for (place, table) in tables.enumerated() {
      try connection.execute(
        """
        INSERT INTO listed.deleted SELECT s.Z_ENT, s.Z_PK FROM temp.strata_touched e
        CROSS JOIN \(original).\(quoted(table)) s ON s.Z_PK = e.key
        LEFT JOIN main.\(quoted(table)) t ON t.Z_PK = e.key
        WHERE e.place = \(place) AND t.Z_PK IS NULL
        """)
      try connection.execute(
        """
        INSERT INTO listed.inserted SELECT t.Z_ENT, t.Z_PK FROM temp.strata_touched e
        CROSS JOIN main.\(quoted(table)) t ON t.Z_PK = e.key
        LEFT JOIN \(original).\(quoted(table)) s ON s.Z_PK = e.key
        WHERE e.place = \(place) AND s.Z_PK IS NULL
        """)
      let numbers = try connection.rows(
        """
        SELECT DISTINCT coalesce(s.Z_ENT, t.Z_ENT) FROM temp.strata_touched e
        LEFT JOIN \(original).\(quoted(table)) s ON s.Z_PK = e.key
        LEFT JOIN main.\(quoted(table)) t ON t.Z_PK = e.key WHERE e.place = \(place)
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
    // What of an object that came leads to others is no change of it.
    try connection.execute(
      """
      DELETE FROM listed.changes WHERE EXISTS (SELECT 1 FROM listed.inserted i
      WHERE i.number = listed.changes.number AND i.key = listed.changes.key)
      """)
  }

  /// Rows of one entity, before and after.
  ///
  /// - Parameter orOne: those too that came or went.
  private func rows(
    of number: Int64, in table: String, _ place: Int, orOne: Bool = false
  ) -> String {
    """
    FROM temp.strata_touched e
    \(orOne ? "LEFT JOIN" : "CROSS JOIN") \(original).\(quoted(table)) s ON s.Z_PK = e.key
    \(orOne ? "LEFT JOIN" : "CROSS JOIN") main.\(quoted(table)) t ON t.Z_PK = e.key
    WHERE e.place = \(place) AND \(orOne ? "coalesce(s.Z_ENT, t.Z_ENT)" : "s.Z_ENT") = \(number)
    """
  }

  private func add(
    _ subject: String, _ name: String, object: String = "t.Z_ENT, t.Z_PK", _ rows: String
  ) throws {
    try connection.execute(
      """
      INSERT OR IGNORE INTO listed.changes SELECT \(object), \(Value.text(subject + name).literal),
      \(Value.text(name).literal) \(rows)
      """)
  }

  private func tellRows(of number: Int64, in table: String, _ place: Int) throws {
    guard let entity = store.entityNames[number], let own = store.table(of: entity) else { return }
    let both = rows(of: number, in: table, place)
    func differs(_ column: String) -> String { "t.\(quoted(column)) IS NOT s.\(quoted(column))" }
    for entry in own.attributes where !entry.attribute.isDerived {
      try add(
        ChangeList.Subject.attribute, entry.attribute.name, both + " AND " + differs(entry.column))
    }
    for entry in own.relationships {
      guard let storage = entry.storage, let column = storage.toOneColumn else { continue }
      let name = entry.relationship.name
      try add(ChangeList.Subject.toOne, name, both + " AND " + differs(column))
      if let other = storage.entityColumn {
        // Its bit stands beside the key's.
        try add(
          ChangeList.Subject.toOneEntity, name,
          both + " AND (\(differs(column)) OR \(differs(other)))")
      }
      if let order = storage.inversePosition {
        try add(ChangeList.Subject.toOneOrder, name, both + " AND " + differs(order))
      }
      guard let (_, inverse) = schema.inverse(of: entry.relationship), inverse.isToMany,
        let destination = store.table(of: entry.relationship.destination)
      else { continue }
      let moved = ([column] + [storage.inversePosition].compactMap { $0 }).map(differs)
      try tellToMany(
        inverse.name, in: destination.table, column,
        rows(of: number, in: table, place, orOne: true)
          + " AND (t.Z_PK IS NULL OR s.Z_PK IS NULL OR \(moved.joined(separator: " OR ")))")
    }
  }

  /// The objects that a column led to before, and those that it leads to now, whose to-many is another.
  private func tellToMany(
    _ name: String, in table: String, _ column: String, _ rows: String
  ) throws {
    for row in ["s", "t"] {
      try add(
        ChangeList.Subject.toMany, name, object: "d.Z_ENT, d.Z_PK",
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
      FROM temp.strata_touched e \(join) \(original).\(quoted(storage.table)) s ON s.Z_PK = e.key
      \(join) main.\(quoted(storage.table)) t ON t.Z_PK = e.key WHERE e.place = \(place)
      """
    }
    func differs(_ column: String) -> String { "t.\(quoted(column)) IS NOT s.\(quoted(column))" }
    try add(
      ChangeList.Subject.owner, "\(entity).\(name)",
      rows("CROSS JOIN") + " AND " + differs(storage.owner))
    if let order = storage.position {
      try add(
        ChangeList.Subject.ownerOrder, "\(entity).\(name)",
        rows("CROSS JOIN") + " AND " + differs(order))
    }
    let moved = ([storage.owner] + [storage.position].compactMap { $0 }).map(differs)
    try tellToMany(
      name, in: own.table, storage.owner,
      rows("LEFT JOIN")
        + " AND (t.Z_PK IS NULL OR s.Z_PK IS NULL OR \(moved.joined(separator: " OR ")))")
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
        ChangeList.Subject.toMany, relationship.name, object: "o.Z_ENT, o.Z_PK",
        """
        FROM temp.strata_touched e CROSS JOIN main.\(quoted(own.table)) o ON o.Z_PK = \(owner)
        WHERE e.place = \(tables.count + index) AND \(link("main")) IS NOT \(link(original))
        """)
    }
  }
}

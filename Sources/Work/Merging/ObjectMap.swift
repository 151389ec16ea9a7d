import ManagedModel
import ManagedStore
import SQLite

/// Which object of the older store is which in the result: tables of the connection that writes it, on which the
/// stores are `src`, `now` and `base`, and the result is `main`.
///
/// Keys are kept in SQLite: memory does not grow with the stores.
final class ObjectMap {
  /// What an object of the older store is in the result.
  enum Kind: Int {
    /// One of the newer store's.
    case paired = 0
    /// A new one, under its own key.
    case added = 1
    /// A new one, under another key.
    case renumbered = 2
  }

  let connection: Connection
  let stores: MergedStores
  let entities: [MergedEntity]
  /// Numbers of the older store's tables.
  private let numbers: [String: Int]

  init(_ connection: Connection, _ stores: MergedStores, _ entities: [MergedEntity]) throws {
    (self.connection, self.stores, self.entities) = (connection, stores, entities)
    let names = Set(stores.old.entityTables.map(\.table)).sorted { $0.precedes($1) }
    numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    try connection.execute(
      """
      CREATE TEMP TABLE merge_key (t INTEGER, a INTEGER, r INTEGER, e INTEGER, kind INTEGER, differs INTEGER,
        deleted INTEGER, PRIMARY KEY (t, a)) WITHOUT ROWID;
      CREATE UNIQUE INDEX temp.merge_key_r ON merge_key (t, r);
      CREATE TEMP TABLE merge_entity (place INTEGER PRIMARY KEY, number INTEGER);
      CREATE TEMP TABLE merge_out (t INTEGER, a INTEGER, e INTEGER, reason TEXT, PRIMARY KEY (t, a)) WITHOUT ROWID;
      CREATE TEMP TABLE merge_touched (t INTEGER, r INTEGER, PRIMARY KEY (t, r)) WITHOUT ROWID;
      CREATE TEMP TABLE merge_placed (c TEXT, r INTEGER, p INTEGER, PRIMARY KEY (c, r)) WITHOUT ROWID;
      CREATE TEMP TABLE merge_retry (e INTEGER, a INTEGER, r INTEGER, columns TEXT, PRIMARY KEY (e, a)) WITHOUT ROWID;
      CREATE TEMP TABLE merge_link (o INTEGER, d INTEGER, p INTEGER, i INTEGER, PRIMARY KEY (o, d)) WITHOUT ROWID;
      """)
    for entity in entities {
      try connection.run(
        "INSERT INTO temp.merge_entity VALUES (?, ?)",
        [.integer(Int64(entity.place)), .integer(entity.new.entityID)])
    }
  }

  // MARK: SQL

  /// The number of a table of the older store.
  func number(_ table: String) -> Int { numbers[table] ?? -1 }

  /// SQL of the key in the result of an object of the older store; NULL where it has none.
  func result(_ table: String, _ key: String) -> String {
    "(SELECT k.r FROM temp.merge_key k WHERE k.t = \(number(table)) AND k.a = \(key))"
  }

  /// SQL of the Z_ENT in the result of an object of the older store.
  func entityNumber(_ table: String, _ key: String) -> String {
    """
    (SELECT e.number FROM temp.merge_key k JOIN temp.merge_entity e ON e.place = k.e \
    WHERE k.t = \(number(table)) AND k.a = \(key))
    """
  }

  /// FROM and WHERE of an entity's objects of the older store that are something in the result, as rows `m` and `o`.
  ///
  /// - Parameter others: further tables, as SQL.
  func rows(of entity: MergedEntity, with others: String = "") -> String {
    """
    temp.merge_key m CROSS JOIN src.\(quoted(entity.old.table)) o ON o.Z_PK = m.a \(others) \
    WHERE m.t = \(number(entity.old.table)) AND m.e = \(entity.place)
    """
  }

  /// The key in the result of an object of the older store.
  func key(of a: Int64, in table: String) throws -> Int64? {
    let statement = try connection.cached(
      "SELECT r FROM temp.merge_key WHERE t = \(number(table)) AND a = ?")
    return try statement.firstRow([.integer(a)]).first?.integer
  }

  /// The entity of an object of the result that the older store has, with its key there.
  func former(of r: Int64, in table: String) throws -> (entity: MergedEntity, a: Int64, kind: Kind)?
  {
    let statement = try connection.cached(
      "SELECT a, e, kind FROM temp.merge_key WHERE t = \(number(table)) AND r = ?")
    let row = try statement.firstRow([.integer(r)])
    guard row.count == 3, let a = row[0].integer, let place = row[1].integer,
      let entity = entities.first(where: { $0.place == Int(place) }),
      let kind = Kind(rawValue: Int(row[2].integer ?? 0))
    else { return nil }
    return (entity, a, kind)
  }

  /// How many rows there are of what FROM and WHERE say.
  func count(_ from: String) throws -> Int {
    Int(try connection.value("SELECT count(*) FROM \(from)")?.integer ?? 0)
  }

  /// Notes that an object of the newer store is saved with something else.
  func touch(_ r: Int64, in table: String) throws {
    let statement = try connection.cached(
      "INSERT OR IGNORE INTO temp.merge_touched VALUES (\(number(table)), ?)")
    try statement.run([.integer(r)])
  }

  // MARK: Pairs

  /// Takes over the pairs that a comparison found.
  func addPairs(
    of comparison: (_ add: (String, Int64, Int64, Bool) throws -> Void) throws -> Void
  )
    throws
  {
    let places = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    let statement = try connection.prepare(
      "INSERT OR IGNORE INTO temp.merge_key VALUES (?, ?, ?, ?, 0, ?, 0)")
    try comparison { name, a, b, mayDiffer in
      guard let entity = places[name] else { return }
      try statement.run([
        .integer(Int64(number(entity.old.table))), .integer(a), .integer(b),
        .integer(Int64(entity.place)), .integer(mayDiffer ? 1 : 0),
      ])
    }
  }

  /// Pairs objects of which the model says that there can be one only: those that are left, with the same values.
  func pairUnique() throws {
    for entity in entities where entity.isIncluded {
      for constraint in entity.constraints {
        let columns = constraint.compactMap { name in
          entity.attributes.first { $0.name == name }
        }
        guard columns.count == constraint.count, !columns.isEmpty else { continue }
        let number = number(entity.old.table)
        let equal = columns.map { "n.\(quoted($0.new)) = o.\(quoted($0.old))" }
        let conditions =
          [entity.old.ownRows("o"), entity.new.ownRows("n")].compactMap { $0 } + [
            "NOT EXISTS (SELECT 1 FROM temp.merge_key k WHERE k.t = \(number) AND k.a = o.Z_PK)",
            "NOT EXISTS (SELECT 1 FROM temp.merge_key k WHERE k.t = \(number) AND k.r = n.Z_PK)",
          ]
        try connection.execute(
          """
          INSERT OR IGNORE INTO temp.merge_key
          SELECT \(number), o.Z_PK, n.Z_PK, \(entity.place), 0, 1, 0
          FROM src.\(quoted(entity.old.table)) o JOIN now.\(quoted(entity.new.table)) n
          ON \(equal.joined(separator: " AND ")) WHERE \(conditions.joined(separator: " AND "))
          """)
      }
    }
  }

  /// Pairs objects of an entity that are left under one key, which is that of an object of the base, where one of them
  /// has no value of one of some attributes.
  func pairByBase(lacking names: [String], _ entity: MergedEntity) throws {
    let found = attributes(named: names, of: entity)
    guard !found.isEmpty, let base = entity.base,
      stores.base?.database.contains(base.table) == true
    else { return }
    let number = number(entity.old.table)
    let isLacking = found.flatMap {
      ["o.\(quoted($0.old)) IS NULL", "n.\(quoted($0.new)) IS NULL"]
    }.joined(separator: " OR ")
    let conditions =
      [isUnpaired(entity), entity.new.ownRows("n"), base.ownRows("b")].compactMap { $0 } + [
        "(\(isLacking))",
        "NOT EXISTS (SELECT 1 FROM temp.merge_key k WHERE k.t = \(number) AND k.r = n.Z_PK)",
      ]
    try connection.execute(
      """
      INSERT OR IGNORE INTO temp.merge_key
      SELECT \(number), o.Z_PK, n.Z_PK, \(entity.place), 0, 1, 0 FROM src.\(quoted(entity.old.table)) o
      CROSS JOIN now.\(quoted(entity.new.table)) n ON n.Z_PK = o.Z_PK
      CROSS JOIN base.\(quoted(base.table)) b ON b.Z_PK = o.Z_PK
      WHERE \(conditions.joined(separator: " AND "))
      """)
  }

  private func attributes(
    named names: [String], of entity: MergedEntity
  ) -> [MergedEntity.Attribute] {
    names.compactMap { name in
      entity.attributes.first { $0.name == name }
        ?? entity.attributes.first { $0.path.last == name }
    }
  }

  /// How many objects of an entity are without a counterpart, and without a value of one of some attributes.
  func lacking(_ names: [String], _ entity: MergedEntity) throws -> (old: Int, new: Int) {
    let found = attributes(named: names, of: entity)
    guard !found.isEmpty else { return (0, 0) }
    let (one, other) = (
      found.map { "o.\(quoted($0.old)) IS NULL" }, found.map { "n.\(quoted($0.new)) IS NULL" }
    )
    let alone = """
      NOT EXISTS (SELECT 1 FROM temp.merge_key k WHERE k.t = \(number(entity.old.table)) AND k.r = n.Z_PK)
      """
    let own = [entity.new.ownRows("n"), alone].compactMap { $0 }.joined(separator: " AND ")
    return (
      try count(
        """
        src.\(quoted(entity.old.table)) o
        WHERE \(isUnpaired(entity)) AND (\(one.joined(separator: " OR ")))
        """),
      try count(
        """
        now.\(quoted(entity.new.table)) n WHERE \(own) AND (\(other.joined(separator: " OR ")))
        """)
    )
  }

  // MARK: Keys

  /// True of rows `o` of an entity that have no counterpart.
  private func isUnpaired(_ entity: MergedEntity) -> String {
    let alone = """
      NOT EXISTS (SELECT 1 FROM temp.merge_key k WHERE k.t = \(number(entity.old.table)) AND k.a = o.Z_PK)
      """
    return [entity.old.ownRows("o"), alone].compactMap { $0 }.joined(separator: " AND ")
  }

  /// Leaves out what was deleted in the newer store, and new objects that cannot be without one of those.
  func leaveOutDeleted(_ source: MergeReport.DeletionSource) throws {
    for entity in entities where entity.isIncluded {
      try connection.execute(
        """
        INSERT OR IGNORE INTO temp.merge_out
        SELECT \(number(entity.old.table)), o.Z_PK, \(entity.place), 'deleted'
        FROM src.\(quoted(entity.old.table)) o
        WHERE \(isUnpaired(entity)) AND \(isDeleted(entity, source))
        """)
    }
    var found = 1
    while found > 0 {
      found = 0
      for entity in entities where entity.isIncluded {
        for reference in entity.references where reference.isMandatory {
          let target = number(reference.oldTarget)
          try connection.execute(
            """
            INSERT OR IGNORE INTO temp.merge_out
            SELECT \(number(entity.old.table)), o.Z_PK, \(entity.place), 'dependent'
            FROM src.\(quoted(entity.old.table)) o JOIN temp.merge_out x
            ON x.t = \(target) AND x.a = o.\(quoted(reference.old)) WHERE \(isUnpaired(entity))
            """)
          found += connection.changes
        }
      }
    }
  }

  /// True of a row `o` without a counterpart that is known to have been deleted in the newer store.
  ///
  /// By history a key may be of two objects that two stores gave it to: it is the same object where neither history
  /// has its insertion, or both have it at the same time.
  private func isDeleted(_ entity: MergedEntity, _ source: MergeReport.DeletionSource) -> String {
    switch source {
    case .base:
      guard let base = entity.base, stores.base?.database.contains(base.table) == true else {
        return "0"
      }
      let own = [base.ownRows("b"), "b.Z_PK = o.Z_PK"].compactMap { $0 }
      return """
        EXISTS (SELECT 1 FROM base.\(quoted(base.table)) b WHERE \(own.joined(separator: " AND ")))
        """
    case .history:
      func inserted(_ side: Int, _ number: Int64) -> String {
        "(SELECT h.time FROM temp.merge_history h WHERE h.side = \(side) AND h.e = \(number) AND h.k = o.Z_PK)"
      }
      let ours = inserted(1, entity.new.entityID)
      let theirs = inserted(0, entity.old.entityID)
      return """
        (EXISTS (SELECT 1 FROM temp.merge_history h
        WHERE h.side = 2 AND h.e = \(entity.new.entityID) AND h.k = o.Z_PK) AND \(ours) IS \(theirs))
        """
    }
  }

  /// Whether the newer store's history has all transactions from the first one on: one that was shortened does not
  /// show all deletions.
  func isHistoryWhole() throws -> Bool {
    try connection.value(
      "SELECT min(Z_PK) IS 1 AND max(Z_PK) = count(*) FROM now.ATRANSACTION")?.integer == 1
  }

  /// Reads from both histories when objects were inserted, and from the newer one which were deleted.
  func readHistory() throws {
    try connection.execute(
      """
      CREATE TEMP TABLE merge_history (side INTEGER, e INTEGER, k INTEGER, time REAL, PRIMARY KEY (side, e, k))
        WITHOUT ROWID;
      """)
    for (side, schema, kind) in [(0, "src", 0), (1, "now", 0), (2, "now", 2)] {
      guard side != 0 || stores.old.keepsHistory else { continue }
      try connection.execute(
        """
        INSERT OR IGNORE INTO temp.merge_history SELECT \(side), c.ZENTITY, c.ZENTITYPK, x.ZTIMESTAMP
        FROM \(schema).ACHANGE c JOIN \(schema).ATRANSACTION x ON x.Z_PK = c.ZTRANSACTIONID
        WHERE c.ZCHANGETYPE = \(kind) AND c.ZENTITY IS NOT NULL AND c.ZENTITYPK IS NOT NULL
        """)
    }
  }

  /// Gives every object of the older store that has no counterpart a key: its own where that is above all that the
  /// newer store gave out, else one above both.
  func giveKeys(_ source: MergeReport.DeletionSource?) throws {
    for (table, group) in Dictionary(grouping: entities, by: \.old.table).sorted(by: {
      $0.key < $1.key
    }) {
      guard let first = group.first else { continue }
      let number = number(table)
      let last = try lastKey(of: first)
      for entity in group where entity.isIncluded {
        let deleted = source.map { isDeleted(entity, $0) } ?? "0"
        try connection.execute(
          """
          INSERT INTO temp.merge_key
          SELECT \(number), o.Z_PK, o.Z_PK, \(entity.place), \(Kind.added.rawValue), 0, \(deleted)
          FROM src.\(quoted(table)) o
          WHERE \(isUnpaired(entity)) AND o.Z_PK > \(last) AND \(isIn(number))
          """)
      }
      var start = max(
        last,
        try connection.value("SELECT max(r) FROM temp.merge_key WHERE t = \(number)")?.integer ?? 0)
      for entity in group where entity.isIncluded {
        let left =
          "src.\(quoted(table)) o WHERE \(isUnpaired(entity)) AND \(isIn(number))"
        let (end, isTooLarge) = start.addingReportingOverflow(Int64(try count(left)))
        guard !isTooLarge else { throw PrimaryKeys.exhausted(entity.name) }
        let deleted = source.map { isDeleted(entity, $0) } ?? "0"
        try connection.execute(
          """
          INSERT INTO temp.merge_key
          SELECT \(number), o.Z_PK, \(start) + row_number() OVER (ORDER BY o.Z_PK), \(entity.place),
          \(Kind.renumbered.rawValue), 0, \(deleted) FROM \(left)
          """)
        start = end
      }
    }
  }

  private func isIn(_ number: Int) -> String {
    "NOT EXISTS (SELECT 1 FROM temp.merge_out x WHERE x.t = \(number) AND x.a = o.Z_PK)"
  }

  /// The greatest key of a hierarchy that the newer store gave out, as its counter, rows, history and the mirror's
  /// rows show it.
  private func lastKey(of entity: MergedEntity) throws -> Int64 {
    let model = stores.new.model
    let root = model.root(of: entity.name)
    let numbers = model.subtree(of: root).compactMap { stores.new.schema.numbers[$0] }
    let keys = PrimaryKeys(connection, in: "now.")
    var last = try keys.last(stores.new.schema.numbers[root] ?? -1, in: entity.new.table)
    for (table, number) in [
      ("ACHANGE", "ZENTITY"), ("ANSCKRECORDMETADATA", "ZENTITYID"),
      ("ANSCKHISTORYANALYZERSTATE", "ZENTITYID"),
    ] where stores.new.database.columns(of: table).isSuperset(of: [number, "ZENTITYPK"]) {
      let named = try connection.value(
        "SELECT max(ZENTITYPK) FROM now.\(table) WHERE \(number) IN (\(numbers.list))")
      last = max(last, named?.integer ?? 0)
    }
    return last
  }
}

extension Store {
  /// Whether it has rows of persistent history in the form that is read here.
  var keepsHistory: Bool {
    database.columns(of: "ACHANGE").isSuperset(
      of: ["ZENTITY", "ZENTITYPK", "ZCHANGETYPE", "ZTRANSACTIONID"])
      && database.columns(of: "ATRANSACTION").contains("ZTIMESTAMP")
  }
}

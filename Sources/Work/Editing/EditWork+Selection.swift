import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Changes of many objects at once: attributes by expressions, and to-ones.
extension EditWork {
  /// The columns that a selection sets, and what they get of the original's row `s`.
  func columns(
    of selection: StoreEdit.Selection
  ) throws -> (table: EntityTable, columns: [(attribute: Attribute, column: String, sql: String)]) {
    let table = try layout.knownTable(of: selection.entity)
    let scope = ExpressionScope(store: source, entity: selection.entity)
    let columns = try selection.computations.map { computation in
      let attribute = try table.editable(computation.attribute, layout)
      do {
        try scope.check(recipe: computation.expression)
        let sql = try scope.compile(recipe: computation.expression, for: attribute).sql
        return (
          attribute: attribute, column: table.column(of: computation.attribute) ?? "",
          sql: attribute.stored("(\(sql))")
        )
      } catch var error as CoreDataError {
        error.entity = error.entity ?? selection.entity
        error.property = error.property ?? computation.attribute
        throw error
      }
    }
    return (table, columns)
  }

  func compute(_ selection: StoreEdit.Selection, without gone: Set<ObjectID>) throws {
    let (table, columns) = try columns(of: selection)
    var condition = table.kindRows("s") ?? "1"
    if let predicate = selection.predicate {
      // Says best what is wrong with it.
      _ = try RowFilter(predicate, entity: selection.entity, store: source)
      let scope = ExpressionScope(store: source, entity: selection.entity)
      condition += " AND (\(try scope.compile(predicate: predicate).sql))"
    }
    try connection.execute("CREATE TEMP TABLE strata_selected (key INTEGER PRIMARY KEY)")
    try connection.execute(
      "INSERT INTO temp.strata_selected SELECT s.Z_PK FROM src.\(quoted(table.table)) s WHERE \(condition)"
    )
    let sets = columns.map { "\(quoted($0.column)) = \($0.sql)" }
    if sets.isEmpty { return try link(selection, table, without: gone) }
    do {
      try connection.execute(
        """
        UPDATE main.\(quoted(table.table)) AS t SET \(sets.joined(separator: ", "))
        FROM src.\(quoted(table.table)) AS s
        WHERE s.Z_PK = t.Z_PK AND t.Z_PK IN (SELECT key FROM temp.strata_selected)
        """)
    } catch let error as SQLiteError where error.isEvaluation {
      throw CoreDataError(
        .refused, "an expression fails: \(error.message)", entity: selection.entity,
        hint: "Guard it, such as by CASE WHEN json_valid(x) THEN … END. The store is unchanged.")
    }
    try link(selection, table, without: gone)
  }

  /// Sets to-ones of the objects that a selection took.
  private func link(
    _ selection: StoreEdit.Selection, _ table: EntityTable, without gone: Set<ObjectID>
  ) throws {
    guard !selection.links.isEmpty else { return }
    let rows = try connection.rows(
      """
      SELECT t.Z_ENT, t.Z_PK FROM main.\(quoted(table.table)) t
      JOIN temp.strata_selected k ON k.key = t.Z_PK ORDER BY 2
      """)
    for link in selection.links {
      let relationship = schema.model.relationship(named: link.relationship, of: selection.entity)
      guard let relationship, !relationship.isToMany else {
        throw CoreDataError(
          .usage, "only a to-one can be set for several objects", entity: selection.entity,
          property: link.relationship,
          hint: "A to-many is changed object by object: tags+=Tag/p3.")
      }
      if rows.count > 1, link.object != nil, let (_, back) = schema.inverse(of: relationship),
        !back.isToMany
      {
        throw CoreDataError(
          .refused,
          "\(rows.count) objects cannot reference the same one: its inverse \(back.name) is to-one",
          entity: selection.entity, property: link.relationship,
          hint: "The store is unchanged.")
      }
      for (count, row) in rows.enumerated() {
        if count % 100 == 0 { try meter.checkCancelled() }
        guard row.count == 2, let key = row[1].integer,
          let entity = row[0].integer.flatMap({ source.entityNames[$0] })
        else { continue }
        try self.link(
          link.relationship, of: ObjectID(entity: entity, key: key), .set,
          link.object.map { [$0] } ?? [], without: gone)
      }
    }
  }

  /// Asks for the values that expressions gave once more.
  ///
  /// - Returns: how many were compared.
  func verifyComputed() throws -> Int {
    guard let selection = edit.selection else { return 0 }
    let (table, columns) = try columns(of: selection)
    var count = 0
    for column in columns {
      // What the column makes of the value, SQLite shows in a table like it.
      let type =
        try connection.value(
          "SELECT type FROM pragma_table_info(?) WHERE name = ?",
          [.text(table.table), .text(column.column)])?.text ?? ""
      let compared =
        try connection.rows(
          """
          SELECT count(*), count(CASE WHEN t.\(quoted(column.column)) IS NOT
          \(Self.stored(column.sql, type)) THEN 1 END) FROM temp.strata_selected k
          JOIN main.\(quoted(table.table)) t ON t.Z_PK = k.key
          JOIN src.\(quoted(table.table)) s ON s.Z_PK = k.key
          """
        ).first?.map { $0.integer ?? 0 } ?? []
      guard let all = compared.first, let wrong = compared.last else { continue }
      guard wrong == 0 else {
        throw CoreDataError(
          .failed, "verification failed: \(wrong) values are not what the expression gives",
          entity: selection.entity, property: column.attribute.name,
          hint: "The store is unchanged. Please report this.")
      }
      // Objects that were deleted as well have no value.
      count += Int(all)
    }
    for link in selection.links {
      guard let column = table.toOneColumn(of: link.relationship) else { continue }
      let compared =
        try connection.rows(
          """
          SELECT count(*), count(CASE WHEN t.\(quoted(column)) IS NOT ? THEN 1 END)
          FROM temp.strata_selected k JOIN main.\(quoted(table.table)) t ON t.Z_PK = k.key
          """, [link.object.map { .integer($0.key) } ?? .null]
        ).first?.map { $0.integer ?? 0 } ?? []
      guard compared.last == 0 else {
        throw CoreDataError(
          .failed,
          "verification failed: \(compared.last ?? 0) references are not what was requested",
          entity: selection.entity, property: link.relationship,
          hint: "The store is unchanged. Please report this.")
      }
      count += Int(compared.first ?? 0)
    }
    return count
  }

  /// SQL of a value as a column of a declared type keeps it.
  private static func stored(_ sql: String, _ type: String) -> String {
    switch type {
    case "VARCHAR":
      "CASE WHEN typeof(\(sql)) IN ('integer', 'real') THEN CAST(\(sql) AS TEXT) ELSE \(sql) END"
    case "FLOAT": "CASE WHEN typeof(\(sql)) = 'integer' THEN CAST(\(sql) AS REAL) ELSE \(sql) END"
    case "INTEGER", "TIMESTAMP", "DECIMAL":
      "CASE WHEN typeof(\(sql)) = 'text' THEN CAST(\(sql) AS NUMERIC) ELSE \(sql) END"
    default: sql
    }
  }
}

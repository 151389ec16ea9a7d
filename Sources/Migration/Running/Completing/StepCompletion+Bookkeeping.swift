import ManagedStore
import ModelWriting
import SQLite

extension StepCompletion {
  /// Metadata, model cache, primary keys, and the entity numbers that history and CloudKit use.
  func updateBookkeeping() throws {
    try updatePrimaryKeys()
    try updateEntityNumbers()
    let metadata = source.metadata.updated(for: step.destination)
    try connection.run(
      "UPDATE main.Z_METADATA SET Z_PLIST = ?",
      [.blob(PropertyList.binary(.dictionary(metadata.values)))])
    // Stores of before 2015 have none; one that is made anew has it already.
    try connection.execute("CREATE TABLE IF NOT EXISTS main.Z_MODELCACHE (Z_CONTENT BLOB)")
    try connection.execute("DELETE FROM main.Z_MODELCACHE")
    try connection.run(
      "INSERT INTO main.Z_MODELCACHE (Z_CONTENT) VALUES (?)",
      [.blob(try ModelCache.deflate(archive ?? step.destination.archived()))])
  }

  private func updatePrimaryKeys() throws {
    try connection.execute(
      "DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(EntityNumbering.firstReserved)")
    for row in try schemas.primaryKeys(on: connection) {
      try connection.run(
        "INSERT INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)", row)
    }
  }

  /// History and CloudKit rows refer to objects by entity number: they follow the new ones. Those
  /// of entities that are gone would point at others, so they go too.
  private func updateEntityNumbers() throws {
    let renumbering = schemas.renumbering
    let cases = renumbering.map { "WHEN \($0.old) THEN -\($0.new)" }.joined(separator: " ")
    let removed = schemas.removedNumbers
    guard !schemas.keepsNumbers else { return try forgetMirroredLinks() }
    for table in source.database.tables.keys.sorted() {
      let columns = source.database.columns(of: table)
      let column: String
      if table == "ACHANGE", columns.contains("ZENTITY") {
        column = "ZENTITY"
      } else if table.hasPrefix("ANSCK"), columns.contains("ZENTITYID") {
        column = "ZENTITYID"
      } else {
        continue
      }
      if !removed.isEmpty {
        try connection.execute(
          "DELETE FROM main.\(quoted(table)) WHERE \(column) IN (\(removed.list))")
      }
      if !cases.isEmpty {
        // By way of negative numbers: a unique index over the column is checked row by row, while
        // one entity's old number still is another's new one.
        try connection.execute(
          """
          UPDATE main.\(quoted(table)) SET \(column) = CASE \(column) \(cases) END
          WHERE \(column) IN (\(renumbering.map { String($0.old) }.joined(separator: ", ")));
          UPDATE main.\(quoted(table)) SET \(column) = -\(column) WHERE \(column) < 0;
          """)
      }
    }
    try forgetMirroredLinks()
  }

  /// CloudKit keeps links of many-to-manys by name: those of relationships that are gone would be
  /// sent on.
  private func forgetMirroredLinks() throws {
    let table = "ANSCKMIRROREDRELATIONSHIP"
    let columns = source.database.columns(of: table)
    guard columns.contains("ZCDENTITYNAME"), columns.contains("ZRELATIONSHIPNAME") else { return }
    for join in source.schema.joins {
      for (entity, relationship) in [
        (join.entity, join.relationship), (join.inverseEntity, join.inverse),
      ] {
        let to = schemas.mapping.mapping(fromSource: entity)
        let now = to?.relationships.first { $0.source == relationship }?.name
        let key: [Value] = [.text(entity), .text(relationship)]
        if let name = to?.destination, let now {
          guard name != entity || now != relationship else { continue }
          try connection.run(
            """
            UPDATE main.\(table) SET ZCDENTITYNAME = ?3, ZRELATIONSHIPNAME = ?4
            WHERE ZCDENTITYNAME = ?1 AND ZRELATIONSHIPNAME = ?2
            """, key + [.text(name), .text(now)])
        } else {
          try connection.run(
            "DELETE FROM main.\(table) WHERE ZCDENTITYNAME = ?1 AND ZRELATIONSHIPNAME = ?2", key)
        }
      }
    }
  }
}

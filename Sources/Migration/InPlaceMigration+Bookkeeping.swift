import ManagedModel
import ManagedStore
import SQLite

extension InPlaceMigration {
  /// Metadata, model cache, primary keys, and the entity numbers that history and CloudKit use.
  func updateBookkeeping() throws {
    try updatePrimaryKeys()
    try updateEntityNumbers()
    let metadata = source.metadata.updated(for: step.destination)
    try connection.run(
      "UPDATE main.Z_METADATA SET Z_PLIST = ?",
      [.blob(PropertyList.binary(.dictionary(metadata.values)))])
    if !source.database.contains("Z_MODELCACHE") {
      try connection.execute("CREATE TABLE main.Z_MODELCACHE (Z_CONTENT BLOB)")
    }
    try connection.execute("DELETE FROM main.Z_MODELCACHE")
    try connection.run(
      "INSERT INTO main.Z_MODELCACHE (Z_CONTENT) VALUES (?)",
      [.blob(try ModelCache.deflate(archive ?? step.destination.archived()))])
  }

  private func updatePrimaryKeys() throws {
    var rows: [[Value]] = []
    for row in destination.primaryKeyRows {
      var maximum: Int64 = 0
      if row.parent == 0, let table = destination.table(ofRoot: row.name) {
        for entityMapping in schemas.mappings(into: table) {
          guard let from = entityMapping.source else { continue }
          let root = source.model.root(of: from)
          guard let number = source.schema.numbers[root] else { continue }
          let given = try connection.value(
            "SELECT Z_MAX FROM src.Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])
          maximum = max(maximum, given?.integer ?? 0)
        }
        let used = try connection.value("SELECT max(Z_PK) FROM main.\(quoted(table.name))")
        maximum = max(maximum, used?.integer ?? 0)
      }
      rows.append([
        .integer(row.number), .text(row.name), .integer(row.parent), .integer(maximum),
      ])
    }
    try connection.execute(
      "DELETE FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(EntityNumbering.firstReserved)")
    for row in rows {
      try connection.run(
        "INSERT INTO main.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)", row)
    }
  }

  /// History and CloudKit rows refer to objects by entity number: they follow the new ones. Those
  /// of entities that are gone would point at others, so they go too.
  private func updateEntityNumbers() throws {
    let renumbering = schemas.renumbering
    let cases = renumbering.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
    let kept = Set(renumbering.map(\.old))
    let removed = source.entityTables.map(\.number).filter { !kept.contains($0) }
    let isUnchanged = renumbering.allSatisfy { $0.old == $0.new } && removed.isEmpty
    guard !isUnchanged else { return }
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
          "DELETE FROM main.\(quoted(table)) WHERE \(column) IN (\(removed.map(String.init).joined(separator: ", ")))"
        )
      }
      if !cases.isEmpty {
        try connection.execute(
          "UPDATE main.\(quoted(table)) SET \(column) = CASE \(column) \(cases) ELSE \(column) END")
      }
    }
  }
}

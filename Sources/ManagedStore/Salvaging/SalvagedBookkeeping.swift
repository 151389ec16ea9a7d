import ManagedModel
import ModelWriting
import SQLite

/// What Core Data keeps beside the objects, in a database that was made of a damaged one.
package struct SalvagedBookkeeping {
  private let connection: Connection

  /// That of a database whose rows are all there.
  package init(_ connection: Connection) { self.connection = connection }

  /// Makes anew what is not there or cannot be read: metadata, model cache, entities and counters.
  ///
  /// - Parameters:
  ///   - model: the model of the store; without it what is missing stays so.
  ///   - schema: its tables, with the numbers that the store's objects have.
  /// - Returns: what was made anew, as sentences.
  package func complete(with model: Model?, _ schema: StoreSchema?) throws -> [String] {
    var notes: [String] = []
    let present = try DatabaseTables(connection)
    for table in StoreSchema.bookkeepingStatements where !present.contains(table.name) {
      try connection.execute(table.sql)
      notes.append("There was no \(table.name).")
    }
    let cached = try cachedModel()
    let model = model ?? cached
    if let model, cached == nil {
      try connection.run("DELETE FROM Z_MODELCACHE")
      try connection.run(
        "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)",
        [.blob(try ModelCache.deflate(model.archived()))])
      notes.append("The model cache (Z_MODELCACHE) was not readable and was made of the model.")
    }
    if (try? StoreMetadata(connection, path: "")) == nil, let model {
      let uuid = try connection.value("SELECT Z_UUID FROM Z_METADATA LIMIT 1")?.text
      try connection.run("DELETE FROM Z_METADATA")
      try StoreCreation.writeMetadata(of: model, uuid: uuid ?? StoreWriter.newUUID(), connection)
      notes.append(
        "The metadata (Z_METADATA) was not readable and was made of the model"
          + (uuid == nil
            ? ", with a new UUID: what the app keeps as object URIs no longer fits." : ".")
      )
    }
    if let schema = schema ?? model.map({ StoreSchema(model: $0) }) {
      notes += try completeKeys(schema)
    }
    return notes
  }

  private func cachedModel() throws -> Model? {
    guard
      let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob
    else { return nil }
    return try? Model(archive: ModelCache.inflate(bytes))
  }

  /// Entities that have no number get that of a fresh store; counters below the greatest key are raised.
  private func completeKeys(_ schema: StoreSchema) throws -> [String] {
    let rows = try connection.rows("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY")
    let known = rows.compactMap { row -> (number: Int64, name: String)? in
      guard row.count == 3, let number = row[0].integer, let name = row[1].text else { return nil }
      return (number, name)
    }
    let numbers = EntityNumbering.match(model: schema.model, rows: known)
    var made = 0
    for row in schema.primaryKeyRows where numbers[row.name] == nil {
      try connection.run(
        "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
        [.integer(row.number), .text(row.name), .integer(row.parent)])
      made += connection.changes
    }
    var raised = 0
    let present = try DatabaseTables(connection)
    for table in schema.tables where present.contains(table.name) {
      let number = numbers[table.root] ?? schema.numbers[table.root] ?? 0
      let greatest =
        try connection.value("SELECT max(Z_PK) FROM \(quoted(table.name))")?.integer ?? 0
      try connection.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = ?1 WHERE Z_ENT = ?2 AND coalesce(Z_MAX, 0) < ?1",
        [.integer(greatest), .integer(number)])
      raised += connection.changes
    }
    return (made > 0 ? ["Z_PRIMARYKEY lacked \(made) entities."] : [])
      + (raised > 0 ? ["Z_PRIMARYKEY lagged behind the greatest key of \(raised) tables."] : [])
  }
}

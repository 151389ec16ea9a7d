import Files
import ManagedModel
import ModelWriting
import SQLite
import StoreTables

/// Makes new, empty stores.
public enum StoreCreation {
  /// The framework version written into new stores: the newest whose files were studied (macOS 26).
  static let frameworkVersion: Int64 = 1526

  /// Writes an empty store of a model, as Core Data would make it.
  ///
  /// - Parameters:
  ///   - path: must not exist yet.
  ///   - uuid: the store's identity; upper-case UUID text.
  /// - Throws: ``CoreDataError`` when the file exists or cannot be written.
  public static func create(at path: String, model: Model, uuid: String) throws {
    _ = try connection(at: path, model: model, uuid: uuid)
  }

  /// Writes an empty store into a file that was made for it and holds nothing yet.
  package static func fill(_ path: String, model: Model, uuid: String) throws {
    _ = try connection(at: path, model: model, uuid: uuid, isMade: true)
  }

  /// - Parameters:
  ///   - withIndexes: false for a caller that fills the tables first and indexes them afterwards.
  ///   - setup: statements to run before any table is made, such as a PRAGMA.
  ///   - isMade: whether the file is there, empty, with the permissions it is to have.
  ///   - metadata: what the metadata are to have besides what every store has, or instead of it.
  static func connection(
    at path: String, model: Model, uuid: String, withIndexes: Bool = true, setup: String = "",
    isMade: Bool = false, metadata: [String: PropertyListValue] = [:]
  ) throws -> (
    Connection, StoreSchema
  ) {
    guard isMade || FileSystem.status(path) == nil else {
      throw CoreDataError(
        .refused, "the file exists already", path: path, hint: "Name a file that does not exist.")
    }
    try EntityNumbering.requireRoom(for: model, path: path)
    let schema = StoreSchema(model: model)
    do {
      // A caller may do without a journal: the file is new, and all of it is this program's own.
      let connection = try Connection(
        path: path, mode: isMade ? .made : .create, isDefensive: false)
      try connection.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;" + setup)
      try connection.transaction {
        for sql in schema.tableStatements { try connection.execute(sql) }
        if withIndexes { try schema.makeIndexes(on: connection) }
        for table in StoreSchema.bookkeepingStatements { try connection.execute(table.sql) }
        for row in schema.primaryKeyRows {
          try connection.run(
            "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
            [.integer(row.number), .text(row.name), .integer(row.parent)])
        }
        try writeMetadata(of: model, uuid: uuid, besides: metadata, connection)
        try connection.run(
          "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)",
          [.blob(try ModelCache.deflate(model.archived()))])
      }
      return (connection, schema)
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path, kind: .failed)
    }
  }

  /// Writes the row of Z_METADATA that a store of a model has.
  static func writeMetadata(
    of model: Model, uuid: String, besides others: [String: PropertyListValue] = [:],
    _ connection: Connection
  ) throws {
    let metadata = StoreMetadata(
      uuid: uuid,
      values: [
        "NSStoreType": .string("SQLite"),
        "NSPersistenceFrameworkVersion": .integer(frameworkVersion),
        "_NSAutoVacuumLevel": .string("2"),
      ]
    ).updated(for: model).values.merging(others) { _, given in given }
    try connection.run(
      "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
      [.text(uuid), .blob(PropertyList.binary(.dictionary(metadata)))])
  }
}

/// Where a new store may be: in a folder that can be written to, under a name that is free, also with
/// the endings of what SQLite and Core Data keep beside a store. What lies there would be taken for the
/// new store's own.
package enum NewStorePlace {
  /// What interrupted runs left in the folder is removed first.
  ///
  /// - Parameter stores: the stores at hand.
  /// - Throws: ``CoreDataError`` where nothing may be written there.
  package static func require(_ path: String, besides stores: [String] = []) throws {
    PendingOutput.removeAbandoned(beside: path)
    let files = StoreFiles(path: path)
    guard FileIdentity(of: path) == nil else {
      throw CoreDataError(
        .refused, "the file exists already", path: path, hint: "Name a file that does not exist.")
    }
    let places =
      StoreSuffix.companions.map { (path + $0, $0) }
      + [(files.supportFolder, "folder of external data")]
    for (other, what) in places where FileIdentity(of: other) != nil {
      throw CoreDataError(
        .refused, "a \(what) of such a store is there already", path: other,
        hint: "Name another store, or move that away.")
    }
    if let refusal = OutputPlace.refusal(toWrite: "the new store", at: path, besides: stores) {
      throw refusal
    }
  }
}

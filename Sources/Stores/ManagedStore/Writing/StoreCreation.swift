import Files
import ManagedModel
import ModelWriting
import SQLite

extension StoreSchema {
  /// CREATE TABLE of every table, in the order in which Core Data makes them.
  package var tableStatements: [String] {
    statements.map {
      switch $0 {
      case .table(let place): tables[place].sql
      case .join(let place): joins[place].sql
      }
    }
  }

  /// The column of an attribute, an element by its path, or a to-one relationship, own or inherited.
  package func column(of property: String, in entity: String) -> String? {
    guard let table = table(of: entity),
      let declarer = model.declaringEntity(of: property, in: entity)
    else { return nil }
    return
      (table.column(.attribute(entity: declarer, name: property))
      ?? table.column(.toOne(entity: declarer, name: property)))?.name
  }

  /// A name as Core Data writes it: bare where that is sound SQL, else in quotes.
  package static func name(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy {
      $0.isOfWord && $0 < 0x80
    }
    return isPlain ? name : quoted(name)
  }

  /// The bookkeeping tables of every store, by name.
  package static let bookkeepingStatements = [
    (
      name: "Z_PRIMARYKEY",
      sql:
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"
    ),
    (
      name: "Z_METADATA",
      sql:
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"
    ),
    (name: "Z_MODELCACHE", sql: "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"),
  ]

  /// Rows of Z_PRIMARYKEY: number, name, parent's number or 0.
  package var primaryKeyRows: [(number: Int64, name: String, parent: Int64)] {
    model.entitiesInStoreOrder.compactMap { entity in
      guard let number = numbers[entity.name] else { return nil }
      return (number, entity.name, entity.parent.flatMap { numbers[$0] } ?? 0)
    }
  }
}

extension StoreSchema.Table {
  /// CREATE TABLE with the spaces where Core Data puts them.
  package var sql: String { sql(named: name) }

  func sql(named name: String) -> String {
    let columns =
      ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
      + columns.map { "\(StoreSchema.name($0.name)) \($0.type)" }
    return "CREATE TABLE \(StoreSchema.name(name)) ( \(columns.joined(separator: ", ")) )"
  }
}

extension StoreSchema.JoinTable {
  /// CREATE TABLE of the two columns of keys and those of order, with a primary key over both keys.
  package var sql: String {
    let keys = [first, second].map { "\(StoreSchema.name($0)) INTEGER" }
    let orders = [firstOrder, secondOrder].compactMap { $0 }.map {
      "\(StoreSchema.name($0)) INTEGER"
    }
    let columns = keys + orders
    return """
      CREATE TABLE \(StoreSchema.name(name)) ( \(columns.joined(separator: ", ")), \
      PRIMARY KEY (\(StoreSchema.name(first)), \(StoreSchema.name(second))) )
      """
  }
}

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

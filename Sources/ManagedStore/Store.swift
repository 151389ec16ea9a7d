import ManagedModel
import SQLite

/// A Core Data store opened for looking: nothing it does changes a byte of it.
///
/// One caller at a time: a store holds an SQLite handle and is not `Sendable`.
public final class Store {
  /// Where the model came from.
  public enum ModelSource: String, Sendable { case store, file }

  public let path: String
  public let files: StoreFiles
  public let metadata: StoreMetadata
  public let wal: WriteAheadLog
  public let access: StoreFiles.Access
  public let model: Model
  public let modelSource: ModelSource
  /// Whether the model's version hashes are those in the store's metadata.
  public let modelMatches: Bool
  /// Entities with their tables, in the order of their numbers.
  public let entityTables: [EntityTable]
  /// Things a person should know, as sentences.
  public let warnings: [String]

  package let connection: Connection
  package let schema: StoreSchema
  package let database: DatabaseTables
  package let tablesByEntity: [String: EntityTable]
  /// Entity name of a Z_ENT.
  package let entityNames: [Int64: String]
  private let snapshot: Snapshot?

  /// Opens a store with the model in it, or with `model`.
  ///
  /// A store whose only newest rows are in its -wal is read through a private copy in the temporary
  /// folder, which goes away with the `Store`.
  ///
  /// - Parameters:
  ///   - model: read the store with this model instead of the one in it.
  ///   - fallback: candidates for a store without a model cache, such as models that lie beside it;
  ///     the first whose hashes equal the store's is used.
  /// - Throws: ``CoreDataError`` of kind unreadable: not a store, damaged, locked, without a model.
  public init(
    path: String, model given: Model? = nil, fallback: (StoreMetadata) -> Model? = { _ in nil }
  ) throws {
    let files = StoreFiles(path: path)
    let wal = WriteAheadLog(besideStore: path)
    let opened: (connection: Connection, access: StoreFiles.Access, snapshot: Snapshot?)
    do {
      opened = try files.openForReading(wal: wal)
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    }
    let connection = opened.connection
    let metadata = try StoreMetadata(connection, path: path)
    do {
      try FilterFunctions.define(on: connection)
      let database = try DatabaseTables(connection)
      var warnings: [String] = []
      let model: Model
      let source: ModelSource
      if let given {
        (model, source) = (given, .file)
      } else if let cached = try Self.cachedModel(connection, database) {
        (model, source) = (cached, .store)
      } else if let found = fallback(metadata) {
        (model, source) = (found, .file)
        warnings.append("The store has no model in it; it is read with a model found beside it.")
      } else {
        throw CoreDataError(
          .unreadable, code: 134130, "the store has no model in it (no Z_MODELCACHE)", path: path,
          hint: "Give the model that made it with --model MODEL.")
      }
      let hashes = model.versionHashes
      modelMatches = hashes == metadata.versionHashes
      if !modelMatches {
        warnings.append(
          "The model's version hashes are not those of the store (134100): values may be missing.")
      }
      let keys = try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
      let numbers = EntityNumbering.match(
        model: model,
        rows: keys.compactMap { row in
          guard row.count == 2, let number = row[0].integer, let name = row[1].text else {
            return nil
          }
          return (number, name)
        })
      for entity in model.entities where numbers[entity.name] == nil {
        warnings.append("The entity \(entity.name) has no number in this store's Z_PRIMARYKEY.")
      }
      let (schema, missing) = StoreSchema(model: model, numbers: numbers).fitted(to: database)
      for join in missing {
        warnings.append(
          "No join table was found for \(join.entity).\(join.relationship) (\(join.name)).")
      }
      var tables: [EntityTable] = []
      for entity in model.entitiesInStoreOrder {
        guard let table = schema.entityTable(of: entity.name) else { continue }
        if !database.contains(table.table), entity.parent == nil {
          warnings.append("The table \(table.table) of \(entity.name) is missing.")
        }
        tables.append(table.fitted(to: database, warnings: &warnings))
      }
      entityTables = tables
      tablesByEntity = Dictionary(tables.map { ($0.entity, $0) }) { first, _ in first }
      entityNames = Dictionary(tables.map { ($0.number, $0.entity) }) { first, _ in first }
      if wal.ignoredFrames > 0 && wal.frames == 0 {
        warnings.append(
          "The -wal beside the store holds \(wal.ignoredFrames) frames that do not belong to it or were already applied."
        )
      }
      self.path = path
      self.files = files
      self.metadata = metadata
      self.wal = wal
      self.access = opened.access
      self.model = model
      self.modelSource = source
      self.warnings = warnings
      self.connection = connection
      self.schema = schema
      self.database = database
      self.snapshot = opened.snapshot
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    } catch let error as CoreDataError {
      throw error.at(path: path)
    }
  }

  /// The model in Z_MODELCACHE; `nil` where there is none.
  private static func cachedModel(
    _ connection: Connection, _ database: DatabaseTables
  ) throws
    -> Model?
  {
    guard database.contains("Z_MODELCACHE"),
      let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob,
      !bytes.isEmpty
    else { return nil }
    return try Model(archive: ModelCache.inflate(bytes))
  }

  /// Runs `body`, telling SQLite's failures as failures of this store.
  package func reading<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SQLiteError {
      if error.isInterrupted {
        throw CoreDataError(.cancelled, code: 134120, "cancelled", path: path)
      }
      throw CoreDataError(sqlite: error, path: path)
    }
  }

  public func table(of entity: String) -> EntityTable? { tablesByEntity[entity] }

  /// Number of objects of exactly each entity, subentities not included.
  ///
  /// Reads every table once, through the smallest index that will do.
  public func counts() throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for table in entityTables where table.isWholeTable {
      counts.merge(try count(hierarchyOf: table)) { first, _ in first }
    }
    return counts
  }

  /// Number of objects of exactly each entity in the hierarchy of a root entity's table.
  public func count(hierarchyOf table: EntityTable) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    guard database.contains(table.table) else { return counts }
    try reading {
      if table.numbers.count == 1 {
        let count = try connection.value("SELECT count(*) FROM \(quoted(table.table))")
        counts[table.entity] = Int(count?.integer ?? 0)
      } else {
        let rows = try connection.rows(
          "SELECT Z_ENT, count(*) FROM \(quoted(table.table)) GROUP BY Z_ENT")
        for row in rows {
          guard row.count == 2, let number = row[0].integer, let name = entityNames[number] else {
            continue
          }
          counts[name] = Int(row[1].integer ?? 0)
        }
        for number in table.numbers {
          if let name = entityNames[number] { counts[name] = counts[name] ?? 0 }
        }
      }
    }
    return counts
  }
}

extension EntityTable {
  /// The same without the columns that the database does not have, each told as a warning.
  func fitted(to database: DatabaseTables, warnings: inout [String]) -> EntityTable {
    guard database.contains(table) else {
      var copy = self
      copy.attributes = []
      copy.relationships = relationships.map {
        .init(relationship: $0.relationship, storage: .none)
      }
      return copy
    }
    let columns = database.columns(of: table)
    var copy = self
    copy.attributes = attributes.filter { entry in
      guard !columns.contains(entry.column) else { return true }
      warnings.append(
        "The table \(table) has no column \(entry.column) for \(entity).\(entry.attribute.name).")
      return false
    }
    copy.relationships = relationships.map { entry in
      var entry = entry
      switch entry.storage {
      case .toOne(let column, let entityColumn):
        if !columns.contains(column) {
          warnings.append(
            "The table \(table) has no column \(column) for \(entity).\(entry.relationship.name).")
          entry.storage = .none
        } else if let entityColumn, !columns.contains(entityColumn) {
          entry.storage = .toOne(column: column, entityColumn: nil)
        }
      case .foreignKey(let table, let column, let order):
        let there = database.columns(of: table)
        if !there.contains(column) {
          entry.storage = .none
        } else if let order, !there.contains(order) {
          entry.storage = .foreignKey(table: table, column: column, orderColumn: nil)
        }
      case .join(let table, let owner, let destination, let order):
        let there = database.columns(of: table)
        if !there.contains(owner) || !there.contains(destination) {
          entry.storage = .none
        } else if let order, !there.contains(order) {
          entry.storage = .join(
            table: table, owner: owner, destination: destination, orderColumn: nil)
        }
      case .reflexive(let table, _, _):
        if !database.contains(table) { entry.storage = .none }
      case .none: break
      }
      return entry
    }
    return copy
  }
}

import Files
/// Models, values and errors are part of what this library says: who imports it has them.
@_exported import ManagedModel
import SQLite
@_exported import StoreTables

/// A Core Data store opened for looking: nothing it does changes a byte of it.
///
/// One caller at a time: a store holds an SQLite handle and is not `Sendable`.
public final class Store {
  /// Where the model came from.
  public enum ModelSource: String, Sendable {
    /// In the store itself: its model cache.
    case store
    /// Outside: the caller gave it, or the fallback found it.
    case file
    /// Nowhere: it was made of the tables and columns, under their own names.
    case raw
  }

  /// The path as it was given.
  public let path: String
  /// The files beside it that belong to it.
  public let files: StoreFiles
  /// Who made the store, and of which model.
  public let metadata: StoreMetadata
  /// What its -wal holds.
  public let wal: WriteAheadLog
  /// How it is being read.
  public let access: StoreFiles.Access
  /// The model it is read with.
  public let model: Model
  /// Whether that model was in the store or came from outside.
  public let modelSource: ModelSource
  /// Whether the model's version hashes are those in the store's metadata.
  public let modelMatches: Bool
  /// The configuration that the store was added for: its metadata has the hashes of that
  /// configuration's entities only, and ``model`` is cut down to them. `nil` for the whole model.
  public let configuration: String?
  /// The model with the entities of all configurations; ``model`` where the store has none.
  package let wholeModel: Model
  /// Entities with their tables, in the order of their numbers.
  public let entityTables: [EntityTable]
  /// Where the tables are not what the model asks for; reported among the warnings, too.
  public let drift: StoreDrift
  /// What is wrong with the file, as far as it is known: a large one is only checked when it is read
  /// whole. `nil` where nothing is.
  public internal(set) var damage: FileDamage?
  /// What the check of the whole file found out about its rows; `nil` before it, and where it could not.
  package internal(set) var facts: ReadFacts?
  /// What of the bookkeeping could not be read and was done without.
  package let flaws: StoreFlaws
  /// What a person should know of the model and the tables, as sentences.
  let openingWarnings: [Advice]
  /// Files beside the store that look like its -wal or its -journal under another name.
  package let strays: [StrayLog]
  /// Placeholders of a -wal or a -journal that is not downloaded.
  package let placeholders: [CloudPlaceholder]
  /// Whether a save was not finished and is read as SQLite rolls it back, by the -journal.
  package let isRolledBack: Bool
  /// Whether a program had the store open when it was opened here.
  package let isInUse: Bool
  /// Whether the file is in WAL mode.
  package let isLogged: Bool
  /// The files as they were before anything of them was read.
  private let fingerprint: StoreFingerprint
  /// Whether the whole file was checked.
  var isInspected: Bool
  /// What is read in place of a damaged file.
  var mended: MendedCopy?

  package internal(set) var connection: Connection
  /// The tables that Core Data would make for the model, with the store's own entity numbers.
  package let schema: StoreSchema
  /// The tables that are really there, those of others included.
  package let database: DatabaseTables
  /// Its tables as a value.
  package let layout: StoreLayout
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
  ///     the first whose hashes equal the store's is used. If there is none either, the store
  ///     opens raw: see ``ModelSource/raw``.
  /// - Throws: ``CoreDataError`` of kind unreadable: not a store, damaged, locked.
  public convenience init(
    path: String, model given: Model? = nil, fallback: (StoreMetadata) -> Model? = { _ in nil }
  ) throws {
    // Behind a link, the -wal and the external data lie beside the real file.
    try self.init(
      path: path, files: StoreFiles(path: FileSystem.canonical(path)), model: given,
      fallback: fallback)
  }

  /// - Parameters:
  ///   - files: where the store's external data is, besides its main file.
  ///   - isLenient: whether metadata and a model cache that cannot be read are done without, and reported
  ///     by ``flaws``: for looking at a store that is known to be damaged.
  ///   - salvages: whether one that SQLite does not open is read page by page, which takes a private copy.
  package init(
    path: String, files: StoreFiles, model given: Model? = nil, isLenient: Bool = false,
    salvages: Bool = true, fallback: (StoreMetadata) -> Model? = { _ in nil }
  ) throws {
    let wal: WriteAheadLog
    let opened: (connection: Connection, access: StoreFiles.Access, snapshot: Snapshot?)
    let soundness: Soundness
    let fingerprint = StoreFingerprint(of: files.path)
    do {
      wal = try WriteAheadLog(besideStore: files.path)
      (opened, soundness) = try files.openAnyhow(
        wal: wal, model: given, salvages: salvages)
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    } catch let error as CoreDataError {
      throw error.at(path: path, insteadOf: files.path)
    }
    let connection = soundness.mended?.connection ?? opened.connection
    Self.setCache(of: connection, kilobytes: Self.cacheSize)
    var flaws = StoreFlaws()
    let metadata: StoreMetadata
    do {
      metadata = try StoreMetadata(connection, path: path)
    } catch let error as CoreDataError where isLenient && StoreFlaws.isOfCoreData(connection) {
      metadata = StoreMetadata(uuid: "", values: [:])
      flaws.metadata = error
    }
    do {
      try StoreFunctions.define(on: connection)
      // Of a damaged file, too, as it is: not every index can be rebuilt.
      let database = try DatabaseTables(opened.connection)
      var warnings: [Advice] = []
      var model: Model
      let source: ModelSource
      var raw: RawSchema?
      if let given {
        (model, source) = (given, .file)
      } else if let (cached, damage) = try Self.cachedModel(
        connection, database, isLenient: isLenient, flaws: &flaws,
        orElse: { fallback(metadata) })
      {
        (model, source) = (cached, damage == nil ? .store : .file)
        if let damage {
          warnings.append("\(damage.message): the store is read with a model found beside it.")
        }
      } else if let found = fallback(metadata) {
        (model, source) = (found, .file)
        warnings.append("The store has no model in it; it is read with a model found beside it.")
      } else {
        let made = try RawSchema(connection, database)
        (model, source) = (made.model, .raw)
        warnings += made.warnings
        raw = made
      }
      let schema: StoreSchema
      var tables: [EntityTable] = []
      wholeModel = model
      if let raw {
        modelMatches = false
        configuration = nil
        schema = StoreSchema(model: model, numbers: raw.numbers)
        var drift = StoreDrift()
        drift.missingTables = raw.missingTables
        self.drift = drift
        tables = raw.tables
      } else {
        let hashes = model.versionHashes
        let part = model.configurations(matching: metadata.versionHashes, of: hashes).lazy
          .compactMap { [model] name in model.restricted(to: name).map { (name, $0) } }.first
        if hashes != metadata.versionHashes, let (name, members) = part {
          (configuration, model) = (name, members)
        } else {
          configuration = nil
        }
        modelMatches = configuration != nil || hashes == metadata.versionHashes
        if !modelMatches, !MadeModels.has(path) { warnings.append(Self.mismatch) }
        let keys =
          isLenient && !database.contains("Z_PRIMARYKEY")
          ? [] : try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
        var numbers = EntityNumbering.match(
          model: model,
          rows: keys.compactMap { row in
            guard row.count == 2, let number = row[0].integer, let name = row[1].text else {
              return nil
            }
            return (number, name)
          })
        // Their rows show what Z_PRIMARYKEY does not.
        let told =
          modelMatches || flaws.metadata != nil
          ? try EntityNumbering.told(byRowsOf: model, besides: numbers, database, connection) : [:]
        numbers.merge(told) { first, _ in first }
        let fresh = StoreSchema(model: model, numbers: numbers)
        let missing: [StoreSchema.JoinTable]
        (schema, missing) = fresh.fitted(to: database)
        var drift = try schema.drift(
          of: database, expected: fresh, missing: missing, connection: connection)
        drift.numbers += told.sorted { $0.value < $1.value }.map {
          .init(entity: $0.key, number: $0.value, problem: .missing)
        }
        self.drift = drift
        warnings += drift.sentences.map { Advice(stringLiteral: $0) }
        warnings += schema.assumptions.map { Advice(stringLiteral: $0) }
        tables = StoreLayout(schema: schema, in: database).entityTables
      }
      self.flaws = flaws
      entityTables = tables
      layout = StoreLayout(
        path: path, uuid: metadata.uuid, model: model, entityTables: tables,
        mirror: MirrorTables(database, uuid: metadata.uuid))
      entityNames = Dictionary(tables.map { ($0.entityID, $0.entity) }) { first, _ in first }
      self.path = path
      self.files = files
      self.metadata = metadata
      self.wal = wal
      self.access = opened.access
      self.fingerprint = fingerprint
      self.model = model
      self.modelSource = source
      openingWarnings = warnings
      damage = soundness.damage
      mended = soundness.mended
      isInspected = soundness.isInspected
      strays = StrayLog.all(beside: files.path)
      placeholders = CloudPlaceholder.companions(ofStore: files.path)
      isRolledBack = try files.hasHotJournal()
      isInUse = StoreLock.user(of: files.path) != nil
      let head = try FileSystem.read(files.path, limit: 20)
      isLogged = head.count == 20 && head[18] == 2
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

  /// Whether another program wrote to the main file since the store was opened, so that what was read may be of
  /// two states: one that is read through its log, or by a private copy, is of one.
  package var isChanged: Bool {
    guard access == .immutable || mended != nil else { return false }
    return StoreFingerprint(of: files.path).isWritten(since: fingerprint)
  }

  /// Reads on in the state that the store is in now, whatever a program saves that has it open.
  ///
  /// Until the store is closed that program cannot restart its -wal, so use it for short work only.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  package func holdState() throws {
    guard access == .live else { return }
    try translating {
      try connection.execute("BEGIN")
      _ = try connection.value("SELECT count(*) FROM sqlite_master")
    }
  }

  /// The model in Z_MODELCACHE, `nil` if there is none; a damaged one is replaced by another
  /// where there is another, and its damage reported.
  private static func cachedModel(
    _ connection: Connection, _ database: DatabaseTables, isLenient: Bool,
    flaws: inout StoreFlaws, orElse fallback: () -> Model?
  ) throws -> (model: Model, damage: CoreDataError?)? {
    guard database.contains("Z_MODELCACHE"),
      let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob,
      !bytes.isEmpty
    else { return nil }
    do {
      return (try Model(archive: ModelCache.inflate(bytes)), nil)
    } catch let error as CoreDataError {
      flaws.modelCache = error
      guard let other = fallback() else {
        guard isLenient else { throw error }
        return nil
      }
      return (other, error)
    }
  }

  /// Where an entity's objects are; `nil` for an entity the store does not have.
  public func table(of entity: String) -> EntityTable? { layout.table(of: entity) }
}

extension Store {
  /// Number of objects of exactly each entity, subentities not included.
  ///
  /// Reads every table once, through the smallest index that will do.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func counts() throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for table in entityTables where table.isWholeTable {
      counts.merge(try count(hierarchyOf: table)) { first, _ in first }
    }
    return counts
  }

  /// Number of objects of exactly each entity in the hierarchy of a root entity's table.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func count(hierarchyOf table: EntityTable) throws -> [String: Int] {
    try reading { try countedOnce(hierarchyOf: table) }
  }

  private func countedOnce(hierarchyOf table: EntityTable) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for number in table.numbers { entityNames[number].map { counts[$0] = 0 } }
    guard database.contains(table.table) else { return counts }
    guard table.numbers.count > 1 else {
      let count = try connection.value("SELECT count(*) FROM \(quoted(table.table))")
      counts[table.entity] = Int(count?.integer ?? 0)
      return counts
    }
    for row in try connection.rows(
      "SELECT Z_ENT, count(*) FROM \(quoted(table.table)) GROUP BY Z_ENT")
    {
      guard row.count == 2, let name = row[0].integer.flatMap({ entityNames[$0] }) else { continue }
      counts[name] = Int(row[1].integer ?? 0)
    }
    return counts
  }

  /// The same as ``counts()`` for whom something is better than nothing: what a few milliseconds
  /// give, the small tables first, and then what the rest of the time does.
  ///
  /// Nothing is thrown, and nothing mended: a table that cannot be counted, or not in time, is not
  /// among those that `report` is called with. It is called with all that is known, now and then.
  package func earlyCounts(
    within limit: Duration = .milliseconds(100), _ report: ([String: Int]) -> Void
  ) {
    let end = ContinuousClock.now + limit
    var counts: [String: Int] = [:]
    var waiting = entityTables.filter(\.isWholeTable)
    for share in [limit / 20, limit] {
      let isFirstRound = share < limit
      waiting = waiting.filter { table in
        let now = ContinuousClock.now
        guard now < end, !connection.shouldStop else { return true }
        let stop = min(end, now + share)
        let found = connection.stopping(when: { ContinuousClock.now > stop }) {
          try? countedOnce(hierarchyOf: table)
        }
        guard let found else { return true }
        counts.merge(found) { first, _ in first }
        if !isFirstRound { report(counts) }
        return false
      }
      if isFirstRound, !counts.isEmpty { report(counts) }
    }
  }
}

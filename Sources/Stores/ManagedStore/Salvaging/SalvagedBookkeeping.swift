import ManagedModel
import ModelWriting
import SQLite
import StoreTables

/// What Core Data keeps beside the objects, in a database that was made of a damaged one.
package struct SalvagedBookkeeping {
  private let connection: Connection

  /// That of a database whose rows are all there.
  package init(_ connection: Connection) { self.connection = connection }

  /// Something that was rebuilt, with what was there before where that can be determined.
  package struct Change: Sendable, Equatable {
    /// What was rebuilt.
    package enum Place: Sendable, Equatable {
      /// A table that was not there.
      case table(String)
      /// Z_MODELCACHE.
      case modelCache
      /// Z_METADATA; whether its UUID could be kept.
      case metadata(keepsUUID: Bool)
      /// An entity's row in Z_PRIMARYKEY.
      case number(entity: String)
      /// An entity's parent there.
      case parent(entity: String)
      /// The last key given out of an entity's hierarchy.
      case maximum(entity: String)
    }

    /// What was rebuilt.
    package var place: Place
    /// What stood there; `nil` where nothing did, or nothing that can be determined.
    package var old: String?
    /// What stands there now; `nil` where it was taken out.
    package var new: String?
  }

  /// Makes again what is not there or cannot be read: metadata, model cache, entities and counters.
  ///
  /// - Parameters:
  ///   - model: the model of the store; without it what is missing stays so.
  ///   - schema: its tables, with the numbers that the store's objects have.
  /// - Returns: what was rebuilt, as sentences, and the tables whose content is made anew.
  package func complete(
    with model: Model?, _ schema: StoreSchema?
  ) throws -> (notes: [String], rebuilt: Set<String>) {
    var changes = try completeTables()
    let model = try model ?? cachedModel()
    if let model {
      changes += try completeModelCache(with: model)
      changes += try completeMetadata(with: model)
    }
    if let schema = schema ?? model.map({ StoreSchema(model: $0) }) {
      changes += try completeNumbers(schema) + raiseMaxima(schema)
    } else {
      changes += try raiseMaxima()
    }
    let rebuilt = changes.compactMap { change -> String? in
      switch change.place {
      case .modelCache: "Z_MODELCACHE"
      case .metadata: "Z_METADATA"
      default: nil
      }
    }
    return (Self.sentences(changes), Set(rebuilt))
  }

  private static func sentences(_ changes: [Change]) -> [String] {
    var notes: [String] = []
    var (numbers, maxima) = (0, 0)
    for change in changes {
      switch change.place {
      case .table(let name): notes.append("\(name) was missing.")
      case .modelCache:
        notes.append(
          "The model cache (Z_MODELCACHE) was not readable and was rebuilt from the model.")
      case .metadata(let keepsUUID):
        notes.append(
          "The metadata (Z_METADATA) was not readable and was rebuilt from the model"
            + (keepsUUID
              ? "." : ", with a new UUID: object URIs that the app saved are no longer valid."))
      case .number: numbers += 1
      case .maximum: maxima += 1
      case .parent: continue
      }
    }
    return notes
      + (numbers > 0
        ? ["Z_PRIMARYKEY lacked \(NumberText.counted(numbers, "entity", plural: "entities"))."]
        : [])
      + (maxima > 0
        ? [
          "Z_PRIMARYKEY was raised to the greatest keys of \(maxima) \(maxima == 1 ? "table" : "tables")."
        ] : [])
  }

  /// Makes the tables that every store has, where they are not there.
  ///
  /// - Parameter names: only these; `nil` for all.
  package func completeTables(_ names: Set<String>? = nil) throws -> [Change] {
    let present = try DatabaseTables(connection)
    return try StoreSchema.bookkeepingStatements.compactMap { table in
      guard !present.contains(table.name), names?.contains(table.name) ?? true else { return nil }
      try connection.execute(table.sql)
      return Change(place: .table(table.name), new: table.name)
    }
  }

  /// The model in the database itself; `nil` if none can be read.
  package func cachedModel() throws -> Model? {
    guard
      let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob
    else { return nil }
    return try? Model(archive: ModelCache.inflate(bytes))
  }

  /// Writes a model into Z_MODELCACHE where that has none that can be read.
  ///
  /// - Parameter replacesOther: whether one of other hashes is replaced, too.
  package func completeModelCache(
    with model: Model, replacesOther: Bool = false
  ) throws -> [Change] {
    let cached = try cachedModel()
    guard cached == nil || replacesOther && cached?.versionHashes != model.versionHashes else {
      return []
    }
    try connection.run("DELETE FROM Z_MODELCACHE")
    try connection.run(
      "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)",
      [.blob(try ModelCache.deflate(model.archived()))])
    return [
      Change(
        place: .modelCache,
        old: cached.map { "a model with other version hashes: \($0.versionChecksum)" },
        new: model.versionChecksum)
    ]
  }

  /// Writes metadata of a model if none can be read; the UUID stays where it can be.
  package func completeMetadata(with model: Model) throws -> [Change] {
    guard (try? StoreMetadata(connection, path: "")) == nil else { return [] }
    let old = try connection.value("SELECT Z_UUID FROM Z_METADATA LIMIT 1")?.text
    let uuid = old ?? UUIDText.random()
    try connection.run("DELETE FROM Z_METADATA")
    try StoreCreation.writeMetadata(of: model, uuid: uuid, connection)
    return [Change(place: .metadata(keepsUUID: old != nil), old: old, new: uuid)]
  }

  private func knownNumbers(_ schema: StoreSchema) throws -> [String: Int64] {
    let rows = try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
    return EntityNumbering.match(
      model: schema.model,
      rows: rows.compactMap { row in
        guard row.count == 2, let number = row[0].integer, let name = row[1].text else {
          return nil
        }
        return (number, name)
      })
  }

  /// Entities that have no number get the one that the schema has for them.
  package func completeNumbers(_ schema: StoreSchema) throws -> [Change] {
    let numbers = try knownNumbers(schema)
    return try schema.primaryKeyRows.compactMap { row in
      guard numbers[row.name] == nil else { return nil }
      try connection.run(
        "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
        [.integer(row.number), .text(row.name), .integer(row.parent)])
      guard connection.changes > 0 else { return nil }
      return Change(place: .number(entity: row.name), new: String(row.number))
    }
  }

  /// Counters below the greatest key in use are raised to it.
  ///
  /// - Parameter roots: only those of these hierarchies; `nil` for all.
  package func raiseMaxima(
    _ schema: StoreSchema, of roots: Set<String>? = nil
  ) throws -> [Change] {
    let numbers = try knownNumbers(schema)
    return try raiseMaxima(
      schema.tables.map {
        ($0.name, $0.root, numbers[$0.root] ?? schema.numbers[$0.root] ?? 0)
      }, of: roots)
  }

  /// The same without a model: of the entities at the top of a hierarchy, by the names that their rows in Z_PRIMARYKEY
  /// have. Core Data would give keys that are in use to new objects.
  private func raiseMaxima() throws -> [Change] {
    let columns = try DatabaseTables(connection).columns(of: "Z_PRIMARYKEY")
    guard columns.isSuperset(of: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]) else { return [] }
    let rows = try connection.rows(
      "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 OR Z_SUPER IS NULL")
    return try raiseMaxima(
      rows.compactMap { row in
        guard row.count == 2, let number = row[0].integer, let name = row[1].text,
          HistoryTable(rawValue: number) == nil
        else { return nil }
        return ("Z" + name.uppercased(), name, number)
      })
  }

  private func raiseMaxima(
    _ objects: [(table: String, entity: String, number: Int64)], of roots: Set<String>? = nil
  ) throws -> [Change] {
    let present = try DatabaseTables(connection)
    let history = HistoryTable.allCases.map {
      (table: $0.name, entity: $0.entity, number: $0.rawValue)
    }
    return try (objects + history).compactMap { table, entity, number in
      guard roots?.contains(entity) ?? true, present.columns(of: table).contains("Z_PK") else {
        return nil
      }
      let keys = PrimaryKeys(connection)
      let greatest = try keys.used(in: table) ?? 0
      guard let stated = try keys.counter(number), stated < greatest else { return nil }
      try keys.raise(number, to: greatest)
      return Change(
        place: .maximum(entity: entity), old: String(stated), new: String(greatest))
    }
  }

  /// Rows of Z_PRIMARYKEY name the parents that the model has, and none but its entities; a row whose
  /// number objects have stays.
  package func correctNumbers(_ schema: StoreSchema) throws -> [Change] {
    let names = Dictionary(schema.numbers.map { ($0.value, $0.key) }) { first, _ in first }
    let parents = Dictionary(
      schema.primaryKeyRows.map { ($0.number, $0.parent) }
    ) { first, _ in first }
    let present = try DatabaseTables(connection)
    let tables = schema.tables.map(\.name).filter(present.contains)
    var changes: [Change] = []
    for row in try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY") {
      guard row.count == 3, let number = row[0].integer, number < EntityNumbering.firstReserved
      else { continue }
      if let name = names[number], let parent = parents[number] {
        let stated = row[2].integer ?? 0
        guard stated != parent else { continue }
        try connection.run(
          "UPDATE Z_PRIMARYKEY SET Z_SUPER = ? WHERE Z_ENT = ?",
          [.integer(parent), .integer(number)])
        changes.append(
          Change(place: .parent(entity: name), old: String(stated), new: String(parent)))
      } else if names[number] == nil {
        let isUsed = try tables.contains { table in
          try connection.value(
            "SELECT 1 FROM \(quoted(table)) WHERE Z_ENT = ? LIMIT 1", [.integer(number)]) != nil
        }
        guard !isUsed else { continue }
        try connection.run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])
        changes.append(
          Change(place: .number(entity: row[1].text ?? ""), old: String(number)))
      }
    }
    return changes
  }
}

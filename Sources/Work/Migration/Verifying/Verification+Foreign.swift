import ManagedModel
import ManagedStore
import SQLite

/// What Core Data keeps for itself in a store that others may have written, beside what it was before.
extension Verification {
  /// Identity, model cache, entities and counters, each by itself.
  func verifyForeignBookkeeping(_ report: inout VerificationReport) throws {
    try verifyIdentity(&report)
    try verifyModelCache(&report)
    try verifyPrimaryKeys(&report)
    if comparesBookkeeping { try verifyMetadata(&report) }
  }

  private func verifyIdentity(_ report: inout VerificationReport) throws {
    func uuid(_ database: String) throws -> String {
      try connection.value("SELECT Z_UUID FROM \(database).Z_METADATA LIMIT 1")?.text ?? ""
    }
    let (before, after) = (try uuid("src"), try uuid("main"))
    guard before != after else { return }
    report.fail(.uuid, entity: nil, message: "the store’s UUID is \(after), and was \(before)")
  }

  /// The model in the store is the one that it is of; one that had none need not have any.
  private func verifyModelCache(_ report: inout VerificationReport) throws {
    let table = "Z_MODELCACHE"
    func content(_ database: String, _ tables: DatabaseTables) throws -> [UInt8]? {
      guard tables.contains(table) else { return nil }
      let bytes = try connection.value("SELECT Z_CONTENT FROM \(database).\(table) LIMIT 1")?.blob
      return bytes?.isEmpty == false ? bytes : nil
    }
    guard let after = try content("main", DatabaseTables(connection)) else {
      guard try content("src", schemas.store.database) != nil else { return }
      return report.fail(
        .modelCache, entity: nil, message: "the model in the store (\(table)) is missing")
    }
    // What is odd in both is no difference.
    if schemas.isOfOneVersion, try content("src", schemas.store.database) == after { return }
    do {
      let hashes = try Model(archive: ModelCache.inflate(after)).versionHashes
      report.verified.append(.init(what: "entities of the model in the store", count: hashes.count))
      let stored = try StoreMetadata(connection, path: "").versionHashes
      // Of a configuration the store has fewer.
      for entity in stored.keys.sorted() where hashes[entity] != stored[entity] {
        report.fail(
          .modelCache, entity: entity,
          message: hashes[entity] == nil
            ? "the model in the store (\(table)) lacks the entity"
            : "the model in the store (\(table)) has another version hash of the entity")
      }
    } catch let error as CoreDataError {
      report.fail(
        .modelCache, entity: nil,
        message: "the model in the store (\(table)) cannot be read: \(error.message)")
    }
  }

  /// Names, parents and counters of Z_PRIMARYKEY, row by row.
  private func verifyPrimaryKeys(_ report: inout VerificationReport) throws {
    func rows(_ database: String) throws -> [Int64: [Value]] {
      let rows = try connection.rows(
        "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM \(database).Z_PRIMARYKEY")
      return Dictionary(
        first: rows.compactMap { row in
          row.first?.integer.flatMap { row.count == 4 ? ($0, row) : nil }
        })
    }
    let (before, after) = (try rows("src"), try rows("main"))
    var compared = 0
    for row in try schemas.primaryKeys(on: connection) {
      // One that is missing is reported already.
      guard row.count == 4, let number = row[0].integer, let found = after[number] else { continue }
      compared += 1
      func fail(_ column: String, _ index: Int) {
        report.fail(
          .primaryKey, entity: row[1].text,
          message:
            "\(column) of its row in Z_PRIMARYKEY is \(found[index].shown), not \(row[index].shown)"
        )
      }
      /// Whether a column is as planned, or as it was in a store of the same version.
      func isRight(_ index: Int) -> Bool {
        found[index] == row[index]
          || schemas.isOfOneVersion && found[index] == before[number]?[index]
      }
      // A migration in place can leave an entity's earlier name.
      if !isRight(1), found[1] != before[number]?[1] { fail("Z_NAME", 1) }
      if !isRight(2) { fail("Z_SUPER", 2) }
      if comparesBookkeeping, !isRight(3) { fail("Z_MAX", 3) }
    }
    report.verified.append(.init(what: "rows of Z_PRIMARYKEY", count: compared))
  }

  /// Transactions of history: all that were there, and no other than those that a migration leaves.
  func verifyForeignTransactions(_ report: inout VerificationReport) throws {
    let table = "ATRANSACTION"
    let tables = try DatabaseTables(connection)
    guard schemas.store.database.contains(table) else { return }
    guard tables.contains(table) else {
      return report.fail(
        .history, entity: nil, message: "the table \(table) of history is missing")
    }
    let columns = schemas.store.database.columns(of: table).intersection(tables.columns(of: table))
      .sorted().map(quoted).joined(separator: ", ")
    let lost = try count(
      "(SELECT \(columns) FROM src.\(table) EXCEPT SELECT \(columns) FROM main.\(table))")
    if lost > 0 {
      report.fail(
        .history, entity: nil,
        message:
          "\(NumberText.counted(lost, "transaction")) of history \(lost == 1 ? "is" : "are") missing or changed",
        count: lost)
    }
    // What a migration leaves names no change.
    let new = try count(
      """
      (SELECT 1 FROM main.\(table) t WHERE t.Z_PK NOT IN (SELECT Z_PK FROM src.\(table))
      AND (\(schemas.isOfOneVersion ? 1 : 0) OR EXISTS
      (SELECT 1 FROM main.ACHANGE c WHERE c.ZTRANSACTIONID = t.Z_PK)))
      """)
    if new > 0 {
      report.fail(
        .history, entity: nil, message: "history has \(NumberText.counted(new, "new transaction"))",
        count: new)
    }
    report.verified.append(
      .init(what: "transactions of history", count: try count("src.\(table)")))
  }
}

extension StepSchemas {
  /// Whether both stores are of one version of the model.
  var isOfOneVersion: Bool { sourceModel.versionHashes == destinationModel.versionHashes }
}

extension Value {
  /// As a message shows it.
  fileprivate var shown: String {
    switch self {
    case .text(let text): "“\(text)”"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .blob(let bytes): "\(bytes.count) bytes"
    case .null: "NULL"
    }
  }
}

/// The file itself, what is counted in it, and that nothing was forgotten.
extension Verification {
  /// No object may be forgotten: in an inferred mapping, every entity of either model has its own.
  func verifyCoverage(_ report: inout VerificationReport) {
    guard step.mapping.kind == .inferred else { return }
    let sources = Set(step.mapping.entityMappings.compactMap(\.source))
    let destinations = Set(step.mapping.entityMappings.compactMap(\.destination))
    for entity in schemas.store.model.entities where !sources.contains(entity.name) {
      report.fail(entity: entity.name, message: "no mapping took the objects")
    }
    for entity in step.destination.entities where !destinations.contains(entity.name) {
      report.fail(entity: entity.name, message: "no mapping made the entity")
    }
  }

  func verifyBookkeeping(_ report: inout VerificationReport) throws {
    let known = Set(
      try connection.rows("SELECT Z_ENT FROM main.Z_PRIMARYKEY").compactMap { $0.first?.integer })
    for (entity, number) in destination.numbers.sortedByBytes(\.key)
    where !known.contains(number) {
      report.fail(
        .primaryKey, entity: entity, message: "Z_PRIMARYKEY has no row for the entity")
    }
    let (keys, former) = (PrimaryKeys(connection), PrimaryKeys(connection, in: "src."))
    for table in destination.tables {
      guard let number = destination.numbers[table.root], known.contains(number) else { continue }
      let (given, used) = (try keys.given(number), try keys.used(in: table.name))
      guard given ?? -1 < used ?? 0 else { continue }
      // What is as it was is no difference.
      if isForeign, schemas.isOfOneVersion, schemas.store.database.contains(table.name),
        try former.given(number) == given, try former.used(in: table.name) == used
      {
        report.notes.append(
          "The last key given out (Z_MAX) of \(table.root) is too small in both stores.")
        continue
      }
      report.fail(
        .primaryKey, entity: table.root, message: "the last key given out (Z_MAX) is too small")
    }
    guard !isForeign else { return try verifyForeignBookkeeping(&report) }
    let planned = try schemas.primaryKeys(on: connection)
    for row in planned {
      let there = try connection.rows(
        "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM main.Z_PRIMARYKEY WHERE Z_ENT = ?", [row[0]])
      if there != [row] {
        report.fail(
          .primaryKey, entity: row[1].text,
          message: "its row of Z_PRIMARYKEY does not match the plan")
      }
    }
    try verifyMetadata(&report)
    report.verified.append(
      .init(what: "entities' version hashes", count: step.destination.entities.count))
  }

  /// What the metadata say to CloudKit mirroring, and of a deferred migration.
  func verifyMetadata(_ report: inout VerificationReport) throws {
    let metadata = try StoreMetadata(connection, path: "")
    // Stores of old frameworks have fewer keys, and a copy of one has no more.
    let planned =
      isForeign && schemas.isOfOneVersion
      ? schemas.store.metadata
      : schemas.store.metadata.updated(
        for: step.destination, needsZoneFetch: schemas.needsZoneFetch)
    if metadata.values != planned.values {
      let names = Set(metadata.values.keys).union(planned.values.keys).filter {
        metadata.values[$0] != planned.values[$0]
      }
      report.fail(
        .metadata, entity: nil,
        message: "the metadata do not match the plan (\(names.sorted().joined(separator: ", ")))"
      )
    }
  }
}

extension Verification {
  /// Tables of CloudKit and of the app, whose text is as it was, hold what they held.
  ///
  /// What follows the numbers of entities, or the names of relationships, is left out where these change.
  func verifyOtherTables(_ known: KnownRows?, _ report: inout VerificationReport) throws {
    let (former, database) = (schemas.store.schema, schemas.store.database)
    var planned = Set(StoreSchema.bookkeepingStatements.map(\.name))
    for schema in [former, destination] {
      planned.formUnion(schema.tables.map(\.name))
      planned.formUnion(schema.joins.map(\.name))
      planned.formUnion(schema.rtreeIndexes.map(\.name))
    }
    let names = try connection.rows(
      """
      SELECT m.name FROM main.sqlite_master m JOIN src.sqlite_master s
      ON s.type = 'table' AND s.name = m.name AND s.sql = m.sql
      WHERE m.type = 'table' AND m.rootpage > 0 ORDER BY m.name
      """
    ).compactMap { $0.first?.text }.filter { name in
      !planned.contains(name) && !name.hasPrefix("sqlite_") && !follows(name)
        && !database.virtual.contains { name.hasPrefix($0 + "_") }
    }
    for name in names where known?.isSame(name) != true {
      try meter.checkCancelled()
      let (before, after) = ("src.\(quoted(name))", "main.\(quoted(name))")
      let lost = try count("(SELECT * FROM \(before) EXCEPT SELECT * FROM \(after))")
      let difference = try abs(count(after) - count(before))
      guard lost > 0 || difference > 0 else { continue }
      report.fail(
        name.hasPrefix("ANSCK") ? .cloudKit : .otherTables, entity: nil,
        message: "\(max(lost, difference)) rows of the table \(name) are not as they were",
        count: max(lost, difference))
    }
    if !names.isEmpty {
      report.verified.append(
        .init(what: "tables that no model asks for, row by row", count: names.count))
    }
  }

  private func follows(_ table: String) -> Bool {
    table == "ANSCKMIRROREDRELATIONSHIP" || Self.historyTables.contains(table)
      || (!schemas.keepsNumbers || !comparesBookkeeping) && table.hasPrefix("ANSCK")
  }
}

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

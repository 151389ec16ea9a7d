import ManagedModel
import ManagedStore
import SQLite

/// What can be determined of a store that does not open though its header and its size are in order.
struct Unopened {
  let place: StorePlace
  let files: StoreFiles
  let log: WriteAheadLog

  func findings() -> [Finding] {
    do {
      try files.check()
      let opened = try files.openForReading(wal: log)
      return try withExtendedLifetime(opened.snapshot) { try findings(opened.connection) }
    } catch let error as SQLiteError where error.isDamage {
      return [gone(error)]
    } catch {
      return []
    }
  }

  private func gone(_ error: SQLiteError) -> Finding {
    Finding(
      .schemaGone, "The list of tables (sqlite_master) cannot be read: \(error.message).", in: place
    )
  }

  private func findings(_ connection: Connection) throws -> [Finding] {
    let names: Set<String>
    do {
      names = Set(
        try connection.rows("SELECT name FROM sqlite_master").compactMap { $0.first?.text })
    } catch let error as SQLiteError where error.isDamage {
      return [gone(error)]
    }
    guard !names.isEmpty else {
      // A database that nothing was put into; of one page there is nothing that could have been lost.
      guard try connection.number("PRAGMA page_count") > 1 else { return [] }
      return [Finding(.schemaGone, "The list of tables (sqlite_master) is empty.", in: place)]
    }
    // A database of somebody else.
    guard names.contains(where: { $0.hasPrefix("Z_") }) else { return [] }
    let own = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"].filter { !names.contains($0) }
    if own.contains("Z_PRIMARYKEY") {
      return [
        Finding(
          .tableMissing, "Core Data's own tables are missing: \(own.joined(separator: ", ")).",
          count: own.count, first: own, in: place)
      ]
    }
    // Sound, but without a model and without the rows that would name its entities.
    if names.contains("Z_METADATA"),
      (try? connection.number("SELECT count(*) FROM Z_PRIMARYKEY")) == 0
    {
      return [
        Finding(
          .primaryKey, "Z_PRIMARYKEY has no row: no entity of the store is known.", in: place,
          remedy: .repairByModel)
      ]
    }
    return [Finding(.pageUnreadable, "The first pages of the store cannot be read.", in: place)]
  }
}

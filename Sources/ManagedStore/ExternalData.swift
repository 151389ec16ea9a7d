import ManagedModel
import SQLite

/// How a store's external data files fit what its rows name.
public struct ExternalDataReport: Sendable, Equatable {
  /// Files that rows name.
  public var referenced = 0
  /// Named by a row, but not there.
  public var missing: [String] = []
  /// There, but named by no row.
  public var orphaned: [String] = []

  /// Makes a report; without values, that of a store without external data.
  public init(referenced: Int = 0, missing: [String] = [], orphaned: [String] = []) {
    self.referenced = referenced
    self.missing = missing
    self.orphaned = orphaned
  }
}

extension Store {
  /// Compares the rows' references with the files beside the store.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func externalData() throws -> ExternalDataReport {
    var report = ExternalDataReport()
    var named: Set<String> = []
    try reading {
      var columns: Set<String> = []
      for table in entityTables {
        for entry in table.attributes where entry.attribute.allowsExternalBinaryDataStorage {
          let place = quoted(table.table) + "." + quoted(entry.column)
          guard columns.insert(place).inserted else { continue }
          let statement = try connection.prepare(
            """
            SELECT substr(\(quoted(entry.column)), 2, 256) FROM \(quoted(table.table))
            WHERE substr(\(quoted(entry.column)), 1, 1) = x'02'
            """)
          while try statement.step() {
            named.insert(
              String(decoding: statement.bytes(at: 0).prefix { $0 != 0 }, as: UTF8.self))
          }
        }
      }
    }
    let there = Set((try? FileSystem.list(files.externalDataFolder)) ?? [])
    report.referenced = named.count
    report.missing = named.subtracting(there).sorted()
    report.orphaned = there.subtracting(named).sorted()
    return report
  }

  /// Rows of persistent history; `nil` where the store keeps none.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func history() throws -> (transactions: Int, changes: Int)? {
    guard database.contains("ATRANSACTION"), database.contains("ACHANGE") else { return nil }
    return try reading {
      let transactions = try connection.value("SELECT count(*) FROM ATRANSACTION")?.integer ?? 0
      let changes = try connection.value("SELECT count(*) FROM ACHANGE")?.integer ?? 0
      return (Int(transactions), Int(changes))
    }
  }

  /// Rows that CloudKit mirroring has not sent yet; `nil` where the store is not mirrored.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func cloudKit() throws -> (pendingUploads: Int, pendingDeletes: Int)? {
    let table = "ANSCKRECORDMETADATA"
    guard database.contains(table) else { return nil }
    let columns = database.columns(of: table)
    return try reading {
      func pending(_ names: [String]) throws -> Int {
        let there = names.filter(columns.contains)
        guard !there.isEmpty else { return 0 }
        let condition = there.map { "\(quoted($0)) <> 0" }.joined(separator: " OR ")
        return Int(
          try connection.value("SELECT count(*) FROM \(table) WHERE \(condition)")?.integer ?? 0)
      }
      return (
        try pending(["ZNEEDSUPLOAD"]),
        // The first as the specification has it, the others as devices do.
        try pending(["ZNEEDSDELETE", "ZNEEDSCLOUDDELETE", "ZNEEDSLOCALDELETE"])
      )
    }
  }
}

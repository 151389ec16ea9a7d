import Files
import ManagedModel
import SQLite

/// How a store's external data files fit what its rows name.
public struct ExternalDataReport: Sendable, Equatable {
  /// Files that rows name.
  public var referenced = 0
  /// Named by a row, but not there, or not to be followed: see ``outside``.
  public var missing: [String] = []
  /// There, but named by no row.
  public var orphaned: [String] = []
  /// Named by a row, and links to another file in the same folder.
  public var linked: [String] = []
  /// Named by a row, and links that lead out of the folder, which are never followed.
  public var outside: [String] = []

  /// Makes a report; without values, that of a store without external data.
  public init(
    referenced: Int = 0, missing: [String] = [], orphaned: [String] = [], linked: [String] = [],
    outside: [String] = []
  ) {
    self.referenced = referenced
    self.missing = missing
    self.orphaned = orphaned
    self.linked = linked
    self.outside = outside
  }

  /// What a person should know of its links, as sentences.
  package var linkSentences: [String] {
    var sentences: [String] = []
    if !outside.isEmpty {
      sentences.append(
        "External data files that are links out of the store's folder are not followed, and count as missing: \(outside.count) (\(Self.first(outside)))."
      )
    }
    if !linked.isEmpty {
      sentences.append(
        "External data files that are links within the store's folder: \(linked.count) (\(Self.first(linked)))."
      )
    }
    return sentences
  }

  private static func first(_ names: [String]) -> String {
    names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " …" : "")
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
            SELECT \(MarkedBytes.reference(quoted(entry.column))) FROM \(quoted(table.table))
            WHERE \(MarkedBytes.isFile(quoted(entry.column)))
            """)
          while try statement.step() {
            if case .file(let name) = MarkedBytes(statement.bytes(at: 0)) { named.insert(name) }
          }
        }
      }
    }
    let there = Set((try? FileSystem.list(files.externalDataFolder)) ?? [])
    report.referenced = named.count
    for name in named.sorted() {
      switch files.externalPlace(of: name) {
      case .file(_, _, let isLink): if isLink { report.linked.append(name) }
      case .missing: report.missing.append(name)
      case .outside:
        report.missing.append(name)
        report.outside.append(name)
      }
    }
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

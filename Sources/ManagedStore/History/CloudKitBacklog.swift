import ManagedModel
import SQLite

/// What the mirroring of a store to CloudKit has still to do.
///
/// An export begins with history: a store whose records are all sent can have much to send.
public struct CloudKitBacklog: Sendable, Equatable {
  /// Records that an export sends.
  public var pendingUploads = 0
  /// Records that an export deletes in iCloud.
  public var pendingDeletes = 0
  /// Links of many-to-many relationships that an export sends.
  public var pendingLinks = 0
  /// Transactions of history after the last one that the mirroring looked at.
  public var unanalysedTransactions = 0
  /// Changes that the mirroring looked at, and of which it made no record yet.
  public var analysedChanges = 0

  /// A backlog of nothing.
  public init() {}

  /// Whether anything waits.
  public var isEmpty: Bool { self == CloudKitBacklog() }

  /// What waits, each with its number and words for one and for several.
  package var parts: [(count: Int, one: String, several: String)] {
    [
      (pendingUploads, "record to upload", "records to upload"),
      (pendingDeletes, "record to delete", "records to delete"),
      (pendingLinks, "link to upload", "links to upload"),
      (
        unanalysedTransactions, "transaction of history not analysed yet",
        "transactions of history not analysed yet"
      ),
      (analysedChanges, "change without a record yet", "changes without a record yet"),
    ].filter { $0.count > 0 }
  }
}

extension Store {
  /// Whether the store is mirrored to CloudKit: Core Data takes it so where either table is there (cloudkit.md).
  package var isMirrored: Bool {
    database.contains("ANSCKRECORDMETADATA") || database.contains("ANSCKHISTORYANALYZERSTATE")
  }

  /// What the mirroring to CloudKit has still to do; `nil` where the store is not mirrored.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func cloudKit() throws -> CloudKitBacklog? {
    guard isMirrored else { return nil }
    return try reading {
      func count(_ table: String, where condition: String) throws -> Int {
        guard database.contains(table) else { return 0 }
        return Int(
          try connection.value("SELECT count(*) FROM \(table) WHERE \(condition)")?.integer ?? 0)
      }
      var backlog = CloudKitBacklog()
      let records = cloudKitConditions
      backlog.pendingUploads = try count("ANSCKRECORDMETADATA", where: records.upload)
      backlog.pendingDeletes = try count("ANSCKRECORDMETADATA", where: records.delete)
      if database.columns(of: "ANSCKMIRROREDRELATIONSHIP").contains("ZISUPLOADED") {
        backlog.pendingLinks = try count(
          "ANSCKMIRROREDRELATIONSHIP", where: "ifnull(ZISUPLOADED, 0) = 0")
      }
      if hasHistory {
        let last = try lastAnalysedTransaction() ?? 0
        backlog.unanalysedTransactions = try count("ATRANSACTION", where: "Z_PK > \(last)")
      }
      backlog.analysedChanges = try count("ANSCKHISTORYANALYZERSTATE", where: "1")
      return backlog
    }
  }

  /// SQL that is true for records of ANSCKRECORDMETADATA that an export sends, and that it deletes.
  ///
  /// An export takes the rows with needsUpload; those with needsCloudDelete as well are deletions, and the flag of
  /// deletion alone is not sent (cloudkit.md).
  var cloudKitConditions: (upload: String, delete: String) {
    let columns = database.columns(of: "ANSCKRECORDMETADATA")
    // NULL and a number are neither true nor false: a missing flag is not set.
    func isSet(_ column: String) -> String {
      columns.contains(column) ? "ifnull(\(column), 0) <> 0" : "0"
    }
    let (upload, delete) = (isSet("ZNEEDSUPLOAD"), isSet("ZNEEDSCLOUDDELETE"))
    return ("(\(upload) AND NOT \(delete))", "(\(upload) AND \(delete))")
  }

  /// The last transaction that the mirroring looked at; `nil` where it has looked at none.
  ///
  /// The token is a keyed archive whose dictionary has the last transaction by the store's UUID.
  private func lastAnalysedTransaction() throws -> Int64? {
    let columns = database.columns(of: "ANSCKMETADATAENTRY")
    guard columns.isSuperset(of: ["ZKEY", "ZTRANSFORMEDVALUE"]),
      let bytes = try connection.value(
        """
        SELECT ZTRANSFORMEDVALUE FROM ANSCKMETADATAENTRY
        WHERE ZKEY = 'NSCloudKitMirroringDelegateLastHistoryTokenKey' LIMIT 1
        """)?.blob, let archive = try? KeyedArchive(bytes)
    else { return nil }
    let key = "NSPersistentHistoryTokenDictionary"
    let root = archive.root.value
    let entries =
      root.object?[key].entries
      ?? root.entries.first { $0.key == key }?.value.value.entries ?? root.entries
    return entries.first { $0.key.uppercased() == metadata.uuid.uppercased() }?.value.value.integer
  }
}

import ManagedModel
import SQLite

/// Where the mirroring to CloudKit stands with one object.
///
/// Each object is in one state. What an export sends goes before what history says: a change of such an object goes
/// along with it.
public enum CloudObjectState: String, Sendable, CaseIterable {
  /// Its record is as the last export or import left it.
  case synced
  /// An export sends its record.
  case pendingUpload
  /// An export deletes its record.
  case pendingDelete
  /// It has no record, or one that has no name yet, and nothing of history will make one.
  ///
  /// A record without a name waits for its first export; whether that sends it is not known.
  case neverExported
  /// The mirroring has still to look at a change of it in history.
  case unanalysed

  /// The state in a few words.
  package var words: String {
    switch self {
    case .synced: "synced"
    case .pendingUpload: "waits to be uploaded"
    case .pendingDelete: "waits to be deleted in iCloud"
    case .neverExported: "never exported"
    case .unanalysed: "has changes that are not analysed yet"
    }
  }
}

/// The tables of a store's mirroring to CloudKit, as SQL that reads them.
///
/// Frameworks keep different columns: a flag whose column is missing is not set.
package struct MirrorTables: Sendable, Equatable {
  /// The table of records, which names objects by entity ID and key.
  package static let records = "ANSCKRECORDMETADATA"
  /// The table of changes that were analysed, and of which no record was made yet.
  package static let analysed = "ANSCKHISTORYANALYZERSTATE"
  /// The table of values by key.
  package static let entries = "ANSCKMETADATAENTRY"
  private static let token = "NSCloudKitMirroringDelegateLastHistoryTokenKey"
  /// What the author of the mirroring's own transactions begins with: nothing of them is sent.
  private static let ownAuthor = "NSCloudKitMirroringDelegate."

  private let recordColumns: Set<String>
  private let analysedColumns: Set<String>
  private let entryColumns: Set<String>
  private let hasHistory: Bool
  private let namesChanges: Bool
  private let database: DatabaseTables
  private let uuid: String

  /// - Returns: `nil` where the store is not mirrored: Core Data takes it so where either table is there.
  package init?(_ database: DatabaseTables, uuid: String) {
    guard database.contains(Self.records) || database.contains(Self.analysed) else { return nil }
    self.uuid = uuid
    recordColumns = database.columns(of: Self.records)
    analysedColumns = database.columns(of: Self.analysed)
    entryColumns = database.columns(of: Self.entries)
    hasHistory = database.contains("ATRANSACTION") && database.contains("ACHANGE")
    namesChanges = database.columns(of: "ACHANGE").isSuperset(of: [
      "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID",
    ])
    self.database = database
  }

  /// Whether the rows of records say whose they are.
  package var namesObjects: Bool { recordColumns.isSuperset(of: ["ZENTITYID", "ZENTITYPK"]) }

  /// A column of the records; NULL where they have none of that name.
  package func column(_ name: String, of row: String) -> String {
    recordColumns.contains(name) ? "\(row).\(name)" : "NULL"
  }

  // NULL and a number are neither true nor false: a missing flag is not set.
  private func isSet(_ name: String) -> String {
    recordColumns.contains(name) ? "ifnull(\(name), 0) <> 0" : "0"
  }

  /// True of records that an export sends.
  ///
  /// An export takes the rows with needsUpload; those with needsCloudDelete as well are deletions, and the flag of
  /// deletion alone is not sent.
  package var uploads: String { "(\(isSet("ZNEEDSUPLOAD")) AND NOT \(isSet("ZNEEDSCLOUDDELETE")))" }

  /// True of records that an export deletes in iCloud.
  package var deletes: String { "(\(isSet("ZNEEDSUPLOAD")) AND \(isSet("ZNEEDSCLOUDDELETE")))" }

  /// True of records of objects that an import has still to delete here.
  package var localDeletes: String { isSet("ZNEEDSLOCALDELETE") }

  /// True of records that have no name: no export has sent them yet.
  package var lacksName: String {
    recordColumns.contains("ZCKRECORDNAME") ? "ZCKRECORDNAME IS NULL" : "0"
  }

  /// The last transaction that the token names.
  private var last: String {
    "strata_history_token(ZTRANSFORMEDVALUE, \(Value.text(uuid).literal))"
  }

  private var hasToken: Bool { entryColumns.isSuperset(of: ["ZKEY", "ZTRANSFORMEDVALUE"]) }

  /// Rows where the token is there and names no transaction of this store: how much of history was looked at is not
  /// known then, and all of it is taken as not.
  package var unreadableTokens: String {
    hasToken
      ? """
      SELECT 1 FROM \(Self.entries) WHERE ZKEY = '\(Self.token)' AND ZTRANSFORMEDVALUE NOTNULL \
      AND \(last) IS NULL
      """ : "SELECT 1 WHERE 0"
  }

  /// The keys of transactions that the mirroring has still to look at: after the token, and not by itself.
  ///
  /// - Parameter schema: the prefix of tables, such as `src.`.
  package func unanalysedTransactions(in schema: String = "") -> String {
    guard hasHistory else { return "SELECT NULL WHERE 0" }
    let last =
      hasToken
      ? "(SELECT \(last) FROM \(schema)\(Self.entries) WHERE ZKEY = '\(Self.token)' LIMIT 1)"
      : "NULL"
    let author = HistoryTable.text("AUTHOR", in: database, as: schema)
    return """
      SELECT t.Z_PK FROM \(schema)ATRANSACTION t WHERE t.Z_PK > ifnull(\(last), 0) \
      AND ifnull(substr(\(author), 1, \(Self.ownAuthor.utf8.count)), '') <> '\(Self.ownAuthor)'
      """
  }

  /// Entity ID and key of each object with changes that the mirroring has still to look at, or to make a record of.
  private func unanalysedObjects(in schema: String) -> String {
    var parts: [String] = []
    if namesChanges {
      parts.append(
        """
        SELECT ZENTITY, ZENTITYPK FROM \(schema)ACHANGE \
        WHERE ZTRANSACTIONID IN (\(unanalysedTransactions(in: schema)))
        """)
    }
    if analysedColumns.isSuperset(of: ["ZENTITYID", "ZENTITYPK"]) {
      parts.append("SELECT ZENTITYID, ZENTITYPK FROM \(schema)\(Self.analysed)")
    }
    return parts.isEmpty ? "SELECT NULL, NULL WHERE 0" : parts.joined(separator: " UNION ALL ")
  }

  /// The ``CloudObjectState`` of an object.
  ///
  /// - Parameters:
  ///   - entity: SQL of its entity ID.
  ///   - key: SQL of its key.
  package func state(entity: SQLText, key: SQLText, in schema: String = "") -> SQLText {
    let unanalysed: SQLText =
      "(\(entity), \(key)) IN (\(own: unanalysedObjects(in: schema)))"
    guard namesObjects else {
      return "CASE WHEN \(unanalysed) THEN 'unanalysed' ELSE 'neverExported' END"
    }
    let name = recordColumns.contains("ZCKRECORDNAME") ? "ZCKRECORDNAME" : "1"
    return """
      CASE (SELECT CASE WHEN \(own: deletes) THEN 1 WHEN \(own: uploads) THEN 2 \
      WHEN \(own: name) IS NULL THEN NULL ELSE 3 END FROM \(own: schema + Self.records) \
      WHERE ZENTITYID = \(entity) AND ZENTITYPK = \(key) LIMIT 1) \
      WHEN 1 THEN 'pendingDelete' WHEN 2 THEN 'pendingUpload' \
      WHEN 3 THEN CASE WHEN \(unanalysed) THEN 'unanalysed' ELSE 'synced' END \
      ELSE CASE WHEN \(unanalysed) THEN 'unanalysed' ELSE 'neverExported' END END
      """
  }
}

extension HistoryTable {
  /// SQL for one of the four texts of a transaction `t`: kept once for all transactions and referred to, or in the
  /// row itself, as older stores have it.
  ///
  /// - Parameter name: the prefix of tables, such as `main.`.
  package static func text(
    _ text: String, in database: DatabaseTables, as name: String = ""
  ) -> String {
    let columns = database.columns(of: transaction.name)
    var places: [String] = []
    if columns.contains("Z\(text)TS"), database.contains(string.name) {
      places.append("(SELECT s.ZNAME FROM \(name)ATRANSACTIONSTRING s WHERE s.Z_PK = t.Z\(text)TS)")
    }
    if columns.contains("Z\(text)") { places.append("t.Z\(text)") }
    if places.count > 1 { return "coalesce(\(places.joined(separator: ", ")))" }
    return places.first ?? "NULL"
  }
}

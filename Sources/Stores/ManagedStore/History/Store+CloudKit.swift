import ManagedModel
import SQLite

extension Store {
  /// The state of CloudKit mirroring; `nil` where the store is not mirrored.
  ///
  /// - Parameter events: most runs to show.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func cloudKitState(events: Int = 50) throws -> CloudKitState? {
    guard let backlog = try cloudKit() else { return nil }
    return try reading {
      var state = CloudKitState()
      state.backlog = backlog
      state.entities = try cloudKitEntities()
      state.zones = try cloudKitZones()
      state.events = try cloudKitEvents(limit: events)
      state.lastImport = try lastCloudKitEvent(.import)
      state.lastExport = try lastCloudKitEvent(.export)
      return state
    }
  }

  private func cloudKitEntities() throws -> [CloudKitState.EntityRecords] {
    let columns = database.columns(of: "ANSCKRECORDMETADATA")
    guard columns.contains("ZENTITYID") else { return [] }
    let pending = cloudKitConditions
    return try connection.rows(
      """
      SELECT ZENTITYID, count(*), sum(\(pending.upload)), sum(\(pending.delete))
      FROM ANSCKRECORDMETADATA GROUP BY 1
      """
    ).compactMap { row in
      guard row.count == 4 else { return nil }
      let number = row[0].integer ?? 0
      return CloudKitState.EntityRecords(
        entity: entityNames[number] ?? "Z_ENT \(number)", records: Int(row[1].integer ?? 0),
        pendingUploads: Int(row[2].integer ?? 0), pendingDeletes: Int(row[3].integer ?? 0))
    }.sorted { $0.entity < $1.entity }
  }

  private func cloudKitZones() throws -> [CloudKitState.Zone] {
    let columns = database.columns(of: "ANSCKRECORDZONEMETADATA")
    guard columns.contains("ZCKRECORDZONENAME") else { return [] }
    func column(_ name: String) -> String { columns.contains(name) ? "z.\(name)" : "NULL" }
    let records =
      database.columns(of: "ANSCKRECORDMETADATA").contains("ZRECORDZONE")
      ? "(SELECT count(*) FROM ANSCKRECORDMETADATA r WHERE r.ZRECORDZONE = z.Z_PK)" : "0"
    return try connection.rows(
      """
      SELECT substr(z.ZCKRECORDZONENAME, 1, 300), substr(\(column("ZCKOWNERNAME")), 1, 300),
      \(records), \(column("ZLASTFETCHDATE"))
      FROM ANSCKRECORDZONEMETADATA z ORDER BY z.Z_PK LIMIT 200
      """
    ).compactMap { row in
      guard row.count == 4 else { return nil }
      return CloudKitState.Zone(
        name: row[0].text ?? "", owner: row[1].text, records: Int(row[2].integer ?? 0),
        lastFetch: Self.seconds(row[3]))
    }
  }

  private func cloudKitEvents(limit: Int) throws -> [CloudKitState.Event] {
    let columns = database.columns(of: "ANSCKEVENT")
    guard columns.contains("ZCLOUDKITEVENTTYPE") else { return [] }
    func column(_ name: String) -> String { columns.contains(name) ? name : "NULL" }
    return try connection.rows(
      """
      SELECT ZCLOUDKITEVENTTYPE, \(column("ZSTARTEDAT")), \(column("ZENDEDAT")),
      \(column("ZSUCCEEDED")), \(column("ZCOUNTFINISHEDOBJECTS")),
      substr(\(column("ZERRORDOMAIN")), 1, 200), \(column("ZERRORCODE"))
      FROM ANSCKEVENT ORDER BY Z_PK DESC LIMIT ?
      """, [.integer(Int64(max(0, limit)))]
    ).compactMap { row in
      guard row.count == 7, let kind = row[0].integer else { return nil }
      let domain = row[5].text.flatMap { $0.isEmpty ? nil : $0 }
      let code = row[6].integer ?? 0
      return CloudKitState.Event(
        kind: .init(rawValue: kind), start: Self.seconds(row[1]), end: Self.seconds(row[2]),
        succeeded: (row[3].integer ?? 0) != 0, objects: row[4].integer.map { Int($0) },
        error: domain.map { "\($0) \(code)" } ?? (code == 0 ? nil : "error \(code)"))
    }
  }

  private func lastCloudKitEvent(_ kind: CloudKitState.Event.Kind) throws -> Double? {
    let columns = database.columns(of: "ANSCKEVENT")
    guard columns.isSuperset(of: ["ZCLOUDKITEVENTTYPE", "ZSUCCEEDED", "ZENDEDAT"]) else {
      return nil
    }
    let value = try connection.value(
      "SELECT max(ZENDEDAT) FROM ANSCKEVENT WHERE ZCLOUDKITEVENTTYPE = ? AND ZSUCCEEDED <> 0",
      [.integer(kind.rawValue)])
    return value.flatMap(Self.seconds)
  }

  /// A number of seconds as SQLite has it: whole ones may be integers.
  static func seconds(_ value: Value) -> Double? {
    switch value {
    case .real(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}

/// How far CloudKit mirroring has got, as the tables that NSPersistentCloudKitContainer keeps in
/// the store (ANSCK…) show it.
///
/// Whatever a version of the framework does not keep is empty or `nil`.
public struct CloudKitState: Sendable, Equatable {
  /// A zone of records.
  public struct Zone: Sendable, Equatable {
    /// The zone's name; that of the private database is `com.apple.coredata.cloudkit.zone`.
    public var name: String
    /// The owner's record name; `__defaultOwner__` for the person's own.
    public var owner: String?
    /// Records that objects of the store have in it.
    public var records: Int
    /// When changes of it were last fetched.
    public var lastFetch: Double?
  }

  /// A run of the mirroring: ANSCKEVENT.
  public struct Event: Sendable, Equatable {
    /// What a run is for, by the numbers that ZCLOUDKITEVENTTYPE has for it.
    public enum Kind: Int64, Sendable {
      case setup = 0
      case `import` = 1
      case export = 2
    }

    /// `nil` for a number that is none of Core Data's.
    public var kind: Kind?
    /// When it began.
    public var start: Double?
    /// When it ended; `nil` while it runs, or when the app was ended in the middle.
    public var end: Double?
    /// Whether it did what it was to do.
    public var succeeded: Bool
    /// Objects that it moved.
    public var objects: Int?
    /// `CKErrorDomain 2` and the like; `nil` without an error.
    public var error: String?
  }

  /// Objects of one entity that have a record.
  public struct EntityRecords: Sendable, Equatable {
    /// The entity.
    public var entity: String
    /// Objects with a record.
    public var records: Int
    /// Of them, those that an export sends.
    public var pendingUploads: Int
    /// Of them, those that an export deletes in iCloud: such a row outlives its object.
    public var pendingDeletes: Int
  }

  /// What waits to be sent, and what of history the mirroring has still to look at.
  public var backlog = CloudKitBacklog()
  /// Zones that the store mirrors.
  public var zones: [Zone] = []
  /// Entities that have records, by name.
  public var entities: [EntityRecords] = []
  /// The last runs, newest first.
  public var events: [Event] = []
  /// The last import that succeeded.
  public var lastImport: Double?
  /// The last export that succeeded.
  public var lastExport: Double?

  /// Makes the state of a store that mirrors nothing yet.
  public init() {}
}

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

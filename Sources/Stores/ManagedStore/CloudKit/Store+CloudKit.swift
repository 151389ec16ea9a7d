import SQLite
import StoreTables

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
      state.newestImport = try cloudKitEvents(limit: 1, of: .import).first
      state.newestExport = try cloudKitEvents(limit: 1, of: .export).first
      state.account = try cloudKitEntry(
        "NSCloudKitMirroringDelegateCKIdentityRecordNameDefaultsKey", "ZSTRINGVALUE")?.text
      let framework = "PFCloudKitMetadataFrameworkVersionKey"
      state.framework =
        try cloudKitEntry(framework, "ZINTEGERVALUE")?.integer
        ?? cloudKitEntry(framework, "ZSTRINGVALUE")?.text.flatMap { Int64($0) }
      if let mirror = layout.mirror, mirror.namesObjects {
        state.localDeletes = Int(
          try connection.value(
            "SELECT count(*) FROM \(MirrorTables.records) WHERE \(mirror.localDeletes)")?.integer
            ?? 0)
      }
      return state
    }
  }

  private func cloudKitEntities() throws -> [CloudKitState.EntityRecords] {
    guard let mirror = layout.mirror, mirror.namesObjects else { return [] }
    var entities: [Int64: CloudKitState.EntityRecords] = [:]
    func entity(_ number: Int64) -> CloudKitState.EntityRecords {
      entities[number] ?? .init(entity: entityName(number), records: 0)
    }
    for row in try connection.rows(
      "SELECT ZENTITYID, count(*) FROM \(MirrorTables.records) GROUP BY 1")
    where row.count == 2 {
      let number = row[0].integer ?? 0
      var records = entity(number)
      records.records = Int(row[1].integer ?? 0)
      entities[number] = records
    }
    let states = mirroredObjects(mirror)
    let statement = try connection.prepare(
      "SELECT e, s, count(*) FROM (\(states.sql)) GROUP BY 1, 2")
    try statement.bind(states.values)
    while try statement.step() {
      let number = statement.integer(at: 0)
      guard let state = CloudObjectState(rawValue: statement.text(at: 1)) else { continue }
      var records = entity(number)
      records.objects[state, default: 0] += Int(statement.integer(at: 2))
      entities[number] = records
    }
    return entities.values.sorted { $0.entity < $1.entity }
  }

  private func cloudKitZones() throws -> [CloudKitState.Zone] {
    let columns = database.columns(of: "ANSCKRECORDZONEMETADATA")
    guard columns.contains("ZCKRECORDZONENAME") else { return [] }
    func column(_ name: String) -> String { columns.contains(name) ? "z.\(name)" : "NULL" }
    let records =
      database.columns(of: "ANSCKRECORDMETADATA").contains("ZRECORDZONE")
      ? "(SELECT count(*) FROM ANSCKRECORDMETADATA r WHERE r.ZRECORDZONE = z.Z_PK)" : "0"
    let database =
      columns.contains("ZDATABASE")
        && self.database.columns(of: "ANSCKDATABASEMETADATA").contains("ZDATABASENAME")
      ? "(SELECT substr(d.ZDATABASENAME, 1, 300) FROM ANSCKDATABASEMETADATA d WHERE d.Z_PK = z.ZDATABASE)"
      : "NULL"
    let needs = CloudKitState.Zone.needs
    return try connection.rows(
      """
      SELECT substr(z.ZCKRECORDZONENAME, 1, 300), substr(\(column("ZCKOWNERNAME")), 1, 300),
      \(records), \(column("ZLASTFETCHDATE")), \(database),
      \(needs.map { column($0.column) }.joined(separator: ", "))
      FROM ANSCKRECORDZONEMETADATA z ORDER BY z.Z_PK LIMIT 200
      """
    ).compactMap { row in
      guard row.count == 5 + needs.count else { return nil }
      return CloudKitState.Zone(
        name: row[0].text ?? "", owner: row[1].text, records: Int(row[2].integer ?? 0),
        lastFetch: Self.seconds(row[3]), database: row[4].text,
        needs: zip(needs, row[5...]).compactMap { need, value in
          (value.integer ?? 0) != 0 ? need.words : nil
        })
    }
  }

  /// The value of a key among the mirroring's own.
  private func cloudKitEntry(_ key: String, _ column: String) throws -> Value? {
    let columns = database.columns(of: MirrorTables.entries)
    guard columns.isSuperset(of: ["ZKEY", column]) else { return nil }
    return try connection.value(
      "SELECT \(column) FROM \(MirrorTables.entries) WHERE ZKEY = ? LIMIT 1", [.text(key)])
  }

  private func cloudKitEvents(
    limit: Int, of kind: CloudKitState.Event.Kind? = nil
  ) throws -> [CloudKitState.Event] {
    let columns = database.columns(of: "ANSCKEVENT")
    guard columns.contains("ZCLOUDKITEVENTTYPE") else { return [] }
    func column(_ name: String) -> String { columns.contains(name) ? name : "NULL" }
    let restriction = kind.map { "WHERE ZCLOUDKITEVENTTYPE = \($0.rawValue)" } ?? ""
    return try connection.rows(
      """
      SELECT ZCLOUDKITEVENTTYPE, \(column("ZSTARTEDAT")), \(column("ZENDEDAT")),
      \(column("ZSUCCEEDED")), \(column("ZCOUNTFINISHEDOBJECTS")),
      substr(\(column("ZERRORDOMAIN")), 1, 200), \(column("ZERRORCODE"))
      FROM ANSCKEVENT \(restriction) ORDER BY \(column("ZSTARTEDAT")) DESC, Z_PK DESC LIMIT ?
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
    /// The database that the zone is in; `nil` where the store does not say.
    public var database: String?
    /// What the mirroring has still to do with the zone, in words.
    public var needs: [String] = []

    /// The flags of a zone, and what each says.
    static let needs: [(column: String, words: String)] = [
      ("ZNEEDSIMPORT", "import"),
      ("ZNEEDSRECOVERYFROMIDENTITYLOSS", "recovery from the loss of the account"),
      ("ZNEEDSRECOVERYFROMUSERPURGE", "recovery from a purge by the person"),
      ("ZNEEDSRECOVERYFROMZONEDELETE", "recovery from the deletion of the zone"),
      ("ZNEEDSSHAREDELETE", "deletion of the share"), ("ZNEEDSSHAREUPDATE", "update of the share"),
      ("ZNEEDSNEWSHAREINVITATION", "a new invitation to the share"),
    ]
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

  /// Objects and records of one entity.
  public struct EntityRecords: Sendable, Equatable {
    /// The entity; `Z_ENT 7` where the model has none of that number.
    public var entity: String
    /// Records that name an object, which need not be there any more.
    public var records: Int
    /// How many objects are in each state, with the records of objects that are gone.
    public var objects: [CloudObjectState: Int] = [:]

    /// Those that an export sends.
    public var pendingUploads: Int { objects[.pendingUpload] ?? 0 }
    /// Those that an export deletes in iCloud: such a record outlives its object.
    public var pendingDeletes: Int { objects[.pendingDelete] ?? 0 }
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
  /// The newest import, whatever came of it.
  public var newestImport: Event?
  /// The newest export, whatever came of it.
  public var newestExport: Event?
  /// The record name of the person's account in iCloud.
  public var account: String?
  /// The version of the framework that mirrored last.
  public var framework: Int64?
  /// Records that were deleted in iCloud, and whose objects are still to be deleted here.
  public var localDeletes = 0

  /// How many objects are in each state.
  public var objects: [CloudObjectState: Int] {
    entities.reduce(into: [:]) { $0.merge($1.objects, uniquingKeysWith: +) }
  }

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
  /// Links of many-to-many relationships that an export deletes in iCloud.
  public var pendingLinkDeletes = 0
  /// Links that were imported, and of which an object has not come yet.
  public var incompleteLinks = 0
  /// Transactions of history after the last one that the mirroring looked at, but for its own.
  public var unanalysedTransactions = 0
  /// Changes that the mirroring looked at, and of which it made no record yet.
  public var analysedChanges = 0
  /// Records without a name, which wait for their first export and have no flag that an export goes by.
  public var unnamedRecords = 0
  /// Whether the token that says how much of history was looked at cannot be read: all of history is counted then.
  public var isTokenUnreadable = false

  /// A backlog of nothing.
  public init() {}

  /// Whether anything waits.
  public var isEmpty: Bool { parts.isEmpty }

  private var unanalysedWords: String {
    isTokenUnreadable
      ? "at most not analysed yet: the token that says it cannot be read" : "not analysed yet"
  }

  /// What waits, each with its number and words for one and for several.
  package var parts: [(count: Int, one: String, several: String)] {
    [
      (pendingUploads, "record to upload", "records to upload"),
      (pendingDeletes, "record to delete", "records to delete"),
      (pendingLinks, "link to upload", "links to upload"),
      (pendingLinkDeletes, "link to delete", "links to delete"),
      (
        incompleteLinks, "imported link that waits for an object",
        "imported links that wait for an object"
      ),
      (
        unanalysedTransactions, "transaction of history \(unanalysedWords)",
        "transactions of history \(unanalysedWords)"
      ),
      (analysedChanges, "change without a record yet", "changes without a record yet"),
      (
        unnamedRecords, "record without a name, which waits for its first export",
        "records without a name, which wait for their first export"
      ),
    ].filter { $0.count > 0 }
  }
}

extension Store {
  /// Whether the store is mirrored to CloudKit.
  package var isMirrored: Bool { layout.mirror != nil }

  /// What the mirroring to CloudKit has still to do; `nil` where the store is not mirrored.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func cloudKit() throws -> CloudKitBacklog? {
    guard let mirror = layout.mirror else { return nil }
    return try reading {
      func count(_ table: String, where condition: String) throws -> Int {
        guard database.contains(table) else { return 0 }
        return Int(
          try connection.value("SELECT count(*) FROM \(table) WHERE \(condition)")?.integer ?? 0)
      }
      var backlog = CloudKitBacklog()
      backlog.pendingUploads = try count(MirrorTables.records, where: mirror.uploads)
      backlog.pendingDeletes = try count(MirrorTables.records, where: mirror.deletes)
      let links = database.columns(of: "ANSCKMIRROREDRELATIONSHIP")
      let isDeleted = links.contains("ZNEEDSDELETE") ? "ifnull(ZNEEDSDELETE, 0) <> 0" : "0"
      if links.contains("ZISUPLOADED") {
        backlog.pendingLinks = try count(
          "ANSCKMIRROREDRELATIONSHIP", where: "ifnull(ZISUPLOADED, 0) = 0 AND NOT \(isDeleted)")
      }
      backlog.pendingLinkDeletes = try count("ANSCKMIRROREDRELATIONSHIP", where: isDeleted)
      backlog.incompleteLinks = try count("ANSCKIMPORTPENDINGRELATIONSHIP", where: "1")
      backlog.unanalysedTransactions = Int(
        try connection.value("SELECT count(*) FROM (\(mirror.unanalysedTransactions()))")?.integer
          ?? 0)
      backlog.isTokenUnreadable =
        try connection.value("SELECT EXISTS (\(mirror.unreadableTokens))")?.integer == 1
      backlog.analysedChanges = try count(MirrorTables.analysed, where: "1")
      backlog.unnamedRecords = try count(
        MirrorTables.records,
        where: "\(mirror.lacksName) AND NOT \(mirror.uploads) AND NOT \(mirror.deletes)")
      return backlog
    }
  }
}

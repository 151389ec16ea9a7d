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

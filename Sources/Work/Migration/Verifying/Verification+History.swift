import ManagedModel
import ManagedStore
import SQLite

/// That rows of persistent history say after a step what they said before.
extension Verification {
  /// Names of the tables that are compared here.
  static let historyTables = HistoryTable.allCases.map(\.name)

  func verifyHistory(_ report: inout VerificationReport) throws {
    guard let history = HistoryFollowing(schemas) else { return }
    let columns = try DatabaseTables(connection).columns(of: "ACHANGE")
    guard !columns.isEmpty else {
      // An app may stop keeping history; a step that is made here does not.
      if comparesBookkeeping {
        report.fail(.history, entity: nil, message: "the table ACHANGE of history is missing")
      }
      return
    }
    verifyTombstoneColumns(columns, &report)
    let needed = schemas.store.database.columns(of: "ACHANGE").union(history.addedColumns)
    guard !comparesBookkeeping || columns.isSuperset(of: needed) else {
      return report.fail(
        .history, entity: nil, message: "the table ACHANGE of history has lost columns")
    }
    guard comparesBookkeeping else { return try verifyForeignBitmaps(history, columns, &report) }
    try verifyChanges(history, &report)
    if isForeign {
      try schemas.isOfOneVersion
        ? verifyBitmaps(history, &report) : verifyForeignBitmaps(history, columns, &report)
      return try verifyForeignTransactions(&report)
    }
    try verifyBitmaps(history, &report)
    try verifyTransactions(&report)
  }

  /// A save that deletes an object names all the columns that its model needs.
  private func verifyTombstoneColumns(_ columns: Set<String>, _ report: inout VerificationReport) {
    let (there, needed) = (
      Tombstones.count(in: columns), Tombstones.count(for: schemas.destinationModel)
    )
    let before = Tombstones.count(in: schemas.store.database.columns(of: "ACHANGE"))
    guard there < needed, before >= Tombstones.count(for: schemas.sourceModel) || !isForeign else {
      return
    }
    report.fail(
      .history, entity: nil,
      message:
        "the table ACHANGE of history has \(there) columns for values of deleted objects, and the model needs \(needed): saves that write history fail"
    )
  }

  /// Every row of a change that stays, column by column, except bitmaps.
  private func verifyChanges(
    _ history: HistoryFollowing, _ report: inout VerificationReport
  ) throws {
    let kept = condition("s")
    let isDeletion = "s.ZCHANGETYPE = \(HistoryChange.Kind.delete.rawValue)"
    let tombstones = (0..<history.tombstoneCount).map { place in
      let column = Tombstones.column(place)
      let former = history.addedColumns.contains(column) ? "NULL" : "s.\(column)"
      let moved = history.tombstone(place, in: "s")
      return (
        column, moved.map { "CASE WHEN \(isDeletion) THEN \($0) ELSE \(former) END" } ?? former
      )
    }
    let special = Set(tombstones.map(\.0) + ["Z_PK", "ZENTITY", "ZCOLUMNS"])
    let others = schemas.store.database.columns(of: "ACHANGE").subtracting(special).sorted()
    let planned = others.map { ($0, "s.\(quoted($0))") } + [("ZENTITY", number("s"))] + tombstones
    let differences = planned.map { "total(d.\(quoted($0.0)) IS NOT \($0.1))" }
    let row =
      try connection.rows(
        """
        SELECT count(*), count(d.Z_PK), \(differences.joined(separator: ", "))
        FROM src.ACHANGE s LEFT JOIN main.ACHANGE d ON d.Z_PK = s.Z_PK WHERE \(kept)
        """
      ).first ?? []
    let numbers = row.map { value -> Int in
      if case .real(let number) = value { Int(number) } else { Int(value.integer ?? 0) }
    }
    guard numbers.count == planned.count + 2 else { return }
    let (all, found) = (numbers[0], numbers[1])
    let lost = max(all - found, try abs(count("main.ACHANGE") - all))
    if lost > 0 {
      report.fail(
        .history, entity: nil,
        message:
          "\(NumberText.counted(lost, "change")) of history \(lost == 1 ? "is" : "are") missing or new",
        count: lost
      )
    }
    for (column, wrong) in zip(planned.map(\.0), numbers.dropFirst(2))
    where wrong - (all - found) > 0 {
      report.fail(
        .history, entity: nil,
        message: "\(wrong) changes of history have another \(column) than planned",
        count: wrong)
    }
    report.verified.append(.init(what: "changes of history", count: found))
  }

  /// Bitmaps of updates name the same properties; all others are as they were.
  private func verifyBitmaps(
    _ history: HistoryFollowing, _ report: inout VerificationReport
  ) throws {
    guard schemas.store.database.columns(of: "ACHANGE").contains("ZCOLUMNS") else { return }
    let followers = Dictionary(first: history.followers.map { ($0.number, $0) })
    var wrong: [String: Int] = [:]
    let statement = try connection.prepare(
      """
      SELECT s.ZCHANGETYPE = \(HistoryChange.Kind.update.rawValue) AND typeof(s.ZCOLUMNS) = 'blob',
      s.ZENTITY, s.ZCOLUMNS, d.ZCOLUMNS, count(*)
      FROM src.ACHANGE s JOIN main.ACHANGE d ON d.Z_PK = s.Z_PK
      WHERE \(condition("s")) GROUP BY 1, 2, 3, 4
      """)
    while try statement.step() {
      try meter.checkCancelled()
      let follower = statement.integer(at: 0) == 1 ? followers[statement.integer(at: 1)] : nil
      let (before, after) = (bitmap(statement, at: 2), bitmap(statement, at: 3))
      let isRight: Bool
      if let follower, !follower.keepsBits, let before {
        isRight = sameProperties(before, after, follower)
      } else {
        isRight = before == after
      }
      if !isRight {
        wrong[follower?.destination ?? "", default: 0] += Int(statement.integer(at: 4))
      }
    }
    for (entity, count) in wrong.sorted(by: { $0.key < $1.key }) {
      report.fail(
        .history, entity: entity.isEmpty ? nil : entity,
        message: "\(count) changes of history name other properties than before", count: count)
    }
  }

  private func bitmap(_ statement: Statement, at column: Int) -> [UInt8]? {
    statement.isNull(at: column) ? nil : statement.bytes(at: column)
  }

  /// Whether a bitmap names what the properties of the one before became; one that named nothing is NULL.
  private func sameProperties(
    _ before: [UInt8], _ after: [UInt8]?, _ follower: HistoryFollowing.Follower
  ) -> Bool {
    guard let former = follower.before.names(in: before) else { return after == nil }
    guard let after, let now = follower.after.names(in: after),
      let all = follower.after.names(in: follower.after.bitmap(of: follower.after.order.indices))
    else { return false }
    let known = Set(all.map(Self.certain))
    let expected = Set(former.flatMap { self.names(of: Self.certain($0), follower) })
    return Set(now.map(Self.certain)) == expected.intersection(known)
  }

  /// A property's name without the mark that its bit may be another's.
  private static func certain(_ name: String) -> String {
    name.last == ChangedProperties.doubt ? String(name.dropLast()) : name
  }

  /// What a property of the source entity is called in the destination's; the owner of a to-many without inverse
  /// is named after the relationship's own entity.
  private func names(of former: String, _ follower: HistoryFollowing.Follower) -> [String] {
    guard
      let entityMapping = step.mapping.entityMappings.first(where: {
        $0.source == follower.source && $0.destination == follower.destination
      })
    else { return [] }
    let own =
      entityMapping.attributes.filter { $0.source == former }.map(\.name)
      + entityMapping.relationships.filter { $0.source == former }.map(\.name)
    let owners = step.mapping.entityMappings.flatMap { owner -> [String] in
      guard let from = owner.source, let to = owner.destination else { return [] }
      return owner.relationships.compactMap { relationship in
        guard let name = relationship.source,
          let declarer = schemas.sourceModel.declaringEntity(of: name, in: from),
          "\(declarer).\(name)" == former
        else { return nil }
        let now = schemas.destinationModel.declaringEntity(of: relationship.name, in: to)
        return "\(now ?? to).\(relationship.name)"
      }
    }
    return own + owners
  }

  /// The transactions are all there, and one more, which names the model that the store had.
  private func verifyTransactions(_ report: inout VerificationReport) throws {
    for table in Self.historyTables.dropFirst() where schemas.store.database.contains(table) {
      let lost = try count("(SELECT * FROM src.\(table) EXCEPT SELECT * FROM main.\(table))")
      let added = try count("main.\(table)") - count("src.\(table)")
      let planned = table == "ATRANSACTION" ? 1...1 : 0...3
      if lost > 0 || !planned.contains(added) {
        report.fail(
          .history, entity: nil, message: "the rows of the table \(table) are not as they must be",
          count: max(1, lost))
      }
    }
    let places = [
      schemas.store.database.contains("ATRANSACTIONSTRING")
        && schemas.store.database.columns(of: "ATRANSACTION").contains("ZAUTHORTS")
        ? "(SELECT s.ZNAME FROM main.ATRANSACTIONSTRING s WHERE s.Z_PK = t.ZAUTHORTS)" : "NULL",
      schemas.store.database.columns(of: "ATRANSACTION").contains("ZAUTHOR") ? "t.ZAUTHOR" : "NULL",
    ]
    let author = try connection.value(
      """
      SELECT coalesce(\(places.joined(separator: ", "))) FROM main.ATRANSACTION t
      WHERE t.Z_PK NOT IN (SELECT ZTRANSACTIONID FROM main.ACHANGE WHERE ZTRANSACTIONID IS NOT NULL)
      ORDER BY t.Z_PK DESC LIMIT 1
      """)
    if author?.text.flatMap({ MigratorAuthor($0) })
      != step.historyAuthor(
        leaving: schemas.store, isByPolicies: !policyMappings.isEmpty)
    {
      report.fail(
        .history, entity: nil, message: "history does not name the model that the store had")
    }
  }

  /// In a store that others may have written, bitmaps that were of the source's properties are of the
  /// destination's. Core Data drops the bits of renamed properties, so that names are not compared.
  private func verifyForeignBitmaps(
    _ history: HistoryFollowing, _ columns: Set<String>, _ report: inout VerificationReport
  ) throws {
    let needed: Set<String> = ["ZCOLUMNS", "ZTRANSACTIONID", "ZENTITY", "ZCHANGETYPE"]
    guard columns.isSuperset(of: needed),
      schemas.store.database.columns(of: "ACHANGE").isSuperset(of: needed)
    else { return }
    let followers = Dictionary(first: history.followers.map { ($0.number, $0) })
    var (compared, wrong) = (0, 0)
    let statement = try connection.prepare(
      """
      SELECT s.ZENTITY, s.ZCOLUMNS, d.ZCOLUMNS, count(*)
      FROM src.ACHANGE s JOIN main.ACHANGE d ON d.Z_PK = s.Z_PK
      AND d.ZTRANSACTIONID IS s.ZTRANSACTIONID AND d.ZCHANGETYPE IS s.ZCHANGETYPE
      AND d.ZENTITYPK IS s.ZENTITYPK AND d.ZENTITY IS \(number("s"))
      WHERE s.ZCHANGETYPE = \(HistoryChange.Kind.update.rawValue) AND s.ZCOLUMNS IS NOT NULL
      AND d.ZCOLUMNS IS NOT NULL GROUP BY 1, 2, 3
      """)
    while try statement.step() {
      try meter.checkCancelled()
      guard let follower = followers[statement.integer(at: 0)],
        follower.before.names(in: statement.bytes(at: 1)) != nil
      else { continue }
      let rows = Int(statement.integer(at: 3))
      compared += rows
      if follower.after.names(in: statement.bytes(at: 2)) == nil { wrong += rows }
    }
    if wrong > 0 {
      report.fail(
        .history, entity: nil,
        message: "\(wrong) changes of history do not fit the properties of their entities",
        count: wrong)
    }
    if compared > 0 {
      report.verified.append(.init(what: "changes of history", count: compared))
    }
  }

  /// SQL that is true for rows of ACHANGE whose entity stays.
  private func condition(_ table: String) -> String {
    let removed = schemas.removedNumbers
    return removed.isEmpty
      ? "1" : "(\(table).ZENTITY IS NULL OR \(table).ZENTITY NOT IN (\(removed.list)))"
  }

  /// SQL for the number that a row of ACHANGE has afterwards.
  private func number(_ table: String) -> String {
    let cases = schemas.renumbering.filter { $0.old != $0.new }.map {
      "WHEN \($0.old) THEN \($0.new)"
    }
    return cases.isEmpty
      ? "\(table).ZENTITY"
      : "CASE \(table).ZENTITY \(cases.joined(separator: " ")) ELSE \(table).ZENTITY END"
  }
}

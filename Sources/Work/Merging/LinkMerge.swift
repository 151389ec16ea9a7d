import ManagedModel
import ManagedStore
import SQLite

/// Merges links: one-to-ones, which both ends keep, many-to-many ones, which are united, and places in ordered
/// relationships.
struct LinkMerge {
  let map: ObjectMap
  let options: MergeOptions
  let rows: RowMerge
  let told: MergeTelling

  var connection: Connection { map.connection }

  // MARK: One-to-ones

  /// One end of a one-to-one, with the other.
  private struct OneToOne {
    let entity: MergedEntity
    let reference: MergedEntity.Reference
  }

  /// Links the ends of one-to-ones as the older store has them, where neither has another partner.
  func linkPartners() throws {
    for entity in map.entities where entity.isIncluded {
      for reference in entity.references where reference.partner != nil {
        try link(OneToOne(entity: entity, reference: reference))
      }
    }
  }

  private func link(_ end: OneToOne) throws {
    let (entity, reference) = (end.entity, end.reference)
    let key = "o." + quoted(reference.old)
    let other = map.result(reference.oldTarget, key)
    let statement = try connection.prepare(
      """
      SELECT m.a, m.r, \(key), \(other) FROM \(map.rows(of: entity)) AND \(key) IS NOT NULL
      AND EXISTS (SELECT 1 FROM src.\(quoted(reference.oldTarget)) x WHERE x.Z_PK = \(key)) ORDER BY m.a
      """)
    var edges: [(a: Int64, r: Int64, to: Int64, there: Int64?)] = []
    // In pieces: the map changes while objects are left out.
    while try statement.step() {
      edges.append(
        (
          statement.integer(at: 0), statement.integer(at: 1), statement.integer(at: 2),
          statement.isNull(at: 3) ? nil : statement.integer(at: 3)
        ))
    }
    for edge in edges {
      try told.check()
      guard let r = try map.key(of: edge.a, in: entity.old.table) else { continue }
      guard edge.there != nil, let y = try map.key(of: edge.to, in: reference.oldTarget),
        let (partner, _, _) = try map.former(of: y, in: reference.oldTarget),
        let back = partner.references.first(where: { $0.name == reference.partner })
      else {
        if reference.isMandatory, try !isPaired(r, end) {
          try rows.leaveOut(entity, edge.a, .dependent)
        } else {
          told.report.lostLinks += 1
        }
        continue
      }
      try link(end, edge.a, r, OneToOne(entity: partner, reference: back), edge.to, y)
    }
    try unlinkRemoved(end)
  }

  private func partner(_ r: Int64, _ end: OneToOne, in schema: String = "main") throws -> Int64? {
    let statement = try connection.cached(
      """
      SELECT \(quoted(end.reference.new)) FROM \(schema).\(quoted(end.entity.new.table)) WHERE Z_PK = ?
      """)
    return try statement.firstRow([.integer(r)]).first?.integer
  }

  /// The base's partner of an object of the older store; `nil` where the base does not have the object.
  private func former(_ a: Int64, _ end: OneToOne) throws -> Int64?? {
    guard let base = end.entity.base, let column = end.reference.base else { return nil }
    let own = [base.ownRows(), "Z_PK = ?"].compactMap { $0 }.joined(separator: " AND ")
    let row = try connection.cached(
      "SELECT \(quoted(column)) FROM base.\(quoted(base.table)) WHERE \(own)"
    ).firstRow([.integer(a)])
    return row.first.map { $0.integer }
  }

  private func link(
    _ end: OneToOne, _ a: Int64, _ x: Int64, _ other: OneToOne, _ b: Int64, _ y: Int64
  ) throws {
    let (mine, theirs) = (try partner(x, end), try partner(y, other))
    // Whichever side has it: in stores of Apple's apps the two need not agree.
    if mine == y || theirs == x { return }
    // One that was deleted in the newer store lost its links with that, and gets them back.
    let isOfBoth = try isPaired(x, end) && isPaired(y, other)
    let wasLinked = try isOfBoth && former(a, end) ?? nil == b
    // The newer store took the link away, or has made another.
    if wasLinked { return }
    if try isUnchanged(mine, x, a, end), try isUnchanged(theirs, y, b, other),
      try evict(end, x, mine, other, y, theirs, isLoss: false)
    {
      return
    }
    // Each link is met at both of its ends.
    let isFirst = told.isFirst(edge: [
      end.entity.old.table + " \(a)", other.entity.old.table + " \(b)",
    ])
    guard isFirst else { return }
    var winner = MergeReport.Winner.new
    // The end that both stores changed: of two free ones the newer store has unlinked one.
    var isConflict = true
    if try isOfBoth || mine == nil && theirs == nil && isPaired(x, end) {
      winner = try decided(end, a, x)
      try told.conflict([end.reference.name], of: end.entity, a: a, r: x, winner)
    } else if mine == nil, theirs == nil {
      winner = try decided(other, b, y)
      try told.conflict([other.reference.name], of: other.entity, a: b, r: y, winner)
    } else {
      isConflict = false
    }
    if winner == .old, try evict(end, x, mine, other, y, theirs, isLoss: true) { return }
    if mine == nil, end.reference.isMandatory, try !isPaired(x, end) {
      try rows.leaveOut(end.entity, a, .oneToOne)
    } else if theirs == nil, other.reference.isMandatory, try !isPaired(y, other) {
      try rows.leaveOut(other.entity, b, .oneToOne)
    } else if !isConflict {
      try told.lose(
        [end.reference.name], of: end.entity, a: a, r: try isPaired(x, end) ? x : nil, .oneToOne)
    }
  }

  /// Whether the newer store did not change an end: its partner is the base's, which went with its object where that
  /// was deleted. Without a base, an end that has none was not changed.
  private func isUnchanged(
    _ partner: Int64?, _ r: Int64, _ a: Int64, _ end: OneToOne
  ) throws -> Bool {
    guard let partner else {
      // One that it had gave way to another of the older store.
      guard try isPaired(r, end), try self.partner(r, end, in: "now") == nil,
        case .some(.some(let former)) = try former(a, end)
      else { return true }
      let there = try map.key(of: former, in: end.reference.oldTarget) ?? former
      return try map.count("now.\(quoted(end.reference.newTarget)) WHERE Z_PK = \(there)") == 0
    }
    guard case .some(.some(let former)) = try former(a, end) else { return false }
    return try map.key(of: former, in: end.reference.oldTarget) ?? former == partner
  }

  private func isPaired(_ r: Int64, _ end: OneToOne) throws -> Bool {
    try map.former(of: r, in: end.entity.old.table)?.kind == .paired
  }

  private func decided(
    _ end: OneToOne, _ a: Int64, _ r: Int64
  ) throws -> MergeReport.Winner {
    let newest = options.newest(in: end.entity.lineage).flatMap { name in
      end.entity.attributes.first { $0.name == name }
    }
    guard let newest else { return rows.winner(0, isOrdered: false) }
    let order = try connection.value(
      """
      SELECT \(RowMerge.order(newest)) FROM src.\(quoted(end.entity.old.table)) o
      CROSS JOIN now.\(quoted(end.entity.new.table)) n WHERE o.Z_PK = ? AND n.Z_PK = ?
      """, [.integer(a), .integer(r)])?.integer
    return rows.winner(order ?? 0, isOrdered: true)
  }

  /// Gives both ends each other, and takes them from their partners, where those can be without.
  ///
  /// - Returns: false where one cannot: nothing was changed.
  private func evict(
    _ end: OneToOne, _ x: Int64, _ mine: Int64?, _ other: OneToOne, _ y: Int64, _ theirs: Int64?,
    isLoss: Bool
  ) throws -> Bool {
    if mine != nil, other.reference.isMandatory { return false }
    if theirs != nil, end.reference.isMandatory { return false }
    if let mine { try clear(end, x, other, mine, isLoss: isLoss) }
    if let theirs { try clear(other, y, end, theirs, isLoss: isLoss) }
    try set(end, x, other, y)
    return true
  }

  /// Takes a link of the newer store out of the result.
  ///
  /// - Parameter isLoss: whether the older store did not change it alone.
  private func clear(
    _ end: OneToOne, _ r: Int64, _ other: OneToOne, _ partner: Int64, isLoss: Bool
  ) throws {
    let kind = try map.former(of: partner, in: other.entity.old.table)?.kind ?? .paired
    if isLoss, kind == .paired {
      try told.loseNew(other.reference.name, of: other.entity, r: partner)
    }
    for (key, of) in [(r, end), (partner, other)] {
      let columns = [of.reference.new, of.reference.newEntity].compactMap { $0 }
      try connection.run(
        """
        UPDATE main.\(quoted(of.entity.new.table))
        SET \(columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")) WHERE Z_PK = ?
        """, [.integer(key)])
      try map.touch(key, in: of.entity.old.table)
    }
  }

  private func set(_ end: OneToOne, _ x: Int64, _ other: OneToOne, _ y: Int64) throws {
    for (key, of, value, entity) in [(x, end, y, other.entity), (y, other, x, end.entity)] {
      var sets = ["\(quoted(of.reference.new)) = \(value)"]
      if let column = of.reference.newEntity {
        sets.append("\(quoted(column)) = \(entity.new.entityID)")
      }
      try connection.run(
        """
        UPDATE OR IGNORE main.\(quoted(of.entity.new.table)) SET \(sets.joined(separator: ", "))
        WHERE Z_PK = ?
        """, [.integer(key)])
      try map.touch(key, in: of.entity.old.table)
    }
  }

  /// Takes away links that only the older store took away since the base.
  private func unlinkRemoved(_ end: OneToOne) throws {
    guard let base = end.entity.base, let column = end.reference.base,
      !end.reference.isMandatory
    else { return }
    let own = [base.ownRows("b"), "b.Z_PK = m.a"].compactMap { $0 }.joined(separator: " AND ")
    let key = "b." + quoted(column)
    let former = "coalesce(\(map.result(end.reference.oldTarget, key)), \(key))"
    let found = try connection.rows(
      """
      SELECT m.r, n.\(quoted(end.reference.new)) FROM temp.merge_key m
      CROSS JOIN src.\(quoted(end.entity.old.table)) o ON o.Z_PK = m.a
      CROSS JOIN base.\(quoted(base.table)) b ON \(own)
      CROSS JOIN main.\(quoted(end.entity.new.table)) n ON n.Z_PK = m.r
      WHERE m.t = \(map.number(end.entity.old.table)) AND m.e = \(end.entity.place) AND m.kind = 0
      AND o.\(quoted(end.reference.old)) IS NULL AND \(key) IS NOT NULL
      AND n.\(quoted(end.reference.new)) = \(former)
      AND EXISTS (SELECT 1 FROM src.\(quoted(end.reference.oldTarget)) d WHERE d.Z_PK = \(key))
      """)
    for row in found {
      guard let r = row[0].integer, let partner = row[1].integer,
        let (entity, _, _) = try map.former(of: partner, in: end.reference.oldTarget),
        let back = entity.references.first(where: { $0.name == end.reference.partner }),
        !back.isMandatory
      else { continue }
      try clear(
        end, r, OneToOne(entity: entity, reference: back), partner, isLoss: false)
    }
  }

  // MARK: Many-to-many

  /// Unites the links of many-to-many relationships: the newer store's keep their order, those of the older one
  /// come behind them.
  func unite() throws {
    var done: Set<String> = []
    let included = map.entities.filter(\.isIncluded).map { Int64($0.place) }.list
    for entity in map.entities {
      for entry in entity.new.relationships {
        guard let storage = entry.storage, storage.isJoin, done.insert(storage.table).inserted,
          let former = entity.old.storage(of: entry.relationship.name), former.isJoin,
          let target = map.stores.tables(of: entry.relationship.destination)
        else { continue }
        try told.check()
        let base = entity.base?.storage(of: entry.relationship.name)
        try unite(
          former, storage, base, owner: entity.old.table, destination: target.old, included)
      }
    }
  }

  private func unite(
    _ old: RelationshipStorage, _ new: RelationshipStorage, _ base: RelationshipStorage?,
    owner: String, destination: String, _ included: String
  ) throws {
    let (owners, objects) = (map.number(owner), map.number(destination))
    func there(_ o: String, _ d: String) -> String {
      """
      EXISTS (SELECT 1 FROM main.\(quoted(new.table)) x
      WHERE x.\(quoted(new.owner)) = \(o) AND x.\(quoted(new.destination)) = \(d))
      """
    }
    var isThere = [there("k.r", "q.r")]
    if new.kind == .reflexive { isThere.append(there("q.r", "k.r")) }
    // A link that the newer store took away stays away with what it deleted.
    var conditions = ["NOT (\(isThere.joined(separator: " OR ")))"]
    if options.keepsDeleted, let base, base.isJoin {
      func was(_ o: String, _ d: String) -> String {
        """
        NOT EXISTS (SELECT 1 FROM base.\(quoted(base.table)) x
        WHERE x.\(quoted(base.owner)) = \(o) AND x.\(quoted(base.destination)) = \(d))
        """
      }
      conditions.append(was("l.owner", "l.destination"))
      if base.kind == .reflexive { conditions.append(was("l.destination", "l.owner")) }
    }
    let ends = """
      FROM (\(old.allLinks(in: "src."))) l
      LEFT JOIN temp.merge_key k ON k.t = \(owners) AND k.a = l.owner
      LEFT JOIN temp.merge_key q ON q.t = \(objects) AND q.a = l.destination
      """
    told.report.lostLinks += try map.count(
      """
      (SELECT 1 \(ends) WHERE (k.a IS NULL OR q.a IS NULL)
      AND (k.e IN (\(included)) OR q.e IN (\(included)))
      AND EXISTS (SELECT 1 FROM src.\(quoted(owner)) x WHERE x.Z_PK = l.owner)
      AND EXISTS (SELECT 1 FROM src.\(quoted(destination)) x WHERE x.Z_PK = l.destination))
      """)
    let (one, other) = new.kind == .reflexive ? ("min(k.r, q.r)", "max(k.r, q.r)") : ("k.r", "q.r")
    try connection.execute("DELETE FROM temp.merge_link")
    try connection.execute(
      """
      INSERT OR IGNORE INTO temp.merge_link SELECT \(one), \(other), l.position, l.inverse \(ends)
      WHERE k.a IS NOT NULL AND q.a IS NOT NULL AND (k.e IN (\(included)) OR q.e IN (\(included)))
      AND \(conditions.joined(separator: " AND "))
      """)
    told.report.links += try map.count("temp.merge_link")
    for (column, number) in [("o", owners), ("d", objects)] {
      try connection.execute(
        "INSERT OR IGNORE INTO temp.merge_touched SELECT DISTINCT \(number), \(column) FROM temp.merge_link"
      )
    }
    var columns = [(new.owner, "e.o"), (new.destination, "e.d")]
    func place(_ position: String?, of key: String, _ end: String, by order: String) {
      guard let position else { return }
      let last = """
        (SELECT max(x.\(quoted(position))) FROM main.\(quoted(new.table)) x
        WHERE x.\(quoted(key)) = e.\(end))
        """
      let row = OrderKey.sql(
        numbering: "e.\(end)", by: "e.\(order) IS NULL, e.\(order), e.\(end == "o" ? "d" : "o")")
      columns.append((position, "coalesce(\(last), \(OrderKey.spacing)) + \(row)"))
    }
    for (position, key, other, end) in [
      (new.position, new.owner, new.destination, "o"),
      (new.inversePosition, new.destination, new.owner, "d"),
    ] {
      guard let position else { continue }
      try makeRoom(
        in: new.table, of: key, behind: position, by: other,
        for: "SELECT \(end) FROM temp.merge_link")
    }
    place(new.position, of: new.owner, "o", by: "p")
    place(new.inversePosition, of: new.destination, "d", by: "i")
    try connection.execute(
      """
      INSERT OR IGNORE INTO main.\(quoted(new.table)) (\(columns.map { quoted($0.0) }.joined(separator: ", ")))
      SELECT \(columns.map(\.1).joined(separator: ", ")) FROM temp.merge_link e ORDER BY e.o, e.d
      """)
  }
}

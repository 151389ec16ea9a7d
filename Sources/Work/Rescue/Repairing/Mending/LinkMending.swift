import ManagedModel
import ManagedStore
import SQLite

/// Links that reference objects which are not there are taken out.
struct LinkMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    let audits = source.audits(in: "main.")
    if work.kinds.contains(.toOneDangling) {
      for table in source.entityTables where source.database.contains(table.table) {
        for entry in table.relationships where !entry.relationship.isToMany {
          try audits.audit(of: entry.relationship.name, in: table.entity)
            .map { try toOne($0, of: table) }
        }
      }
    }
    for audit in audits.outside {
      if !audit.storage.isJoin {
        try owner(audit)
      } else {
        if work.kinds.contains(.joinNull) { try join(audit, .joinNull, .empty) }
        if work.kinds.contains(.joinDangling) { try join(audit, .joinDangling, .dangling) }
      }
    }
  }

  private func toOne(_ audit: LinkAudit, of table: EntityTable) throws {
    guard let key = audit.keys.first, let dangling = audit.condition(.dangling) else { return }
    let rows = "t.Z_ENT = \(table.entityID) AND \(dangling)"
    guard
      try work.note(
        .toOneDangling, entity: table.entity.literal, key: "t.Z_PK",
        property: audit.relationship.name.literal,
        old: "\(audit.destination.literal) || '/p' || \(key.value)",
        "\(audit.rows) WHERE \(rows)") > 0
    else { return }
    try work.connection.execute(audit.removal(where: rows))
  }

  /// Rows that name an owner which is not there, in a to-many without an inverse.
  private func owner(_ audit: LinkAudit) throws {
    guard work.kinds.contains(.toOneDangling), let key = audit.keys.first,
      let rows = audit.condition(.dangling),
      try work.note(
        .toOneDangling, entity: work.entity(of: "t", else: audit.destination), key: "t.Z_PK",
        property: "\(audit.entity).\(audit.relationship.name)".literal,
        old: "\(audit.entity.literal) || '/p' || \(key.value)",
        "\(audit.rows) WHERE \(rows)") > 0
    else { return }
    try work.connection.execute(audit.removal(where: rows))
  }

  /// Rows of a join table; a change is that of the end which is there.
  private func join(_ audit: LinkAudit, _ kind: FindingKind, _ fault: LinkAudit.Fault) throws {
    guard let rows = audit.condition(fault), let first = audit.keys.first,
      let second = audit.keys.last
    else { return }
    let (name, inverse) = (audit.relationship.name, audit.relationship.inverse ?? "")
    let isTurned = "\(first.value) IS NULL AND \(second.value) IS NOT NULL"
    func object(_ key: KeyColumn, _ entity: String) -> String {
      """
      coalesce((SELECT e.name FROM main.\(quoted(key.destination)) o JOIN log.entities e
      ON e.number = o.Z_ENT WHERE o.Z_PK = \(key.value)), \(entity.literal))
      """
    }
    func either(_ other: String, _ own: String) -> String {
      "CASE WHEN \(isTurned) THEN \(other) ELSE \(own) END"
    }
    let (entity, other) = (object(first, audit.entity), object(second, audit.destination))
    guard
      try work.note(
        kind, entity: either(other, entity), key: either(second.value, first.value),
        property: either(inverse.literal, name.literal),
        old: either("NULL", "\(other) || '/p' || \(second.value)"),
        "\(audit.rows) WHERE \(rows)") > 0
    else { return }
    try work.connection.execute(audit.removal(where: rows))
  }
}

/// The two sides of one-to-ones, where they disagree.
///
/// Where an object references one that leads nowhere, and no other leads there, that one gets its other
/// side. Which of two links counts that contradict each other is a choice: asked for by name, the pair
/// counts that agrees, and a link into it from elsewhere goes.
struct OneToOneMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    guard work.kinds.contains(.oneToOne) else { return }
    for side in source.model.oneToOnes.flatMap(\.sides) {
      guard let own = source.table(of: side.entity),
        let storage = own.storage(of: side.name), storage.kind == .toOne,
        let inverse = side.relationship.inverse,
        let other = source.table(of: side.relationship.destination),
        let back = other.storage(of: inverse), back.kind == .toOne
      else { continue }
      let link = Link(
        entity: side.entity, name: side.name, inverse: inverse,
        destination: side.relationship.destination, own: own, other: other, storage: storage,
        back: back)
      try complete(link)
      if work.options.names(.oneToOne) { try takeOut(link) }
    }
  }

  private struct Link {
    let entity: String
    let name: String
    let inverse: String
    let destination: String
    let own: EntityTable
    let other: EntityTable
    /// How the side is kept, and how the other one.
    let storage: RelationshipStorage
    let back: RelationshipStorage

    /// The column of the side, and that of the other one.
    var column: String { quoted(storage.destination) }
    var backColumn: String { quoted(back.destination) }

    /// The rows `t` that reference a row `o`.
    var owners: String {
      "main.\(quoted(own.table)) t WHERE t.Z_ENT IN (\(own.numbers.list)) AND t.\(column) = o.Z_PK"
    }
  }

  /// The other side, where that is empty and only one claims it.
  private func complete(_ link: Link) throws {
    let rows = """
      o.\(link.backColumn) IS NULL AND o.Z_ENT IN (\(link.other.numbers.list))
      AND (SELECT count(*) FROM \(link.owners)) = 1
      """
    let entity = work.entity(of: "t", else: link.entity)
    guard
      try work.note(
        .oneToOne, entity: work.entity(of: "o", else: link.destination), key: "o.Z_PK",
        property: link.inverse.literal, old: "NULL",
        new: "(SELECT \(entity) || '/p' || t.Z_PK FROM \(link.owners))",
        "FROM main.\(quoted(link.other.table)) o WHERE \(rows)") > 0
    else { return }
    try work.connection.execute(
      link.back.completing(with: link.owners, in: "main.", where: rows))
  }

  /// A link to an object that agrees with another one.
  private func takeOut(_ link: Link) throws {
    let rows = """
      t.Z_ENT IN (\(link.own.numbers.list)) AND EXISTS (
        SELECT 1 FROM main.\(quoted(link.other.table)) o
        JOIN main.\(quoted(link.own.table)) p ON p.Z_PK = o.\(link.backColumn)
          AND p.Z_ENT IN (\(link.own.numbers.list))
        WHERE o.Z_PK = t.\(link.column) AND o.Z_ENT IN (\(link.other.numbers.list))
        AND p.Z_PK <> t.Z_PK AND p.\(link.column) = o.Z_PK)
      """
    guard
      try work.note(
        .oneToOne, entity: work.entity(of: "t", else: link.entity), key: "t.Z_PK",
        property: link.name.literal,
        old: "\(link.destination.literal) || '/p' || t.\(link.column)",
        "FROM main.\(quoted(link.own.table)) t WHERE \(rows)") > 0
    else { return }
    try work.connection.execute(link.storage.emptying(in: "main.", where: rows))
  }
}

/// Places in ordered relationships that are missing or equal: the objects of such an owner are
/// renumbered, in the order in which they are shown.
struct OrderMending {
  let work: RepairWork
  private var source: Store { work.source }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    // Objects that came to another owner may have a place there that is taken.
    guard !work.kinds.isDisjoint(with: [.order, .uniqueness]) else { return }
    var done: Set<String> = []
    for table in source.entityTables where source.database.contains(table.table) {
      for entry in table.relationships {
        guard let storage = entry.storage, let position = storage.position,
          storage.kind != .reflexive,
          let other = source.table(of: entry.relationship.destination),
          done.insert(storage.table + "." + position).inserted
        else { continue }
        try number(entry.relationship, of: table, storage, position, other)
      }
    }
  }

  private func number(
    _ relationship: Relationship, of table: EntityTable, _ storage: RelationshipStorage,
    _ position: String, _ other: EntityTable
  ) throws {
    let connection = work.connection
    let (owner, key, order) = (
      quoted(storage.owner), quoted(storage.destination), quoted(position)
    )
    let links = "main." + quoted(storage.table)
    // With room in between, as Core Data leaves it.
    try connection.execute(
      """
      DELETE FROM log.places;
      INSERT INTO log.places (owner, key, old, new)
      SELECT l.\(owner), l.\(key), l.\(order), \(OrderKey.sql(numbering: "l." + owner, by: "ifnull(l.\(order), 0), e.name, l.\(key)"))
      FROM \(links) l
      JOIN main.\(quoted(other.table)) d ON d.Z_PK = l.\(key)
      LEFT JOIN log.entities e ON e.number = d.Z_ENT
      WHERE l.\(owner) IN (
        SELECT t.\(owner) FROM \(links) t JOIN main.\(quoted(table.table)) o ON o.Z_PK = t.\(owner)
        GROUP BY t.\(owner) HAVING count(*) <> count(DISTINCT t.\(order)))
      """)
    let child =
      "(\(work.entity(of: "d", else: relationship.destination))) || '/p' || p.key || ' at '"
    guard
      try work.note(
        .order, entity: work.entity(of: "o", else: table.entity), key: "p.owner",
        property: relationship.name.literal,
        old: "\(child) || ifnull(p.old, 'no place')", new: "\(child) || p.new",
        """
        FROM log.places p JOIN main.\(quoted(table.table)) o ON o.Z_PK = p.owner
        JOIN main.\(quoted(other.table)) d ON d.Z_PK = p.key WHERE p.old IS NOT p.new
        """) > 0
    else { return }
    try connection.execute(
      """
      UPDATE \(links) AS t SET \(order) = p.new FROM log.places p
      WHERE t.\(key) = p.key AND t.\(owner) = p.owner AND p.old IS NOT p.new
      """)
  }
}

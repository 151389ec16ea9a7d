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

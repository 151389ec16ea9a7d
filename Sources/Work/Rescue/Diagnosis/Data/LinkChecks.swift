import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Links that are kept outside of their owners' rows, and the two sides of one-to-ones.
struct LinkChecks {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try store.audits().outside.flatMap(findings) + oneToOnes()
  }

  private func oneToOnes() throws -> [Finding] {
    try store.oneSidedLinks().map { links in
      Finding(
        .oneToOne,
        "\(links.objects) objects of \(links.entity).\(links.relationship) reference an object that does not reference them back.",
        entity: links.entity, property: links.relationship, count: links.objects,
        first: links.first.map(\.description), in: place)
    }
  }

  private func findings(of audit: LinkAudit) throws -> [Finding] {
    let counts = try store.reading { try audit.counts(on: store.connection) }
    return try LinkAudit.Fault.allCases.compactMap { fault in
      guard let count = counts[fault], count > 0, let condition = audit.condition(fault) else {
        return nil
      }
      return try audit.storage.isJoin
        ? ofJoin(audit, fault, count, condition) : ofOwner(audit, fault, count, condition)
    }
  }

  /// Rows of a join table.
  private func ofJoin(
    _ audit: LinkAudit, _ fault: LinkAudit.Fault, _ count: Int, _ condition: String
  ) throws -> Finding {
    let name = "\(audit.entity).\(audit.relationship.name)"
    let values = audit.keys.map(\.value).joined(separator: ", ")
    let pairs = try first("SELECT \(values) \(audit.rows) WHERE \(condition) ORDER BY 1, 2 LIMIT 5")
    let ends = pairs.map { pair in
      zip([audit.entity, audit.destination], pair).map { entity, key in
        key.integer.map { "\(entity)/p\($0)" } ?? "NULL"
      }.joined(separator: " – ")
    }
    func finding(
      _ kind: FindingKind, _ what: String, severity: Finding.Severity? = nil,
      code: CoreDataError.Code? = nil, remedy: Remedy? = nil
    ) -> Finding {
      Finding(
        kind,
        "\(NumberText.counted(count, "link")) of \(name) \(NumberText.agreeing(count, what)).",
        severity: severity,
        code: code, entity: audit.entity, property: audit.relationship.name, count: count,
        first: ends, in: place, remedy: remedy)
    }
    switch fault {
    case .empty: return finding(.joinNull, "have a NULL key at one end")
    case .dangling: return finding(.joinDangling, "have a missing object at one end")
    case .wrongEntity, .wrongNumber:
      return finding(
        .entityWrong, "have an object of another entity at one end", severity: .error,
        code: .managedObjectReferentialIntegrity, remedy: try strangers(of: audit))
    }
  }

  /// A look at the first objects that a join table has links of, and that are of another entity.
  private func strangers(of audit: LinkAudit) throws -> Remedy? {
    for (key, entity) in zip(audit.keys, [audit.entity, audit.destination]) {
      guard let rows = key.strangers else { continue }
      let root = store.model.root(of: entity)
      let objects = try first("SELECT DISTINCT d.Z_PK, d.Z_ENT \(rows) ORDER BY 1 LIMIT 5")
        .compactMap { store.id($0, else: root) }
      if !objects.isEmpty { return .objects(objects, of: root) }
    }
    return nil
  }

  /// Rows that name an owner, in a to-many without an inverse.
  private func ofOwner(
    _ audit: LinkAudit, _ fault: LinkAudit.Fault, _ count: Int, _ condition: String
  ) throws -> Finding {
    let entity = audit.destination
    let objects = try first("SELECT t.Z_PK \(audit.rows) WHERE \(condition) ORDER BY 1 LIMIT 5")
      .compactMap { $0.first?.integer.map { ObjectID(entity: entity, key: $0) } }
    let isDangling = fault == .dangling
    let owner = "\(audit.entity) (\(audit.relationship.name))"
    let what = isDangling ? "a missing \(owner)" : "an object that is not a \(owner)"
    let belongs = NumberText.agreeing(count, "belong to \(what)")
    return Finding(
      isDangling ? .toOneDangling : .entityWrong,
      "\(NumberText.counted(count, "object")) of \(entity) \(belongs).",
      severity: isDangling ? nil : .error,
      code: isDangling ? nil : .managedObjectReferentialIntegrity, entity: entity,
      property: audit.relationship.name, count: count, first: objects.map(\.description),
      in: place, remedy: isDangling ? nil : .objects(objects, of: entity))
  }

  private func first(_ sql: String) throws -> [[Value]] {
    try store.reading { try store.connection.rows(sql) }
  }
}

/// What the relationships of an entity ask of its rows.
struct RelationshipRules {
  let table: EntityTable
  let store: Store

  func rules() -> [RowRule] { table.relationships.flatMap(rules) }

  private func rules(_ entry: EntityTable.RelationshipColumns) -> [RowRule] {
    let relationship = entry.relationship
    guard let storage = entry.storage else { return [] }
    var rules = relationship.isToMany ? [] : toOne(relationship)
    if relationship.emptiness != .allowed {
      // What a migration only reports is a note.
      let isTold = relationship.emptiness == .told
      rules.append(
        RowRule(
          kind: .mandatory, severity: isTold ? .note : nil,
          advice: isTold
            ? "Apple's own apps leave such relationships empty, and Core Data saves and migrates them."
            : nil,
          property: relationship.name, condition: storage.isEmpty("t"),
          what: "have no related object, which the model requires",
          predicate: relationship.isToMany
            ? "\(relationship.name).@count == 0" : "\(relationship.name) == nil"))
    }
    return rules
  }

  private func toOne(_ relationship: Relationship) -> [RowRule] {
    guard let audit = store.audits().audit(of: relationship.name, in: table.entity) else {
      return []
    }
    return LinkAudit.Fault.allCases.compactMap { fault in
      audit.condition(fault).map { rule(fault, $0, relationship) }
    }
  }

  private func rule(
    _ fault: LinkAudit.Fault, _ condition: String, _ relationship: Relationship
  ) -> RowRule {
    func rule(
      _ kind: FindingKind, _ what: String, severity: Finding.Severity? = nil,
      code: CoreDataError.Code? = nil
    ) -> RowRule {
      RowRule(
        kind: kind, severity: severity, code: code, property: relationship.name,
        condition: condition, what: what)
    }
    let destination = relationship.destination
    switch fault {
    case .empty, .dangling:
      return rule(.toOneDangling, "reference missing objects of \(destination)")
    case .wrongEntity:
      return rule(
        .entityWrong, "reference objects that are not of \(destination)", severity: .error,
        code: .managedObjectReferentialIntegrity)
    case .wrongNumber:
      return rule(
        .entityWrong, "reference objects of another entity than the one stored beside them")
    }
  }
}

/// Places in ordered relationships that are missing, or that two objects share.
struct OrderCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    var told: Set<String> = []
    return try store.entityTables.flatMap { table -> [Finding] in
      guard store.database.contains(table.table) else { return [] }
      return try table.relationships.flatMap { entry -> [Finding] in
        guard let storage = entry.storage, let position = storage.position,
          told.insert(storage.table + "." + position).inserted
        else { return [] }
        return try findings(entry.relationship, of: table, storage, position)
      }
    }
  }

  private func findings(
    _ relationship: Relationship, of table: EntityTable, _ storage: RelationshipStorage,
    _ position: String
  ) throws -> [Finding] {
    guard let isUnordered = storage.isUnordered else { return [] }
    let (owner, order) = ("t." + quoted(storage.owner), "t." + quoted(position))
    // Of owners that are not there, others show.
    let rows = """
      FROM \(quoted(storage.table)) t JOIN \(quoted(table.table)) o ON o.Z_PK = \(owner)
      """
    let entity =
      store.model.declaringEntity(of: relationship.name, in: table.entity) ?? table.entity
    func finding(_ owners: String, _ what: String) throws -> [Finding] {
      let (count, first) = try store.counted(
        "SELECT coalesce(sum(n), 0) FROM (\(owners))",
        "SELECT DISTINCT k, e FROM (\(owners)) ORDER BY 1 LIMIT 5")
      guard count > 0 else { return [] }
      return [
        Finding(
          .order,
          "\(NumberText.counted(count, "object")) in \(entity).\(relationship.name) \(NumberText.agreeing(count, what)) (\(storage.table).\(position)).",
          entity: entity, property: relationship.name, count: Int(count),
          first: first.compactMap { store.id($0, else: entity)?.description }, in: place)
      ]
    }
    return try finding(
      """
      SELECT o.Z_PK AS k, o.Z_ENT AS e, count(*) AS n \(rows) WHERE \(isUnordered) GROUP BY o.Z_PK
      """, "have no order key")
      + finding(
        """
        SELECT o.Z_PK AS k, o.Z_ENT AS e, count(*) AS n \(rows) WHERE \(order) IS NOT NULL
        GROUP BY o.Z_PK, \(order) HAVING count(*) > 1
        """, "share their order key")
  }
}

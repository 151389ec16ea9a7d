import ManagedModel
import ManagedStore
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
        kind, "\(count) \(count == 1 ? "link" : "links") of \(name) \(what).", severity: severity,
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
    return Finding(
      isDangling ? .toOneDangling : .entityWrong,
      isDangling
        ? "\(count) objects of \(entity) belong to a missing \(owner)."
        : "\(count) objects of \(entity) belong to an object that is not a \(owner).",
      severity: isDangling ? nil : .error,
      code: isDangling ? nil : .managedObjectReferentialIntegrity, entity: entity,
      property: audit.relationship.name, count: count, first: objects.map(\.description),
      in: place, remedy: isDangling ? nil : .objects(objects, of: entity))
  }

  private func first(_ sql: String) throws -> [[Value]] {
    try store.reading { try store.connection.rows(sql) }
  }
}

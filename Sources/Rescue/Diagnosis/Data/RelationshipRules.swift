import ManagedModel
import ManagedStore
import Migration
import SQLite

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
      // What a migration only tells is a note.
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

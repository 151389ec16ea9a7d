import ManagedModel
import ManagedStore
import SQLite

/// What the relationships of an entity ask of its rows.
struct RelationshipRules {
  let table: EntityTable
  let store: Store

  func rules() -> [RowRule] { table.relationships.flatMap(rules) }

  private func rules(_ entry: EntityTable.RelationshipColumns) -> [RowRule] {
    let relationship = entry.relationship
    guard let storage = entry.storage else { return [] }
    var rules = storage.toOneColumn.map { toOne(relationship, "t." + quoted($0), storage) } ?? []
    if !relationship.isOptional {
      // Apple's engine lets a mandatory to-many begin empty, and apps' stores are full of them.
      rules.append(
        RowRule(
          kind: .mandatory, severity: relationship.isToMany ? .note : nil,
          advice: relationship.isToMany
            ? "Apple's apps leave such relationships empty, and Core Data saves and migrates them so."
            : nil,
          property: relationship.name, condition: storage.isEmpty("t"),
          what: "lead to no object, which the model asks for",
          predicate: relationship.isToMany
            ? "\(relationship.name).@count == 0" : "\(relationship.name) == nil"))
    }
    return rules
  }

  private func toOne(
    _ relationship: Relationship, _ column: String, _ storage: RelationshipStorage
  ) -> [RowRule] {
    guard let other = store.table(of: relationship.destination),
      store.database.contains(other.table)
    else { return [] }
    let destination = "SELECT 1 FROM \(quoted(other.table)) d WHERE d.Z_PK = \(column)"
    var rules = [
      RowRule(
        kind: .toOneDangling, property: relationship.name,
        condition: "(\(column) IS NOT NULL AND NOT EXISTS (\(destination)))",
        what: "lead to objects of \(relationship.destination) that are not there")
    ]
    if let wrong = wrongEntity(other, storage) {
      rules.append(
        RowRule(
          kind: .entityWrong, property: relationship.name,
          condition: "(\(column) IS NOT NULL AND EXISTS (\(destination) AND (\(wrong))))",
          what: "lead to objects of another entity than they say"))
    }
    return rules
  }

  /// SQL that is true of an object `d` that a row `t` cannot lead to.
  private func wrongEntity(_ other: EntityTable, _ storage: RelationshipStorage) -> String? {
    var conditions: [String] = []
    if let rest = other.kindRows("d") { conditions.append("NOT (\(rest))") }
    if let column = storage.entityColumn {
      conditions.append("t.\(quoted(column)) IS NOT d.Z_ENT")
    }
    return conditions.isEmpty ? nil : conditions.joined(separator: " OR ")
  }
}

import ManagedModel
import ManagedStore
import SQLite

/// Rules that a handler must not break: those of the version it works on.
///
/// What was broken before is no fault of it. Uniqueness is kept by the store's own indexes.
struct StageRules {
  let schema: StoreSchema
  let connection: Connection

  struct Rule: Hashable {
    let entity: String
    let property: String
    let message: String
  }

  func broken() throws -> [Rule: Int] {
    var broken: [Rule: Int] = [:]
    func check(_ table: EntityTable, _ property: String, _ message: String, _ sql: String) throws {
      let count = try connection.number(
        "SELECT count(*) FROM main.\(quoted(table.table)) t WHERE t.Z_ENT = \(table.entityID) AND \(sql)"
      )
      guard count > 0 else { return }
      broken[Rule(entity: table.entity, property: property, message: message)] = count
    }
    for entity in schema.model.entities where !entity.isAbstract {
      guard let table = schema.entityTable(of: entity.name) else { continue }
      for entry in table.attributes where !entry.attribute.isOptional && !entry.attribute.isDerived
      {
        try check(
          table, entry.attribute.name, "missing values on a mandatory attribute",
          "t.\(quoted(entry.column)) IS NULL")
      }
      for entry in table.relationships {
        let name = entry.relationship.name
        if entry.relationship.emptiness == .refused, let empty = table.emptiness(of: name) {
          try check(table, name, "missing objects on a mandatory relationship", empty)
        }
      }
    }
    return broken
  }

  func requireNoMore(than before: [Rule: Int], phase: String) throws {
    let worse = try broken().filter { $0.value > before[$0.key] ?? 0 }
    guard
      let (rule, count) = worse.min(by: {
        ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property)
      })
    else { return }
    throw CoreDataError(
      .refused, code: .migration, "\(phase) leaves \(rule.message), in \(count) rows",
      entity: rule.entity, property: rule.property,
      hint: "Let \(phase) set it. The store is as it was.")
  }
}

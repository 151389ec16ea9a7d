import ManagedModel
import ManagedStore
import SQLite

/// Looks for objects that a step would make equal under a uniqueness constraint.
///
/// The source is attached to the connection as `src`. All mappings into the entity and those below
/// it count together, each with its own expressions; NULL is never a duplicate.
struct ConstraintCheck {
  let schema: StoreSchema
  let rows: [DestinationRows]
  let connection: Connection

  func check(_ constraint: [String], of entity: String, isNew: Bool) throws -> [DataCheck] {
    let columns = constraint.compactMap { schema.column(of: $0, in: entity) }
    guard columns.count == constraint.count else { return [] }
    let keys = columns.map { quoted($0) }
    let selects = rows.filter { row in
      schema.model.isKind(row.entity, of: entity)
        && columns.allSatisfy { column in row.columns.contains { $0.name == column } }
    }.map { row in
      // Kept apart, so that a plain number is no position in GROUP BY.
      "SELECT Z_PK, \(keys.joined(separator: ", ")) FROM (\(row.selectAll))"
    }
    guard !selects.isEmpty else { return [] }
    let groups = """
      SELECT min(Z_PK) AS k, count(*) AS n FROM (\(selects.joined(separator: " UNION ALL ")))
      WHERE \(keys.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
      GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1
      """
    let counted = try connection.rows("SELECT count(*), coalesce(sum(n), 0) FROM (\(groups))").first
    guard let counted, counted.count == 2, let count = counted[0].integer, count > 0 else {
      return []
    }
    let first = try connection.rows("SELECT k FROM (\(groups)) ORDER BY k LIMIT 5")
    return [
      DataCheck(
        code: 134111, entity: entity, property: constraint.joined(separator: ", "),
        rows: Int(counted[1].integer ?? 0),
        first: first.compactMap { $0.first?.integer.map { ObjectID(entity: entity, key: $0) } },
        message: "duplicates under a \(isNew ? "new " : "")uniqueness constraint, \(count) groups",
        hint: "Merge or change the duplicates first, or leave the constraint out.")
    ]
  }
}

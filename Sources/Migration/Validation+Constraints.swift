import ManagedModel
import ManagedStore
import SQLite

extension Validation {
  /// Objects that policies made equal under a uniqueness constraint, before an index meets them.
  ///
  /// - Throws: ``CoreDataError`` of kind refused, code 134111, naming the properties and the rows.
  func checkConstraints() throws {
    for entity in step.destination.entities {
      for constraint in entity.uniquenessConstraints {
        try check(constraint, of: entity.name)
      }
    }
  }

  private func check(_ constraint: [String], of entity: String) throws {
    let schema = schemas.destination
    let columns = constraint.compactMap { schema.column(of: $0, in: entity) }.map { quoted($0) }
    guard columns.count == constraint.count, let table = schema.table(of: entity)?.name else {
      return
    }
    let numbers = schema.model.subtree(of: entity).compactMap { schema.numbers[$0] }
      .map(String.init).joined(separator: ", ")
    let groups = """
      SELECT min(Z_PK) AS k, count(*) AS n FROM main.\(quoted(table))
      WHERE Z_ENT IN (\(numbers)) AND \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
      GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1
      """
    let count = try connection.value("SELECT coalesce(sum(n), 0) FROM (\(groups))")?.integer ?? 0
    guard count > 0 else { return }
    let first = try connection.rows("SELECT k FROM (\(groups)) ORDER BY k LIMIT 5")
      .compactMap { $0.first?.integer.map { ObjectID(entity: entity, key: $0).description } }
    throw CoreDataError(
      .refused, code: 134111,
      "duplicates under a uniqueness constraint, in \(count) rows (first: \(first.joined(separator: ", ")))",
      entity: entity, property: constraint.joined(separator: ", "),
      hint:
        "Let the policy make one object of those that are equal, or leave the constraint out. The store is as it was."
    )
  }
}

import ManagedModel
import ManagedStore
import SQLite

/// Looks for objects that a step would make equal under a uniqueness constraint.
///
/// The source is attached to the connection as `src`. All mappings into the entity and those below
/// it count together, each with its own expressions; NULL is never a duplicate.
struct ConstraintCheck {
  let schema: StoreSchema
  let rows: [RowProgram]
  let connection: Connection

  func check(_ constraint: [String], of entity: String, isNew: Bool) throws -> [DataCheck] {
    let columns = constraint.compactMap { schema.column(of: $0, in: entity) }
    guard columns.count == constraint.count else { return [] }
    let keys = columns.map { quoted($0) }
    let selects = rows.filter { row in
      schema.model.isKind(row.entity, of: entity)
        && columns.allSatisfy(row.writes)
    }.map { row in
      // Kept apart, so that a plain number is no position in GROUP BY.
      "SELECT Z_PK, \(keys.joined(separator: ", ")) FROM (\(row.selectAll))"
    }
    guard !selects.isEmpty else { return [] }
    let duplicates = try Duplicates(
      of: selects.joined(separator: " UNION ALL "), by: keys, entity: entity, on: connection)
    guard let duplicates else { return [] }
    return [
      DataCheck(
        code: .migrationConstraintViolation, entity: entity,
        property: constraint.joined(separator: ", "),
        rows: duplicates.rows.count, first: duplicates.rows.first,
        message:
          "duplicates under a \(isNew ? "new " : "")uniqueness constraint, \(duplicates.groups) groups",
        hint: "Merge or change the duplicates first, or leave the constraint out.",
        asked: constraint)
    ]
  }
}

/// Rows that are equal in some columns; NULL is never equal.
package struct Duplicates {
  /// How many groups of equal rows there are.
  package let groups: Int
  /// How many rows there are in all groups, and the first of the first groups.
  package let rows: FoundRows

  /// - Parameters:
  ///   - select: rows with Z_PK and the columns.
  ///   - keys: the columns, quoted.
  package init?(
    of select: String, by keys: [String], entity: String, on connection: Connection
  ) throws {
    let groups = """
      FROM (SELECT min(Z_PK) AS k, count(*) AS n FROM (\(select))
      WHERE \(keys.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
      GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1)
      """
    let counted = try connection.rows("SELECT count(*), coalesce(sum(n), 0) \(groups)").first
    guard let count = counted?.first?.integer, count > 0 else { return nil }
    self.groups = Int(count)
    rows = try FoundRows(
      groups, key: "k", of: entity, on: connection, count: Int(counted?.last?.integer ?? 0))
  }
}

import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Dates that an edit wrote and that no calendar shows.
extension EditRules {
  /// Core Data keeps them as they are: they are no reason to refuse, and rarely what was meant.
  ///
  /// - Returns: a sentence for each attribute of an entity.
  func oddDates() throws -> [String] {
    try changedTables().flatMap { table in
      let names = try changedProperties(of: table)
      return try table.attributes.compactMap { entry in
        entry.attribute.type == .date && names.contains(entry.attribute.name)
          ? try oddDates(entry, table) : nil
      }
    }
  }

  private func oddDates(
    _ entry: EntityTable.AttributeColumn, _ table: EntityTable
  ) throws -> String? {
    let column = "t." + quoted(entry.column)
    let dates = CoreDataDate.sensible
    let rows = """
      FROM main.\(quoted(table.table)) t WHERE \(touched(entry.attribute.name, table))
      AND typeof(\(column)) IN ('integer', 'real')
      AND NOT (\(column) >= \(dates.lowerBound) AND \(column) < \(dates.upperBound))
      """
    let found = try FoundRows(rows, key: "t.Z_PK", of: table.entity, on: connection)
    guard let first = found.first.first,
      case .real(let seconds)? = try connection.value(
        "SELECT CAST(\(column) AS REAL) \(rows) AND t.Z_PK = ?", [.integer(first.key)]),
      let oddity = CoreDataDate.oddity(seconds)
    else { return nil }
    let others = found.count - 1
    return "\(first).\(entry.attribute.name) is not a date that an app can show: \(oddity)"
      + (others > 0
        ? "; \(NumberText.counted(others, "other object")) \(others == 1 ? "has" : "have") one as well"
        : "")
  }
}

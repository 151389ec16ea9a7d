import ManagedModel
import ManagedStore
import SQLite

extension Verification {
  /// Columns with what is true of a row that is not as planned.
  func comparisons(of row: RowProgram) -> [(name: String, difference: String)] {
    var compared = row.columns.dropFirst().filter {
      $0.value.sql != nil && !$0.value.isLater && !(isForeign && $0.name == "Z_OPT")
    }.map { column in
      let (actual, wanted) = ("d." + quoted(column.name), "e." + quoted(column.name))
      if isForeign, mayBeInFile(column.name, of: row) {
        return (
          column.name,
          """
          (\(actual) IS NOT \(wanted) OR \(MarkedBytes.isFile(actual)))
          AND strata_result(\(actual)) IS NOT strata_digest(\(wanted))
          """
        )
      }
      // Objects that had no position in an order were given one.
      if case .position = column.value {
        return (column.name, "\(actual) IS NOT \(wanted) AND \(wanted) IS NOT NULL")
      }
      guard isReal(column.name, of: row) else {
        return (column.name, "\(actual) IS NOT \(wanted)")
      }
      // A column of real numbers keeps a whole number, and one that text shows, with no more digits than
      // these have. CASE asks the second where the first says so only, as AND does not.
      return (
        column.name,
        """
        CASE WHEN \(actual) IS NOT \(wanted)
        THEN \(actual) IS NOT CAST(\(wanted) AS REAL) OR typeof(\(wanted)) NOT IN ('integer', 'text')
        OR \(wanted) GLOB '*[^-+.0-9eE ]*' ELSE 0 END
        """
      )
    }
    compared += row.columns.compactMap { column in
      guard case .derived(let derived, _) = column.value, derived.isExact else { return nil }
      return (column.name, "d.\(quoted(column.name)) IS NOT \(derived.sql)")
    }
    // Core Data fills a new attribute's column with its default in all rows of the table, those of
    // other entities too, which nobody sees.
    compared += row.columns.filter { $0.value == .empty || !isForeign && $0.value == .foreign }
      .map { ($0.name, "d.\(quoted($0.name)) IS NOT NULL") }
    guard !policyMappings.isEmpty else { return compared }
    return compared.map {
      ($0.0, "CASE WHEN \($0.1) THEN NOT \(isTouched("d.Z_PK", in: row.table)) ELSE 0 END")
    }
  }

  /// Whether a column holds what was planned where it is stored as planned: not so where the bytes are in
  /// files that both stores have of their own, and of no interest where another program may have written.
  func isStoredAsPlanned(_ column: String, of row: RowProgram) -> Bool {
    guard isForeign else { return true }
    return column != "Z_OPT" && !mayBeInFile(column, of: row)
      && row.value(of: column) != .foreign
  }

  /// SQL that is true of objects that a policy linked or changed by hand, which no mapping shows.
  func isTouched(_ key: String, in table: String) -> String {
    """
    EXISTS (SELECT 1 FROM temp.\(PolicyRun.touched) x WHERE x.place = \(AttributeValue.string(table).literal)
    AND x.key = \(key))
    """
  }

  private func mayBeInFile(_ column: String, of row: RowProgram) -> Bool {
    attribute(of: column, in: row)?.allowsExternalBinaryDataStorage ?? false
  }

  private func isReal(_ column: String, of row: RowProgram) -> Bool {
    let type = attribute(of: column, in: row)?.type
    return type == .double || type == .float
  }

  private func attribute(of column: String, in row: RowProgram) -> Attribute? {
    destination.property(of: column, in: row).flatMap {
      step.destination.storedAttribute(named: $0, of: row.entity)
    }
  }
}

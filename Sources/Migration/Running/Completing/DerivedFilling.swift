import ManagedModel
import ManagedStore
import SQLite

/// The value of a derived attribute that a migration computes for rows that are there already.
struct DerivedFilling: Equatable {
  let column: String
  /// SQL over the destination's tables.
  let sql: String
  /// Whether computing it twice must give the same: sums of real numbers depend on their order.
  let isExact: Bool
}

extension StepSchemas {
  /// What a derived attribute that is new, or is computed otherwise than before, holds in the rows
  /// of a mapping, over the destination's row; `nil` for all other columns, and for `now()`: no
  /// object was saved, so that a migration has no moment to state.
  func derivedFilling(
    for column: StoreSchema.Column, in entityMapping: EntityMapping, row: String = "s"
  ) -> DerivedFilling? {
    guard case .attribute(let declarer, let name) = column.content, let from = entityMapping.source,
      let to = entityMapping.destination, destinationModel.isKind(to, of: declarer),
      let attribute = destinationModel.attribute(named: name, of: to), attribute.isDerived,
      let attributeMapping = entityMapping.attribute(named: name),
      attributeMapping.expression == nil
    else { return nil }
    let former = attributeMapping.source.flatMap { sourceModel.attribute(named: $0, of: from) }
    guard former?.derivation != attribute.derivation,
      let value = destination.derivedExpression(for: attribute, of: to, row: row, schema: "main.")
    else { return nil }
    return DerivedFilling(column: column.name, sql: value.sql, isExact: value.isExact)
  }
}

extension StepCompletion {
  /// Computes derived attributes that are new, as the store's triggers would have kept them up.
  ///
  /// Rows, links and indexes are in place by now, and the numbers are the destination's.
  func fillDerivedAttributes() throws {
    for table in destination.tables {
      for entityMapping in schemas.mappings(into: table) {
        let fillings = table.columns.compactMap {
          schemas.derivedFilling(for: $0, in: entityMapping)
        }
        guard !fillings.isEmpty, let to = entityMapping.destination,
          let number = destination.numbers[to]
        else { continue }
        let assignments = fillings.map { "\(quoted($0.column)) = \($0.sql)" }
        let name = "main." + quoted(table.name)
        try KeyRanges(connection: connection, table: name).forEach { low, high in
          try meter.checkCancelled()
          try connection.run(
            """
            UPDATE \(name) AS s SET \(assignments.joined(separator: ", "))
            WHERE s.Z_PK BETWEEN ? AND ? AND s.Z_ENT = ?
            """, [.integer(low), .integer(high), .integer(number)])
        }
      }
    }
  }
}

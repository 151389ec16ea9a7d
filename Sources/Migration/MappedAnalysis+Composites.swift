import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  /// Objects that a mapping leaves without a value in a mandatory composite attribute.
  func emptyComposites(_ row: DestinationRows) throws -> [DataCheck] {
    guard let table = schemas.destination.entityTable(of: row.entity) else { return [] }
    let given = Set(row.columns.map(\.name))
    return try step.destination.mandatoryComposites(of: row.entity).compactMap { composite in
      let isMissing = composite.isMissing { name in
        table.column(of: name).flatMap { given.contains($0) ? "e.\(quoted($0))" : nil }
      }
      let from = "FROM (\(row.selectAll)) e WHERE \(isMissing)"
      guard let count = try connection.value("SELECT count(*) \(from)")?.integer, count > 0 else {
        return nil
      }
      let first = try connection.rows("SELECT e.Z_PK \(from) ORDER BY e.Z_PK LIMIT 5")
      return DataCheck(
        code: 1570, entity: row.entity, property: composite.name, rows: Int(count),
        first: first.compactMap { $0.first?.integer.map { ObjectID(entity: row.entity, key: $0) } },
        message: composite.message, hint: composite.hint, isWarning: true)
    }
  }
}

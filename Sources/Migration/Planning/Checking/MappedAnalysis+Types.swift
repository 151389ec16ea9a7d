import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  /// Computed values that the attribute's column cannot hold as its type. The run refuses them by the same
  /// rule, but only when all is done.
  ///
  /// What is true is of a row `e`.
  func typeRules(_ row: RowProgram) -> [DestinationRule] {
    guard let entityMapping = step.mapping.mapping(named: row.mapping) else { return [] }
    let isChild = entityMapping.destination != row.entity
    return row.written.compactMap { column in
      guard let attribute = schemas.destination.attribute(of: column.name, in: row),
        isChild || entityMapping.attribute(named: attribute.name)?.expression != nil
      else { return nil }
      return .type(of: attribute, in: row.entity, value: "e.\(quoted(column.name))")
    }
  }

  /// Numbers that are copied into a column of a type which cannot hold them as they are.
  func cutNumbers(of row: RowProgram) throws -> [Loss] {
    guard let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source
    else { return [] }
    var losses: [Loss] = []
    for column in row.written {
      guard let attribute = schemas.destination.attribute(of: column.name, in: row),
        let former = entityMapping.attribute(named: attribute.name)?.source,
        let before = step.source.storedAttribute(named: former, of: from),
        let change = TypeChange(from: before.type, to: attribute.type),
        let place = store.table(of: from)?.column(of: former)
      else { continue }
      for (misfit, condition) in change.misfits("s." + quoted(place)) {
        let found = try FoundRows(
          "FROM \(row.from) WHERE \((row.conditions.map(\.sql) + [condition]).allTrue)",
          key: "s.Z_PK",
          of: from, on: connection)
        guard found.count > 0 else { continue }
        var loss = Loss(
          entity: from, property: former, values: found.count,
          samples: found.first.map(\.description))
        loss.misfit = misfit
        losses.append(loss)
      }
    }
    return losses
  }
}

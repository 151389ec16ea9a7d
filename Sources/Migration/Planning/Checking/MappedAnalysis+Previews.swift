import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  /// The first rows of mappings that compute something, before and after.
  func previews(limit: Int = 3) throws -> [MappingPreview] {
    var previews: [MappingPreview] = []
    for row in mapped.rows {
      guard let entityMapping = step.mapping.mapping(named: row.mapping),
        let from = entityMapping.source, let table = schemas.destination.entityTable(of: row.entity)
      else { continue }
      let computes =
        entityMapping.destination != row.entity || entityMapping.distinct != nil
        || entityMapping.condition != nil
        || entityMapping.attributes.contains { $0.expression != nil }
      guard computes else { continue }
      let read =
        store.table(of: from)?.attributes.filter {
          mapped.used[from]?.contains($0.attribute.name) == true
        } ?? []
      let after = table.attributes.filter { entry in
        row.writes(entry.column)
      }
      let values =
        read.map { "s.\(quoted($0.column))" }
        + after.map { entry in row.value(of: entry.column)?.sql ?? "NULL" }
      let rows = try connection.rows(
        "SELECT \((["s.Z_PK"] + values).joined(separator: ", ")) FROM \(row.from)\(row.conditions.filter) ORDER BY \(row.ranges.key) LIMIT \(limit)"
      )
      for values in rows where values.count == 1 + read.count + after.count {
        previews.append(
          MappingPreview(
            mapping: row.mapping, source: values[0].integer.map { ObjectID(entity: from, key: $0) },
            destination: row.entity,
            before: read.enumerated().map { index, entry in
              .init(
                name: entry.attribute.name,
                value: Self.text(values[1 + index], of: entry.attribute))
            },
            after: after.enumerated().map { index, entry in
              .init(
                name: entry.attribute.name,
                value: Self.text(values[1 + read.count + index], of: entry.attribute))
            }))
      }
    }
    return previews
  }

  private static func text(_ value: Value, of attribute: Attribute) -> String {
    SampleText.text(of: .value(AttributeValue(column: value, of: attribute)))
  }
}

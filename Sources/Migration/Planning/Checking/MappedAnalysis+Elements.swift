import ManagedModel
import ManagedStore

extension MappedAnalysis {
  /// Objects whose `each` gives no JSON array: nothing hangs on what becomes of them.
  ///
  /// Elements of elements are not looked at.
  func elementNotes() throws -> [String] {
    var notes: [String] = []
    for entityMapping in step.mapping.entityMappings {
      guard let from = entityMapping.source else { continue }
      for child in entityMapping.children {
        guard let each = child.each else { continue }
        let scope = ExpressionScope(store: store, entity: from, row: "t", schema: "")
        let list = try each.compiled(
          in: scope, mapping: entityMapping.name, property: child.relationship
        ).sql
        let condition = try entityMapping.condition.map {
          try $0.compiled(in: scope, mapping: entityMapping.name, property: nil).sql
        }
        let other =
          "CASE WHEN json_valid(\(list)) THEN json_type(\(list)) <> 'array' ELSE (\(list)) IS NOT NULL END"
        guard
          let rows = data.rows(
            of: from, where: [other] + (condition.map { [$0] } ?? []), in: "src.")
        else { continue }
        let found = try entityMapping.evaluating(property: { child.relationship }) {
          try connection.rows("SELECT count(*), min(t.Z_PK) \(rows)")
        }
        guard let row = found.first, let count = row.first?.integer, count > 0,
          let key = row.last?.integer
        else { continue }
        let first = ObjectID(entity: from, key: key)
        notes.append(
          "“each” of \(child.relationship) (\(entityMapping.name)) is not a JSON array in \(NumberText.counted(count, "row")), the first \(first): no \(child.destination) is created there."
        )
      }
    }
    return notes
  }
}

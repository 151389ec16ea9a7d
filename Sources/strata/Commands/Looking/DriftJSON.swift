import JSON
import ManagedStore

extension JSONWriter {
  /// What of a store's tables does not fit its model; `info` prints it as a member.
  mutating func drift(_ drift: StoreDrift) {
    object { json in
      json.objects("missingTables", drift.missingTables) {
        ["entity": $0.entity, "table": $0.table]
      }
      for (name, columns) in [
        ("missingColumns", drift.missingColumns), ("unexpectedColumns", drift.unexpectedColumns),
        ("otherTypes", drift.otherTypes),
      ] {
        json.objects(name, columns) {
          [
            "table": $0.table, "column": $0.column, "entity": $0.entity, "property": $0.property,
            "expected": $0.expected, "found": $0.found,
          ]
        }
      }
      json.objects("numbers", drift.numbers) { number in
        var only = StoreDrift()
        only.numbers = [number]
        return [
          "entity": number.entity, "id": number.number.map(String.init),
          "problem": only.sentences.first,
        ]
      }
      json.objects("rows", drift.rows) { ["table": $0.table, "id": $0.number, "count": $0.count] }
      json.objects("joins", drift.joins) {
        [
          "entity": $0.entity, "relationship": $0.relationship, "expected": $0.expected,
          "found": $0.found,
        ]
      }
    }
  }
}

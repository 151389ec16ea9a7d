import JSON
import ManagedStore

extension JSONWriter {
  /// What of a store's tables does not fit its model; `info` prints it as a member.
  mutating func drift(_ drift: StoreDrift) {
    object { json in
      json.list("missingTables", drift.missingTables) {
        [("entity", $0.entity), ("table", $0.table)]
      }
      for (name, columns) in [
        ("missingColumns", drift.missingColumns), ("unexpectedColumns", drift.unexpectedColumns),
        ("otherTypes", drift.otherTypes),
      ] {
        json.list(name, columns) {
          [
            ("table", $0.table), ("column", $0.column), ("entity", $0.entity),
            ("property", $0.property), ("expected", $0.expected), ("found", $0.found),
          ]
        }
      }
      json.list("numbers", drift.numbers) { number in
        var only = StoreDrift()
        only.numbers = [number]
        return [
          ("entity", number.entity), ("id", number.number.map(String.init)),
          ("problem", only.sentences.first),
        ]
      }
      json.objects("rows", drift.rows) { json, row in
        json.field("table", row.table)
        json.field("id", row.number)
        json.field("count", row.count)
      }
      json.list("joins", drift.joins) {
        [
          ("entity", $0.entity), ("relationship", $0.relationship), ("expected", $0.expected),
          ("found", $0.found),
        ]
      }
    }
  }

  /// A member that is an array of objects of text.
  mutating func list<T>(_ name: String, _ items: [T], _ members: (T) -> [(String, String?)]) {
    key(name)
    array { json in
      for item in items {
        json.object { json in
          for (key, value) in members(item) {
            json.field(key, value)
          }
        }
      }
    }
  }
}

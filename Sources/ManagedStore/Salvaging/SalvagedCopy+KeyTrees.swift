import SQLite
import Salvage

extension SalvagedCopy {
  /// Puts rows in of tables that keep them in the tree of their primary key.
  func fillTreesOfKeys() throws {
    for entry in source.objects where entry.object.isWithoutRowID && entry.root > 1 {
      let name = entry.object.name
      let key = try connection.rows("PRAGMA index_list(\(quoted(name)))").first {
        $0.count >= 4 && $0[3].text == "pk"
      }?[1].text
      // The columns of the key stand first, then the others.
      let columns =
        try key.map { key in
          try connection.rows("PRAGMA index_xinfo(\(quoted(key)))").compactMap { $0[2].text }
        } ?? []
      guard !columns.isEmpty else { continue }
      let insert = try connection.prepare(
        "INSERT OR IGNORE INTO \(quoted(name)) (\(columns.map(quoted).joined(separator: ", "))) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
      )
      let encoding = source.image.header.encoding
      let isWhole = try IndexTree.rows(of: entry.root, in: source.image) { record in
        guard record.count <= columns.count, record.isWhole else { return unplaced += 1 }
        insert.reset()
        for index in columns.indices {
          try insert.bind(record.value(index)?.value(encoding) ?? .null, at: index)
        }
        try insert.step()
      }
      if !isWhole { unplaced += 1 }
    }
  }
}

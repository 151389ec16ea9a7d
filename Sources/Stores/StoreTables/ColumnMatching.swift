extension StoreSchema {
  /// Finds the columns whose names carry an entity ID where a real store has them under another ID.
  ///
  /// Core Data computes such a name again each time it opens a store (`Z3_INGREDIENT`, `Z_FOK_12STEPS`), so a program that
  /// shifted the entity IDs and left the columns alone leaves a store that Core Data does not open. The
  /// column is read as it is where the names without their IDs leave no doubt about which it is; else it keeps
  /// the computed name, and is missing.
  func columnsFitted(to database: DatabaseTables) -> StoreSchema {
    var copy = self
    for (place, table) in tables.enumerated() {
      guard let actual = database.tables[table.name] else { continue }
      // SQLite compares names of columns without regard to case.
      let there = Set(actual.map { $0.name.uppercased() })
      let absent = table.columns.indices.filter {
        table.columns[$0].content.isNumbered
          && !there.contains(table.columns[$0].name.uppercased())
      }
      guard !absent.isEmpty else { continue }
      let known = Set(table.columns.map { $0.name.uppercased() })
      let free = actual.map(\.name).filter { !known.contains($0.uppercased()) }
      let candidates = Dictionary(grouping: free, by: Self.unnumbered)
      let asked = Dictionary(grouping: absent) { Self.unnumbered(table.columns[$0].name) }
      for (base, columns) in asked {
        guard let base, let column = columns.first, columns.count == 1,
          let found = candidates[base], found.count == 1, let name = found.first
        else { continue }
        copy.tables[place].columns[column].name = name
      }
    }
    return copy
  }

  /// `Z12_OWNER` and `Z_FOK_12OWNER` without the ID; `nil` for a name without one.
  private static func unnumbered(_ name: String) -> String? {
    let name = name.uppercased()
    let prefix = name.hasPrefix("Z_FOK_") ? "Z_FOK_" : "Z"
    guard name.hasPrefix(prefix) else { return nil }
    let rest = name.dropFirst(prefix.count)
    let base = rest.drop { $0.isASCII && $0.isNumber }
    return base.count < rest.count ? prefix + "#" + base : nil
  }
}

extension StoreSchema.Content {
  /// Whether the column's name carries an entity ID.
  fileprivate var isNumbered: Bool {
    switch self {
    case .toOneEntity, .owner, .ownerOrder: true
    case .attribute, .toOne, .toOneOrder: false
    }
  }
}

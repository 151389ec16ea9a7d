import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Objects that are equal in what a uniqueness constraint says must differ.
struct UniquenessCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try store.model.entities.flatMap { entity in
      try entity.uniquenessConstraints.compactMap { try finding($0, of: entity.name) }
    }
  }

  private func finding(_ constraint: [String], of entity: String) throws -> Finding? {
    let columns = constraint.compactMap { store.schema.column(of: $0, in: entity) }
    guard columns.count == constraint.count, !columns.isEmpty,
      let table = store.table(of: entity),
      Set(columns).isSubset(of: store.database.columns(of: table.table))
    else { return nil }
    let keys = columns.map { quoted($0) }
    let found = try store.reading {
      // By the table, not by the index that should have kept them apart.
      try Duplicates(
        of: """
          SELECT Z_PK, \(keys.map { "+\($0) AS \($0)" }.joined(separator: ", "))
          FROM \(quoted(table.table)) NOT INDEXED WHERE Z_ENT IN (\(table.numbers.list))
          """, by: keys, entity: entity, on: store.connection)
    }
    guard let found else { return nil }
    let names = constraint.joined(separator: ", ")
    return Finding(
      .uniqueness,
      "\(found.rows.count) objects of \(entity) have equal values of \(names), in \(NumberText.counted(found.groups, "group")).",
      entity: entity, property: names, count: found.rows.count,
      first: found.rows.first.map(\.description), in: place)
  }
}

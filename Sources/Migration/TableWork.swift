import ManagedModel
import ManagedStore
import SQLite

/// What must happen to one table of the clone, decided before anything runs.
enum TableWork {
  /// The columns stay where they are; some may be appended, filled, or take new entity numbers.
  case alter(TableAlteration)
  /// The table is made anew and its rows are copied from the source.
  case rebuild
}

struct TableAlteration {
  /// Columns to append: name and type.
  var added: [StoreSchema.Column] = []
  /// For each entity mapping (by name), column and expression over the table's own row.
  var fills: [(mapping: EntityMapping, assignments: [(column: String, sql: String)])] = []
}

extension StepSchemas {
  /// Decides how a table of the destination comes about.
  ///
  /// Appending columns costs no more than their values. A column that goes or changes its place
  /// needs the whole table written again, as Core Data does too.
  func work(for table: StoreSchema.Table) -> TableWork {
    let mappings = self.mappings(into: table)
    let sourceTables = Set(mappings.compactMap { $0.source.flatMap { store.table(of: $0)?.table } })
    guard sourceTables == [table.name], let actual = store.database.tables[table.name],
      let former = store.schema.tables.first(where: { $0.name == table.name })
    else { return .rebuild }
    let present = Dictionary(actual.map { ($0.name, $0.type) }) { first, _ in first }
    let wanted = Set(table.columns.map(\.name))
    // A column of the source model that the destination does not have must go.
    guard former.columns.allSatisfy({ wanted.contains($0.name) || present[$0.name] == nil }) else {
      return .rebuild
    }
    // Frameworks up to 851 wrote a uniqueness constraint into the table, where no ALTER reaches it.
    guard store.database.sql[table.name]?.contains(" UNIQUE") != true else { return .rebuild }
    var alteration = TableAlteration()
    alteration.added = table.columns.filter { present[$0.name] == nil }
    for column in table.columns where present[column.name] != nil {
      guard present[column.name]?.uppercased() == column.type else { return .rebuild }
    }
    for entityMapping in mappings {
      var assignments: [(String, String)] = []
      for column in table.columns {
        let sql = expression(for: column.content, in: entityMapping)
        let identity = "s." + quoted(column.name)
        if present[column.name] != nil {
          // Columns of other entities are empty in these rows anyway.
          guard let sql else {
            guard isForeign(column.content, to: entityMapping) else { return .rebuild }
            continue
          }
          if sql != identity {
            // A NULL that takes the default is an update; anything else reads other columns.
            guard sql.hasPrefix("coalesce(\(identity),") else { return .rebuild }
            assignments.append((column.name, sql))
          }
        } else if let sql {
          assignments.append((column.name, sql))
        }
      }
      if !assignments.isEmpty { alteration.fills.append((entityMapping, assignments)) }
    }
    return .alter(alteration)
  }

  /// Mappings whose objects end in the table of a hierarchy.
  func mappings(into table: StoreSchema.Table) -> [EntityMapping] {
    mapping.entityMappings.filter { entityMapping in
      guard entityMapping.source != nil, let to = entityMapping.destination else { return false }
      return destinationModel.root(of: to) == table.root
    }
  }

  /// Whether the column belongs to an entity that the mapping's objects are not of.
  private func isForeign(_ content: StoreSchema.Content, to entityMapping: EntityMapping) -> Bool {
    guard let to = entityMapping.destination else { return true }
    switch content {
    case .attribute(let entity, _), .toOne(let entity, _), .toOneEntity(let entity, _),
      .toOneOrder(let entity, _):
      return !destinationModel.isKind(to, of: entity)
    case .owner(let owner, let name), .ownerOrder(let owner, let name):
      guard let relationship = destinationModel.relationship(named: name, of: owner) else {
        return true
      }
      return !destinationModel.isKind(to, of: relationship.destination)
    }
  }
}

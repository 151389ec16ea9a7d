import ManagedStore
import SQLite

/// Tables of the model that are missing are made, empty, with their indexes and triggers, as a new store of
/// the model has them.
struct TableMending {
  let work: RepairWork

  func run() throws {
    guard work.kinds.contains(.tableMissing) else { return }
    let source = work.source
    let schema = source.schema.expected
    let joins = source.drift.joins.filter { $0.found == nil }
    var made: Set<String> = []
    for missing in source.drift.missingTables {
      guard let table = schema.tables.first(where: { $0.name == missing.table }) else { continue }
      try make(table.name, table.sql, of: missing.entity, nil)
      made.insert(table.name)
    }
    for missing in joins {
      guard let join = schema.joins.first(where: { $0.name == missing.expected }) else { continue }
      try make(join.name, join.sql, of: missing.entity, missing.relationship)
      made.insert(join.name)
    }
    let style = IndexStyle(frameworkVersion: source.metadata.frameworkVersion)
    for index in schema.indexStatements(style) where made.contains(index.table) {
      try work.connection.execute(index.sql)
    }
    var triggers = schema.triggerGroups.flatMap(\.statements)
    for tree in schema.rtreeIndexes where made.contains(tree.table) {
      if !source.database.contains(tree.name) {
        guard work.connection.hasRTrees else { continue }
        try work.connection.execute(tree.sql)
      }
      triggers += tree.triggers
    }
    for trigger in triggers
    where made.contains(trigger.table) && source.database.triggers[trigger.name] == nil {
      try work.connection.execute(trigger.sql)
    }
  }

  private func make(
    _ name: String, _ sql: String, of entity: String, _ relationship: String?
  ) throws {
    try work.connection.execute(sql)
    try work.note(
      RepairChange(
        kind: FindingKind.tableMissing.rawValue, entity: entity,
        property: relationship ?? name, new: "\(name), empty"))
  }
}

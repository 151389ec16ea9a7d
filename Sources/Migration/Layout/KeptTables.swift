import ManagedModel
import ManagedStore

/// What of the source's structure a step leaves as it is, and what it makes as a fresh store has it.
extension StepSchemas {
  /// CREATE TABLE of a hierarchy: the source's own text where nothing about the table changes.
  func sql(of table: StoreSchema.Table) -> String { keptSQL(of: table) ?? table.sql }

  /// CREATE TABLE of a join table: the source's own text where nothing about the table changes.
  func sql(of join: StoreSchema.JoinTable) -> String { keptSQL(of: join) ?? join.sql }

  /// The text in sqlite_master of a table whose columns both models ask for alike; `nil` for one that
  /// is new, or changes.
  ///
  /// Apps, and programs of others that read the store, know these tables by their text.
  func keptSQL(of table: StoreSchema.Table) -> String? {
    guard let former = store.schema.tables.first(where: { $0.name == table.name }),
      let actual = store.database.tables[table.name]
    else { return nil }
    let present = Dictionary(first: actual.map { ($0.name, $0.type.uppercased()) })
    let wanted = Set(table.columns.map(\.name))
    // A damaged text can have lost the key: such a table is made as a fresh store has it.
    guard actual.contains(where: { $0.name == "Z_PK" && $0.isPrimaryKey }),
      ["Z_PK", "Z_ENT", "Z_OPT"].allSatisfy({ present[$0] == "INTEGER" }),
      table.columns.allSatisfy({ present[$0.name] == $0.type }),
      !present.keys.contains(where: DeferredColumn.isName),
      former.columns.allSatisfy({ wanted.contains($0.name) || present[$0.name] == nil }),
      let sql = store.database.sql[table.name]
    else { return nil }
    // Frameworks up to 851 wrote a uniqueness constraint into the table.
    guard
      !Self.hasConstraint(sql)
        || constraints(on: table.name) == Self.constraints(of: store.schema, on: table.name)
    else { return nil }
    return sql
  }

  func keptSQL(of join: StoreSchema.JoinTable) -> String? {
    // Another relationship's table can have had the name.
    guard sourceJoin(of: join)?.name == join.name,
      store.schema.joins.contains(where: {
        $0.name == join.name && Set($0.columns) == Set(join.columns)
      }),
      Set(join.columns) == store.database.columns(of: join.name)
    else { return nil }
    return store.database.sql[join.name]
  }

  /// Columns of a kept table that neither model knows: an app's own.
  func unknownColumns(of table: StoreSchema.Table) -> [String] {
    guard keptSQL(of: table) != nil else { return [] }
    let known = Set(table.columns.map(\.name)).union(["Z_PK", "Z_ENT", "Z_OPT"])
    return store.database.columns(of: table.name).subtracting(known).sorted()
  }

  /// Whether a column that the source's model does not know goes on with its values.
  func keepsUnknown(
    _ column: String, of table: String, _ strategy: MigrationPlan.Strategy
  ) -> Bool {
    guard let kept = destination.tables.first(where: { $0.name == table }) else { return false }
    if unknownColumns(of: kept).contains(column) { return true }
    guard strategy == .inPlace, case .alter = work(for: kept, rows(for: kept)) else { return false }
    return true
  }

  /// Names of the destination's tables that stay as they are in the source.
  var keptTables: Set<String> {
    Set(
      destination.tables.filter { keptSQL(of: $0) != nil }.map(\.name)
        + destination.joins.filter { keptSQL(of: $0) != nil }.map(\.name))
  }

  /// Whether a table's text holds a uniqueness constraint.
  static func hasConstraint(_ sql: String) -> Bool { sql.contains(" UNIQUE") }

  private func constraints(on table: String) -> Set<String> {
    Self.constraints(of: destination, on: table)
  }

  private static func constraints(of schema: StoreSchema, on table: String) -> Set<String> {
    Set(
      schema.indexStatements().map(\.sql).filter {
        $0.hasPrefix("CREATE UNIQUE INDEX") && $0.contains(" ON \(StoreSchema.name(table)) (")
      })
  }
}

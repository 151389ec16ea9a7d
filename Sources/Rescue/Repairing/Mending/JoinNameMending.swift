import ManagedModel
import ManagedStore
import SQLite

/// Join tables, and their columns, get the names that Core Data looks for.
struct JoinNameMending {
  let work: RepairWork
  private var connection: Connection { work.connection }

  init(_ work: RepairWork) { self.work = work }

  func run() throws {
    guard work.kinds.contains(.joinName) else { return }
    let schema = work.source.schema
    let expected = schema.expected
    let wrong = Set(work.source.drift.joins.compactMap(\.found))
    let pairs = schema.joins.compactMap {
      found -> (StoreSchema.JoinTable, StoreSchema.JoinTable)? in
      guard wrong.contains(found.name) else { return nil }
      return expected.joins.first { $0.side == found.side }.map { (found, $0) }
    }
    // One's name may be another's until now: all are put aside before any is made.
    try connection.execute("PRAGMA legacy_alter_table = ON")
    var aside: [(name: String, found: StoreSchema.JoinTable, join: StoreSchema.JoinTable)] = []
    for (number, (found, join)) in pairs.enumerated() {
      let name = "strata_join_\(number)"
      let there = try DatabaseTables(connection)
      for index in there.indexes where index.value == found.name && there.sql[index.key] != nil {
        try connection.execute("DROP INDEX main.\(quoted(index.key))")
      }
      try connection.execute("ALTER TABLE main.\(quoted(found.name)) RENAME TO \(name)")
      aside.append((name, found, join))
    }
    let indexes = expected.indexStatements(
      IndexStyle(frameworkVersion: work.source.metadata.frameworkVersion))
    for (name, found, join) in aside {
      try connection.execute(join.sql)
      try connection.execute(
        """
        INSERT INTO main.\(quoted(join.name)) (\(Self.columns(join, as: found)))
        SELECT \(Self.columns(found, as: join)) FROM main.\(name);
        DROP TABLE main.\(name)
        """)
      for index in indexes where index.table == join.name {
        try connection.execute(index.sql)
      }
      try work.note(
        RepairChange(
          kind: FindingKind.joinName.rawValue, entity: join.entity, property: join.relationship,
          old: Self.text(found), new: Self.text(join)))
    }
    try connection.execute("PRAGMA legacy_alter_table = OFF")
  }

  /// The columns of both, in the same order; a place of order that one does not have is left out.
  private static func columns(
    _ join: StoreSchema.JoinTable, as other: StoreSchema.JoinTable
  ) -> String {
    let orders = [
      other.firstOrder == nil ? nil : join.firstOrder,
      other.secondOrder == nil ? nil : join.secondOrder,
    ]
    return ([join.first, join.second] + orders.compactMap { $0 }).map { quoted($0) }
      .joined(separator: ", ")
  }

  private static func text(_ join: StoreSchema.JoinTable) -> String {
    "\(join.name) (\(join.columns.joined(separator: ", ")))"
  }
}

import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite(
  "Indexes and triggers of real stores", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureSchemaTests {
  static let stores = FixtureStoreTests.stores

  /// The R-tree of Photos comes from an attribute's user info, which holds a list: it is not read.
  private static let tree = RTreeIndex(
    name: "Z_RT_GenericAsset_boundedByRect", table: "ZGENERICASSET",
    columns: ["ZLATITUDE", "ZLONGITUDE"], isOfLocation: true)

  @Test("every trigger is written as Core Data wrote it, to the byte", arguments: stores)
  func triggers(_ path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    var made = store.schema.triggerStatements
    if store.database.contains(Self.tree.name) { made += Self.tree.triggers }
    #expect(Set(made.map(\.name)) == Set(store.database.triggers.keys))
    for trigger in made {
      #expect(store.database.triggers[trigger.name] == trigger.table)
      #expect(store.database.sql[trigger.name] == trigger.sql)
    }
  }

  @Test("the R-tree of Photos is written as Core Data wrote it")
  func tree() throws {
    let store = try Store(path: Fixtures.path("system/Photos-10.15.7.sqlite"))
    #expect(store.database.sql[Self.tree.name] == Self.tree.sql)
    #expect(RTreeIndex(named: Self.tree.name, in: store.database) == Self.tree)
  }

  @Test("every index is written as Core Data wrote it, to the byte", arguments: stores)
  func indexes(_ path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    let version = store.metadata.frameworkVersion
    let made = store.schema.indexStatements(IndexStyle(frameworkVersion: version))
    #expect(store.schema.unmadeIndexes.isEmpty)
    for index in made {
      guard let sql = store.database.sql[index.name] else {
        // Up to 851 a constraint was written into the table.
        let table = store.database.sql[index.table] ?? ""
        #expect(
          index.sql.hasPrefix("CREATE UNIQUE INDEX") && table.contains(" UNIQUE")
            || Self.isStale(index, in: store), "\(index.name) is not in the store")
        continue
      }
      #expect(sql == index.sql)
    }
    // Stores that were migrated in place keep indexes of former versions.
    guard !path.hasPrefix("wire/") else { return }
    let names = Set(made.map(\.name))
    for (name, table) in store.database.indexes where store.database.sql[name] != nil {
      // History's tables; and an app's own, which Photos names after bug reports.
      guard !table.hasPrefix("A"), !name.hasPrefix("RADAR_") else { continue }
      #expect(names.contains(name) || Self.staleNames.contains(name), "\(name) is not made")
    }
  }

  /// Photos was migrated too: these join tables' indexes have a former entity number in their name.
  private static let staleNames: Set = [
    "Z_34SUGGESTIONSBEINGKEYASSETS_Z_51SUGGESTIONSBEINGKEYASSETS_INDEX",
    "Z_34SUGGESTIONSBEINGREPRESENTATIVEASSETS_Z_51SUGGESTIONSBEINGREPRESENTATIVEASSETS_INDEX",
  ]

  /// Whether the store has the same index under a name with a former number, or a former table name.
  private static func isStale(_ index: SchemaStatement, in store: Store) -> Bool {
    func columns(_ sql: String) -> Substring? {
      sql.firstIndex(of: "(").map { sql[$0...] }
    }
    return store.database.indexes.contains { name, table in
      table == index.table && columns(store.database.sql[name] ?? "") == columns(index.sql)
    }
  }
}

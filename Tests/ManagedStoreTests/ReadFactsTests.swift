import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

/// What the check of a file finds out about rows by the way, against SQLite's own counting.
@Suite("What a check finds out by the way")
struct ReadFactsTests {
  private func facts(_ store: Store) throws -> ReadFacts {
    let check = IntegrityCheck(
      of: store.path, tables: store.database.tables.keys.sorted(),
      asking: store.schema.questions(store.entityTables))
    #expect(try check.problems(helpedBy: store.connection).isEmpty)
    return check.facts
  }

  /// Each answer that is given is SQLite's; answers how many were given.
  private func expectAgreement(_ store: Store) throws -> Int {
    let facts = try facts(store)
    let connection = store.connection
    var given = 0
    func compare<T: Equatable>(_ known: T?, _ what: String, _ counted: () throws -> T) throws {
      guard let known else { return }
      given += 1
      #expect(try known == counted(), "\(what)")
    }
    for table in store.entityTables {
      let own = table.ownRows("t").map { " WHERE \($0)" } ?? ""
      let from = "FROM \(quoted(table.table)) t\(own)"
      try compare(facts.rows(of: table), table.entity) {
        try connection.number("SELECT count(*) \(from)")
      }
      for column in store.database.columns(of: table.table) {
        try compare(facts.nulls(in: column, of: table), "\(table.entity) \(column)") {
          try connection.number("SELECT count(*) - count(\(quoted(column))) \(from)")
        }
      }
      for relationship in table.relationships {
        guard let column = relationship.storage?.toOneColumn,
          let other = store.table(of: relationship.relationship.destination)
        else { continue }
        let kind = other.kindRows("d").map { " AND \($0)" } ?? ""
        try compare(
          facts.isSound(KeyColumn(table: table.table, column: column, objects: other)),
          "\(table.entity).\(relationship.relationship.name)"
        ) {
          try connection.number(
            """
            SELECT count(*) FROM \(quoted(table.table)) t WHERE t.\(quoted(column)) IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM \(quoted(other.table)) d WHERE d.Z_PK = t.\(quoted(column))\(kind))
            """) == 0
        }
      }
      for attribute in table.attributes where attribute.attribute.allowsExternalBinaryDataStorage {
        let mark = "substr(t.\(quoted(attribute.column)), 1, 1) = x'02'"
        try compare(facts.rowsInFiles(attribute.column, of: table), attribute.column) {
          try connection.rows(
            "SELECT Z_PK \(from)\(own.isEmpty ? " WHERE" : " AND") \(mark) ORDER BY Z_PK"
          ).compactMap { $0.first?.integer }
        }
      }
    }
    for join in store.schema.joins {
      for (column, entity) in [(join.first, join.entity), (join.second, join.inverseEntity)] {
        guard let other = store.table(of: entity) else { continue }
        let key = KeyColumn(table: join.name, column: column, objects: other)
        try compare(facts.isSound(key), join.name) {
          try connection.number(
            """
            SELECT count(*) FROM \(quoted(join.name)) j WHERE j.\(quoted(column)) IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM \(quoted(other.table)) d WHERE d.Z_PK = j.\(quoted(column)))
            """) == 0
        }
      }
    }
    return given
  }

  @Test(
    "agrees with what SQLite counts, whatever is in the rows",
    arguments: [
      "", "UPDATE ZRECIPE SET ZAUTHOR = 77 WHERE Z_PK = 1",
      // Of another entity's kind, and in another stretch of keys.
      "UPDATE ZPERSON SET Z_ENT = 99 WHERE Z_PK = 1",
      "UPDATE ZRECIPE SET ZAUTHOR = 9000000000 WHERE Z_PK = 1",
      "UPDATE ZRECIPE SET ZAUTHOR = -1 WHERE Z_PK = 1",
      "UPDATE ZRECIPE SET ZTITLE = NULL, ZSERVES = NULL WHERE Z_PK < 3",
      "UPDATE ZRECIPE SET ZPHOTO = x'0241424300' WHERE Z_PK > 1",
      "UPDATE ZRECIPE SET ZPHOTO = zeroblob(900000) WHERE Z_PK = 2",
      "DELETE FROM ZTAG WHERE Z_PK = 1", "DELETE FROM ZPERSON", "DELETE FROM ZRECIPE",
      "ALTER TABLE ZRECIPE ADD COLUMN ZLATER VARCHAR",
    ])
  func agrees(_ change: String) throws {
    let folder = try TemporaryFolder()
    let path = try RecipeBox.store(in: folder).path
    if !change.isEmpty {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(change)
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      connection.close()
    }
    #expect(try expectAgreement(Store(path: path)) > 30)
  }

  @Test(
    "says nothing of what it does not know",
    arguments: [
      // A row that is too short has a value from the schema.
      ("ALTER TABLE ZRECIPE ADD COLUMN ZLATER INTEGER DEFAULT 5", "ZLATER"),
      // Numbers that are none.
      ("UPDATE ZRECIPE SET ZAUTHOR = 'ann' WHERE Z_PK = 1", "ZTITLE"),
      ("UPDATE ZRECIPE SET Z_ENT = 'x' WHERE Z_PK = 1", "ZTITLE"),
    ])
  func unknown(_ change: (sql: String, column: String)) throws {
    let folder = try TemporaryFolder()
    let path = try RecipeBox.store(in: folder).path
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(change.sql)
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    let store = try Store(path: path)
    #expect(try facts(store).nulls(in: change.column, ofTable: "ZRECIPE") == nil)
    _ = try expectAgreement(store)
  }

  @Test(
    "agrees in every fixture", .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: FixtureStoreTests.stores)
  func fixtures(path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    guard store.access == .immutable else { return }
    #expect(try expectAgreement(store) > 0)
  }
}

import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration

@Suite("Migrating a store whose tables do not fit its model")
struct DriftAnalysisTests {
  private static let added = [
    (
      "<attribute name=\"nickname\"",
      "<attribute name=\"born\" optional=\"YES\" attributeType=\"Date\"/><attribute name=\"nickname\""
    )
  ]

  private static func plan(after sql: String, in folder: TemporaryFolder) throws -> MigrationPlan {
    let path = try Library.store(in: folder)
    try Connection(path: path, mode: .readWrite).execute(sql)
    return try Library.plan(path, to: Library.model(replacing: added))
  }

  private static let odd =
    "ALTER TABLE ZAUTHOR ADD COLUMN ZODD BLOB; UPDATE ZAUTHOR SET ZODD = x'01'"

  @Test("a column that the model does not know stays in a table that is altered")
  func kept() throws {
    let folder = try TemporaryFolder()
    let plan = try Self.plan(after: Self.odd, in: folder)
    #expect(plan.losses == [])
    #expect(plan.notes.contains { $0.contains("ZODD") })
    let receipt = try StoreMigration.runAndRead(plan)
    let count = try Connection(path: receipt.resultPath, mode: .readOnly).value(
      "SELECT count(*) FROM ZAUTHOR WHERE ZODD = x'01'")
    #expect(count == .integer(2))
  }

  @Test(
    "a column that the model does not know is a loss when it holds values and its table is written anew"
  )
  func column() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    try Connection(path: path, mode: .readWrite).execute(Self.odd)
    let plan = try Store(path: path).plan(
      to: Library.model(replacing: Self.added), names: ("1", "2"), strategy: .copy)
    #expect(plan.losses == [Loss(entity: "Author", property: "ZODD", values: 2)])
    #expect(plan.notes.contains { $0.contains("ZODD") })
    let before = try folder.contents()
    #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
    #expect(try folder.contents() == before)
    var options = MigrationOptions()
    options.allowedLosses = ["Author.ZODD"]
    _ = try StoreMigration.runAndRead(plan, options: options)
  }

  @Test("an empty one is only told of, and rows of no entity are refused")
  func rows() throws {
    let folder = try TemporaryFolder()
    let empty = try Self.plan(after: "ALTER TABLE ZAUTHOR ADD COLUMN ZODD BLOB", in: folder)
    #expect(empty.losses == [] && empty.checks == [] && empty.notes.count == 1)
    let other = try TemporaryFolder()
    let plan = try Self.plan(after: "UPDATE ZAUTHOR SET Z_ENT = 99 WHERE Z_PK = 1", in: other)
    #expect(plan.checks.map(\.code) == [134020] && plan.checks[0].rows == 1)
    #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
  }

  @Test(
    "a join table that is missing is refused in the plan, with what brings it back",
    arguments: Way.allCases)
  func joinTable(way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let name = try #require(Store(path: path).schema.joins.first?.name)
    try Connection(path: path, mode: .readWrite).execute("DROP TABLE \(quoted(name))")
    let plan = try way.plan(Store(path: path), to: Library.model(replacing: Self.added))
    let missing = plan.checks.filter { $0.message.contains("the join table \(name) is missing") }
    #expect(missing.map(\.code) == [134020])
    #expect(missing.first?.advice?.names(.deed("salvage")) == true)
    let before = try folder.contents()
    #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
    #expect(try folder.contents() == before)
  }

  @Test("a join table that never held a link can be made by a repair")
  func emptyJoinTable() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let name = try #require(Store(path: path).schema.joins.first?.name)
    try Connection(path: path, mode: .readWrite).execute(
      """
      DROP TABLE \(quoted(name)); DELETE FROM ZSHELF;
      UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Shelf'
      """)
    let plan = try Store(path: path).plan(
      to: Library.model(replacing: Self.added), names: ("1", "2"))
    #expect(plan.checks.count == 1)
    #expect(plan.checks.first?.advice?.names(.deed("repair-tables")) == true)
  }

  @Test(
    "a link to an object that is not there is no link where the object's row would keep it",
    arguments: Way.allCases)
  func dangling(way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    try Connection(path: path, mode: .readWrite).execute("DELETE FROM ZBOOK WHERE Z_PK = 4")
    let plan = try way.plan(
      Store(path: path),
      to: Library.model(replacing: [
        (
          "<relationship name=\"shelves\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"Shelf\" inverseName=\"books\"/>",
          ""
        ), ("destinationEntity=\"Book\" inverseName=\"shelves\"", "destinationEntity=\"Book\""),
      ]))
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    let kept = try Connection(path: receipt.resultPath, mode: .readOnly).value(
      "SELECT count(*) FROM ZBOOK WHERE Z_PK IN (1, 3)")
    #expect(kept == .integer(2))
  }
}

import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Names and texts that a migration leaves")
struct StructureTests {
  private static let what = "tables, indexes, triggers and views as they must be named"

  @Test("what nothing changes keeps its text to the byte, in every way", arguments: Way.allCases)
  func untouched(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let before = try SchemaRows(Store(path: path))
    let (result, receipt) = try Gallery.migrate(
      path, to: Gallery.model([Gallery.attribute("note", for: "Place")]), way, in: folder)
    #expect(try SchemaRows(result).differences(from: before) == ["table ZPLACE"])
    #expect(before.texts["table ZTAG"]?.contains("\"ZTAG\"") == true)
    #expect(result.warnings == [])
    #expect(try result.connection.value("SELECT seq FROM sqlite_sequence") == .integer(2))
    #expect(
      try result.connection.rows("SELECT * FROM sqlite_stat1 ORDER BY 1, 2")
        == Store(path: path).connection.rows("SELECT * FROM sqlite_stat1 ORDER BY 1, 2"))
    let compared = try #require(receipt.verified.first { $0.what == Self.what })
    #expect(compared.count > 20)
  }

  @Test(
    "views and triggers that name a column which goes are told of, and those that can stay work",
    arguments: [Way.inPlace, .copying])
  func brokenByRenaming(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    // Another table has a column of the name.
    try connection.execute(
      """
      CREATE VIEW V1 AS SELECT ZNAME FROM ZTAG; CREATE VIEW V2 AS SELECT ZNAME FROM ZPLACE;
      CREATE TRIGGER T1 AFTER UPDATE OF ZNAME ON ZTAG BEGIN DELETE FROM APPNOTES WHERE words = OLD.ZNAME; END;
      CREATE TRIGGER T3 AFTER DELETE ON ZTAG BEGIN DELETE FROM APPNOTES WHERE words = OLD.ZNAME; END;
      CREATE TRIGGER T2 AFTER UPDATE OF ZNAME ON ZPLACE BEGIN DELETE FROM APPNOTES WHERE words = OLD.ZNAME; END;
      """)
    connection.close()
    let renamed = (
      "<entity name=\"Tag\">\n  <attribute name=\"name\"",
      "<entity name=\"Tag\">\n  <attribute name=\"word\" elementID=\"name\""
    )
    let model = try Gallery.model([renamed])
    let told = try way.plan(Store(path: path), to: model).notes.filter { $0.contains("own") }
    #expect(
      told.count == 3 && told[0].contains("trigger T1") && told[1].contains("trigger T3")
        && told[2].contains("view V1"), "\(told)")
    let (result, receipt) = try Gallery.migrate(path, to: model, way, in: folder)
    #expect(told.allSatisfy(receipt.notes.contains), "\(receipt.notes)")
    let names = try SchemaRows(result).names
    #expect(names.isSuperset(of: ["view V2", "trigger T2"]))
    #expect(names.isDisjoint(with: ["view V1", "trigger T1", "trigger T3"]))
    let written = try Connection(path: result.path, mode: .readWrite)
    try written.execute(
      "UPDATE ZTAG SET ZWORD = 'x'; DELETE FROM ZTAG; UPDATE ZPLACE SET ZNAME = 'y'")
  }

  @Test(
    "a column more of the app’s own stays where nothing changes",
    arguments: [Way.inPlace, .copying])
  func ownColumn(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("ALTER TABLE ZTAG ADD COLUMN MINE TEXT; UPDATE ZTAG SET MINE = 'x'")
    connection.close()
    let (result, _) = try Gallery.migrate(
      path, to: Gallery.model([Gallery.attribute("note", for: "Place")]), way, in: folder)
    #expect(try result.connection.value("SELECT MINE FROM ZTAG") == .text("x"))
  }

  @Test(
    "where numbers shift, tables, columns and indexes have those of a fresh store",
    arguments: Way.allCases)
  func shifted(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let lines = try StoreDump.lines(at: path)
    let model = try Gallery.model([Gallery.shift, Gallery.attribute("note", for: "Person")])
    let (result, _) = try Gallery.migrate(path, to: model, way, in: folder)
    let fresh = folder.path("fresh.sqlite")
    try StoreCreation.create(at: fresh, model: model, uuid: "X")
    let wanted = try Store(path: fresh)
    #expect(result.tablesByName == wanted.tablesByName)
    let own: Set = [
      "table APPNOTES", "index app index", "view APPVIEW", "trigger apptrigger",
      "table sqlite_sequence", "table sqlite_stat1",
    ]
    #expect(
      try SchemaRows(result).names.filter { !$0.contains("sqlite_stat4") }
        == SchemaRows(wanted).names.union(own))
    #expect(result.warnings == [])
    #expect(
      try StoreDump.lines(result)
        == lines.map {
          $0.hasPrefix("Person/") ? $0.replacing(" friends", with: " note=∅ friends") : $0
        })
  }

  @Test(
    "a column name that comes to be used twice is numbered in the table it falls to",
    arguments: Way.allCases)
  func numbered(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    // A second `tags` with the inverse `all`, of an entity before Place.
    let model = try Gallery.model([
      (
        "<attribute name=\"title\"",
        "<relationship name=\"tags\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"Tag\" inverseName=\"albums\"/><attribute name=\"title\""
      ),
      (
        "<relationship name=\"words\"",
        "<relationship name=\"albums\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"Album\" inverseName=\"tags\"/><relationship name=\"words\""
      ),
    ])
    let (result, _) = try Gallery.migrate(path, to: model, way, in: folder)
    let fresh = folder.path("fresh.sqlite")
    try StoreCreation.create(at: fresh, model: model, uuid: "X")
    let wanted = try Store(path: fresh)
    for (name, columns) in wanted.tablesByName {
      #expect(result.tablesByName[name] == columns, "\(name)")
    }
    #expect(wanted.tablesByName.values.contains { $0.contains("Z_6TAGS1 INTEGER") })
  }

  @Test("a join table that bore another side’s name gets the right one", arguments: Way.allCases)
  func repaired(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let schema = StoreSchema(model: try Gallery.model())
    let join = try #require(schema.join(of: "photos", in: "Album"))
    let number = try #require(schema.numbers[join.inverseEntity])
    let turned = "Z_\(number)\(join.inverse.uppercased())"
    // As earlier versions of strata named it.
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("ALTER TABLE \(join.name) RENAME TO \(turned)")
    connection.close()
    #expect(try Store(path: path).warnings.count == 1)
    let lines = try StoreDump.lines(at: path)
    let (result, receipt) = try Gallery.migrate(
      path, to: Gallery.model([Gallery.attribute("note", for: "Place")]), way, in: folder)
    #expect(result.database.contains(join.name))
    #expect(!result.database.contains(turned))
    #expect(result.warnings == [])
    #expect(receipt.notes.contains { $0.contains(turned) && $0.contains(join.name) })
    #expect(
      try StoreDump.lines(result)
        == lines.map { $0.hasPrefix("Place/") ? $0.replacing("=here", with: "=here note=∅") : $0 })
  }

  @Test(
    "a result whose structure is not right is refused, and the store stays",
    arguments: TestScale.some(
      4,
      of: [
        ("ALTER TABLE Z_1PHOTOS RENAME TO Z_3ALBUMS", "the table Z_1PHOTOS is missing"),
        ("ALTER TABLE ZTAG RENAME TO ZTAGS", "the table ZTAG is missing"),
        ("ALTER TABLE ZTAG ADD COLUMN ZMORE VARCHAR", "the table ZTAG is not the same"),
        ("ALTER TABLE ZPLACE ADD COLUMN ZMORE VARCHAR", "the table ZPLACE has a column ZMORE"),
        (
          "ALTER TABLE ZPLACE RENAME COLUMN ZNOTE TO ZNOTES", "the table ZPLACE has no column ZNOTE"
        ),
        ("DROP INDEX ZPHOTO_ZPLACE_INDEX", "the index ZPHOTO_ZPLACE_INDEX is missing"),
        ("DROP INDEX \"app index\"", "the index app index of ZPHOTO is missing"),
        (
          "DROP INDEX ZPHOTO_ZPLACE_INDEX; CREATE INDEX ZPHOTO_ZPLACE_INDEX ON ZPHOTO (ZSIZE)",
          "the index ZPHOTO_ZPLACE_INDEX is not what"
        ),
        ("DROP VIEW APPVIEW", "the view APPVIEW is missing"),
        ("DROP VIEW APPVIEW; CREATE VIEW APPVIEW AS SELECT 1", "the view APPVIEW is not the same"),
        ("DROP TRIGGER apptrigger", "the trigger apptrigger is missing"),
        ("ALTER TABLE APPNOTES ADD COLUMN more", "the table APPNOTES is not the same"),
        ("CREATE TABLE strata_0 (a)", "the table strata_0 is not expected"),
        ("CREATE INDEX MORE ON ZTAG (ZNAME)", "the index MORE is not expected"),
      ]), Way.allCases)
  func refused(_ damage: (sql: String, message: String), _ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let contents = try folder.contents()
    var plan = try way.plan(
      Store(path: path), to: Gallery.model([Gallery.attribute("note", for: "Place")]))
    plan.bytesFree = nil
    let run = MigrationRun(
      plan: plan, options: MigrationOptions(), beforeVerification: { try $0.execute(damage.sql) })
    let error = #expect(throws: CoreDataError.self) {
      _ = try run.run(isCancelled: { false }, progress: { _ in })
    }
    #expect(error?.kind == .failed)
    #expect(error?.code == 134110)
    #expect(
      error?.message.hasPrefix("verification failed: \(damage.message)") == true,
      "\(error?.message ?? "")")
    #expect(try folder.contents() == contents)
  }

  @Test(
    "attributes that change names with each other leave the table’s text", arguments: Way.allCases)
  func swapped(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let text = #" optional="YES" attributeType="String"/>"#
    let two = (
      "<entity name=\"Tag\">", "<entity name=\"Tag\"><attribute name=\"label\"\(text)"
    )
    let (middle, _) = try Gallery.migrate(path, to: Gallery.model([two]), .inPlace, in: folder)
    let connection = try Connection(path: middle.path, mode: .readWrite)
    try connection.execute("UPDATE ZTAG SET ZNAME = 'n', ZLABEL = 'l'")
    connection.close()
    // Names that only change places change no hash: it takes something else to migrate.
    let mandatory = #" attributeType="String" defaultValueString="x"/>"#
    let swapped = try Gallery.model([
      (two.0, "<entity name=\"Tag\"><attribute name=\"label\" elementID=\"name\"\(mandatory)"),
      (
        "<attribute name=\"name\"\(text)\n  <relationship name=\"all\"",
        "<attribute name=\"name\" elementID=\"label\"\(text)\n  <relationship name=\"all\""
      ),
    ])
    let before = try Store(path: middle.path)
    var plan = try way.plan(before, to: swapped)
    plan.bytesFree = nil
    var options = MigrationOptions()
    options.output = folder.path("swapped.sqlite")
    _ = try StoreMigration.runAndRead(plan, options: options)
    let result = try Store(path: folder.path("swapped.sqlite"))
    #expect(try SchemaRows(result).differences(from: SchemaRows(before)) == [])
    #expect(
      try result.connection.rows("SELECT ZLABEL, ZNAME FROM ZTAG") == [[.text("n"), .text("l")]])
  }

  @Test("the statements can be told of such a store", arguments: Way.allCases)
  func statements(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let plan = try way.plan(
      Store(path: path), to: Gallery.model([Gallery.attribute("note", for: "Place")]))
    #expect(try StoreMigration.statements(of: plan).contains { $0.sql.contains("ZNOTE") })
  }

  @Test("every step of a chain is looked at")
  func chain() throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let (first, second) = (
      try Gallery.model([Gallery.attribute("note", for: "Place")]),
      try Gallery.model([Gallery.shift, Gallery.attribute("note", for: "Place")])
    )
    let store = try Store(path: path)
    let steps = try [("1", "2", store.model, first), ("2", "3", first, second)].map {
      from, to, before, after in
      try MigrationStep(
        from: from, to: to, source: before, destination: after,
        mapping: MappingInference.mapping(from: before, to: after))
    }
    var plan = try store.plan(steps: steps)
    plan.bytesFree = nil
    var looked = 0
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    let receipt = try MigrationRun(
      plan: plan, options: options, beforeVerification: { _ in looked += 1 }
    ).run(isCancelled: { false }, progress: { _ in })
    #expect(looked == 2)
    #expect(receipt.verified.contains { $0.what == Self.what })
    let result = try Store(path: folder.path("out.sqlite"))
    #expect(result.schema.expected.joins.allSatisfy { result.database.contains($0.name) })
    #expect(result.database.contains("Z_2PHOTOS"))
  }
}

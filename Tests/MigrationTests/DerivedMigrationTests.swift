import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration
@testable import StoreTables

@Suite("Derived attributes, triggers and R-trees in a migration")
struct DerivedMigrationTests {
  private static let title =
    #"<attribute name="title" optional="YES" attributeType="String"/>"#
    + #"<relationship name="author""#

  /// The library with derived attributes on books and authors.
  private static let derived: [(String, String)] = [
    (
      title,
      #"<attribute name="search" optional="YES" attributeType="String" derived="YES" derivationExpression="canonical:(title)"/>"#
        + #"<attribute name="authorName" optional="YES" attributeType="String" derived="YES" derivationExpression="author.name"/>"#
        + #"<attribute name="chapterCount" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="chapters.@count"/>"#
        + #"<attribute name="seen" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>"#
        + title
    ),
    (
      #"<attribute name="nickname" optional="YES" attributeType="String"/>"#,
      #"<attribute name="nickname" optional="YES" attributeType="String"/>"#
        + #"<attribute name="spent" optional="YES" attributeType="Decimal" derived="YES" derivationExpression="books.@sum.price"/>"#
    ),
  ]

  private func migrate(_ path: String, _ changes: [(String, String)]) throws -> MigrationReceipt {
    let plan = try Library.plan(path, to: Library.model(replacing: changes))
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    options.keepsBackup = false
    return try StoreMigration.runAndRead(plan, options: options)
  }

  private func rows(_ path: String, _ sql: String) throws -> [[Value]] {
    try Store(path: path).connection.rows(sql)
  }

  @Test("a derived attribute that is new has its value in every row")
  func filled() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let receipt = try migrate(path, Self.derived)
    #expect(
      try rows(path, "SELECT ZSEARCH, ZAUTHORNAME, ZCHAPTERCOUNT, ZSEEN FROM ZBOOK LIMIT 3")
        == [
          [.text("title 1"), .text("Ann"), .integer(1), .null],
          [.text("title 2"), .text("Ann"), .integer(2), .null],
          [.text("title 3"), .text("Ann"), .integer(0), .null],
        ])
    #expect(try rows(path, "SELECT ZSPENT FROM ZAUTHOR") == [[.real(6.75)], [.real(10.5)]])
    #expect(
      receipt.notes.contains(
        "Book.chapterCount is derived: its value is computed for the rows that are there."))
    #expect(
      receipt.notes.contains(
        "Book.seen is derived: Core Data fills it when the objects are next saved."))
  }

  @Test("their triggers are those of a fresh store, and go with the attribute")
  func triggers() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      "CREATE TRIGGER mine AFTER DELETE ON ZLOAN BEGIN DELETE FROM ZSHELF WHERE 0; END")
    connection.close()
    _ = try migrate(path, Self.derived)
    let model = try Library.model(replacing: Self.derived)
    let wanted = StoreSchema(model: model).triggerStatements
    let made = try Store(path: path).database
    #expect(Set(made.triggers.keys) == Set(wanted.map(\.name)).union(["mine"]))
    for trigger in wanted { #expect(made.sql[trigger.name] == trigger.sql) }

    _ = try migrate(path, [])
    #expect(try Set(Store(path: path).database.triggers.keys) == ["mine"])
  }

  @Test("triggers that the framework worded otherwise stay while nothing they need changes")
  func otherWording() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    _ = try migrate(path, Self.derived)
    let connection = try Connection(path: path, mode: .readWrite)
    let former = try Store(path: path).database
    for name in former.triggers.keys where name.contains("_Book_chapterCount_") {
      try connection.execute("DROP TRIGGER \"\(name)\"")
    }
    let name = "Z_DA_ZBOOK_Book_chapterCount_NEWER"
    let sql =
      "CREATE TRIGGER \(name) AFTER UPDATE OF Z_OPT ON ZBOOK BEGIN UPDATE ZBOOK SET ZCHAPTERCOUNT = 7; END"
    try connection.execute(sql)
    connection.close()

    let label = (
      #"<attribute name="label" optional="YES" attributeType="String"/>"#,
      #"<attribute name="label" optional="YES" attributeType="String"/><attribute name="height" optional="YES" attributeType="Float"/>"#
    )
    _ = try migrate(path, Self.derived + [label])
    let kept = try Store(path: path).database
    #expect(
      kept.triggers.keys.filter { $0.contains("_Book_chapterCount_") } == [name])

    // Chapters get another table: now that trigger would count nothing.
    let other = (
      #"<entity name="Chapter">"#, #"<entity name="Part" elementID="Chapter">"#
    )
    _ = try migrate(
      path,
      Self.derived + [label, other]
        + [(#"destinationEntity="Chapter""#, #"destinationEntity="Part""#)])
    let made = try Store(path: path).database
    #expect(made.triggers.keys.contains("Z_DA_ZPART_Book_chapterCount_PARAMETER_INSERT"))
    #expect(!made.triggers.keys.contains(name))
  }

  @Test("a derivation that changes is computed anew")
  func changed() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    _ = try migrate(path, Self.derived)
    let changes = Self.derived.map { ($0.0, $0.1.replacing("canonical:", with: "uppercase:")) }
    _ = try migrate(path, changes)
    #expect(try rows(path, "SELECT ZSEARCH FROM ZBOOK LIMIT 1") == [[.text("TITLE 1")]])
  }

  @Test("verification refuses a derived value that is wrong")
  func verified() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let plan = try Library.plan(path, to: Library.model(replacing: Self.derived))
    let step = try #require(plan.steps.first)
    let source = try Store(path: path, model: step.source)
    let connection = try Connection(path: folder.path("clone.sqlite"), mode: .create)
    _ = try source.connection.backup(to: connection) { _, _ in true }
    try connection.run("ATTACH DATABASE ? AS src", [.text(source.connection.uri)])
    let schemas = StepSchemas(store: source, mapping: step.mapping, destination: step.destination)
    let meter = ProgressMeter(isCancelled: { false }, report: { _ in })
    try MigrationFunctions.define(on: connection, store: source)
    let contents = MigratedContents(schemas)
    try InPlaceMigration(
      completion: StepCompletion(
        step: step, schemas: schemas, connection: connection, meter: meter, archive: nil),
      contents: contents
    ).run()
    let verification = Verification(
      step: step, schemas: schemas, contents: contents, connection: connection, meter: meter)
    #expect(try verification.run().differences == [])
    try connection.execute("UPDATE main.ZBOOK SET ZAUTHORNAME = 'x' WHERE Z_PK = 2")
    let differences = try verification.run().differences
    #expect(differences.map(\.property) == ["authorName"])
    #expect(differences.first?.first == [ObjectID(entity: "Manual", key: 2)])
  }

  @Test("an R-tree comes, follows removed objects and goes")
  func tree() throws {
    func model(_ index: Bool, _ extra: Bool) throws -> Model {
      var place = Entity("Place")
      place.attributes = [
        Attribute("x", .float), Attribute("y", .integer16),
      ]
      if extra { place.attributes.append(Attribute("z", .string, optional: true)) }
      if index {
        place.fetchIndexes = [
          FetchIndex(
            "area", elements: ["x", "y"].map { .init(property: $0, kind: .rtree) })
        ]
      }
      let shop = Entity("Shop", parent: "Place")
      return try Model(entities: extra ? [place] : [place, shop])
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Places.sqlite")
    let writer = try StoreWriter(creating: path, model: model(true, false))
    for entity in ["Place", "Shop", "Place"] {
      try writer.insert(entity, attributes: ["x": .double(1), "y": .integer(2)])
    }
    try writer.finish()
    func migrate(to model: Model) throws {
      let plan = try Library.plan(path, to: model)
      var options = MigrationOptions()
      options.allowedLosses = Set(plan.losses.map(\.name))
      options.keepsBackup = false
      _ = try StoreMigration.runAndRead(plan, options: options)
    }
    try migrate(to: model(true, true))
    #expect(try rows(path, "SELECT Z_PK FROM Z_Place_area") == [[.integer(1)], [.integer(3)]])
    #expect(try Store(path: path).database.triggers.count == 3)
    var plain = try model(false, true).entities
    plain[0].attributes.append(Attribute("w", .string, optional: true))
    try migrate(to: Model(entities: plain))
    let database = try Store(path: path).database
    #expect(!database.contains("Z_Place_area"))
    #expect(database.triggers.isEmpty)
  }

  @Test("an R-tree that no fetch index tells of loses the keys of removed objects")
  func unknownTree() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    let tree = RTreeIndex(
      name: "Z_RT_Book_own", table: "ZBOOK", columns: ["ZPAGES"], isOfLocation: true)
    try connection.execute(tree.sql)
    try connection.execute(tree.fill)
    for trigger in tree.triggers { try connection.execute(trigger.sql) }
    connection.close()
    _ = try migrate(
      path,
      [
        (
          #"<entity name="Manual" parentEntity="Book">"#
            + #"<attribute name="genre" optional="YES" attributeType="String"/>"# + "</entity>", ""
        )
      ])
    let store = try Store(path: path)
    let rows = try store.connection.rows("SELECT Z_PK FROM ZBOOK ORDER BY 1")
    let found = try store.connection.rows("SELECT Z_PK FROM Z_RT_Book_own ORDER BY 1")
    #expect(found == rows)
    #expect(Set(store.database.triggers.keys) == Set(tree.triggers.map(\.name)))
  }

  @Test("a constraint that an old framework wrote into the table goes when the model drops it")
  func tableConstraint() throws {
    func model(_ constraints: [[String]]) throws -> Model {
      var place = Entity("Place")
      place.attributes = [Attribute("code", .string, optional: true)]
      place.uniquenessConstraints = constraints
      return try Model(entities: [place])
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Places.sqlite")
    let writer = try StoreWriter(creating: path, model: model([["code"]]))
    try writer.insert("Place", attributes: ["code": .string("a")])
    try writer.finish()
    let before = try Connection(path: path, mode: .readWrite)
    try before.execute(
      """
      DROP INDEX Z_Place_UNIQUE_code; ALTER TABLE ZPLACE RENAME TO old;
      CREATE TABLE ZPLACE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCODE VARCHAR UNIQUE );
      INSERT INTO ZPLACE SELECT * FROM old; DROP TABLE old;
      """)
    before.close()
    _ = try StoreMigration.runAndRead(Library.plan(path, to: model([])))
    let after = try Connection(path: path, mode: .readWrite)
    try after.execute("INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZCODE) VALUES (2, 1, 1, 'a')")
  }

  @Test("an index that both models ask for keeps the words it has")
  func wordedIndex() throws {
    func model(_ extra: Bool) throws -> Model {
      var place = Entity("Place")
      place.attributes = [
        Attribute("x", .double, optional: true), Attribute("code", .string, optional: true),
      ]
      if extra { place.attributes.append(Attribute("note", .string, optional: true)) }
      place.fetchIndexes = [
        FetchIndex("i", elements: [.init(property: "code")], partialPredicate: "x == 1"),
        FetchIndex("odd", elements: [.init(expression: "lowercase:(code)")]),
      ]
      return try Model(entities: [place])
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Places.sqlite")
    try StoreCreation.create(at: path, model: model(false), uuid: "X")
    let sql = "CREATE INDEX Z_Place_i ON ZPLACE (ZCODE COLLATE BINARY ASC) WHERE  +ZX = 1.0"
    let odd = "CREATE INDEX Z_Place_odd ON ZPLACE (lower(ZCODE))"
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("DROP INDEX Z_Place_i; \(sql); \(odd)")
    connection.close()
    let plan = try Library.plan(path, to: model(true))
    #expect(plan.notes.contains { $0.contains("“odd” of Place") })
    _ = try StoreMigration.runAndRead(plan)
    let database = try Store(path: path).database
    #expect(database.sql["Z_Place_i"] == sql)
    #expect(database.sql["Z_Place_odd"] == odd)
  }
}

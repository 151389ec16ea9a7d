import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("Checks of a store's data before a migration")
struct PreflightTests {
  private static let label =
    #"<attribute name="label" optional="YES" attributeType="String"/>"#
  /// A change that has nothing to do with what is checked.
  private static let unrelated = (
    label, label + #"<attribute name="height" optional="YES" attributeType="Float"/>"#
  )

  private func checks(
    _ changes: [(String, String)], books: Int = 6, spoiling: String = "",
    from base: [(String, String)] = []
  ) throws -> [DataCheck] {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder, books: books)
    if !base.isEmpty {
      var options = MigrationOptions()
      options.keepsBackup = false
      _ = try StoreMigration.runAndRead(
        Library.plan(path, to: Library.model(replacing: base)), options: options)
    }
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(spoiling)
    connection.close()
    let plan = try Library.plan(path, to: Library.model(replacing: base + changes))
    if !plan.checks.isEmpty, plan.failures.isEmpty, plan.losses.isEmpty {
      // A warning keeps nothing from being run, and what is out of order is carried over as it is.
      let before = try StoreDump.lines(at: path)
      _ = try StoreMigration.runAndRead(plan)
      #expect(try StoreDump.lines(at: path).count == before.count)
    }
    return plan.checks
  }

  private func text(_ checks: [DataCheck]) -> [String] {
    checks.map {
      "\($0.isWarning ? "warning" : "failure") \($0.code) \($0.entity).\($0.property ?? "") \($0.rows): \($0.first.map(\.description).joined(separator: " "))"
    }
  }

  @Test("a store in order has nothing to be warned of")
  func clean() throws {
    #expect(try checks([Self.unrelated]) == [])
  }

  @Test("a to-one that leads nowhere is told with its rows")
  func danglingKey() throws {
    let found = try checks(
      [Self.unrelated], spoiling: "UPDATE ZBOOK SET ZAUTHOR = 99 WHERE Z_PK IN (1, 3)")
    #expect(
      text(found) == [
        "warning 133000 Book.author 1: Book/p3", "warning 133000 Novel.author 1: Novel/p1",
      ])
  }

  @Test("a to-one that leads to an object of another entity of the table is told, too")
  func wrongKind() throws {
    let found = try checks(
      [Self.unrelated],
      spoiling: "UPDATE ZCHAPTER SET ZBOOK = (SELECT max(Z_PK) + 5 FROM ZBOOK) WHERE Z_PK = 2")
    #expect(text(found) == ["warning 133000 Chapter.book 1: Chapter/p2"])
  }

  @Test("rows of a join table that lead nowhere are told with the object at the other end")
  func danglingJoin() throws {
    let schema = StoreSchema(model: try Library.model(Library.version1))
    let join = try #require(schema.joins.first)
    let found = try checks(
      [Self.unrelated],
      spoiling: "INSERT INTO \(join.name) (\(join.first), \(join.second)) VALUES (77, 2), (2, 78)")
    #expect(found.filter { $0.code == 133000 }.map(\.rows) == [2])
    #expect(found.filter { $0.code == 133000 }.map(\.first.count) == [2])
    #expect(!found.contains { !$0.isWarning })
  }

  @Test("ordered objects without a position are told with their owners")
  func positions() throws {
    let found = try checks(
      [Self.unrelated], spoiling: "UPDATE ZCHAPTER SET Z_FOK_BOOK = NULL WHERE Z_PK = 1")
    #expect(text(found) == ["warning 134110 Manual.chapters 1: Manual/p2"])
  }

  @Test("a one-to-one whose sides disagree is told on both sides")
  func oneToOne() throws {
    let model = { (extra: Bool) in
      var pet = Entity("Pet")
      pet.relationships = [Relationship("owner", to: "User", inverse: "pet", optional: true)]
      if extra { pet.attributes = [Attribute("name", .string, optional: true)] }
      var user = Entity("User")
      user.relationships = [Relationship("pet", to: "Pet", inverse: "owner", optional: true)]
      return try Model(entities: [pet, user])
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Pets.sqlite")
    let writer = try StoreWriter(creating: path, model: model(false))
    for key in 1...3 {
      let pet = try writer.insert(
        "Pet", toOne: ["owner": ObjectID(entity: "User", key: Int64(key))])
      try writer.insert("User", toOne: ["pet": pet])
    }
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZPET SET ZOWNER = 1 WHERE Z_PK = 2")
    connection.close()
    let found = try Library.plan(path, to: model(true)).checks
    #expect(
      text(found) == ["warning 134110 Pet.owner 1: Pet/p2", "warning 134110 User.pet 1: User/p2"])
  }

  @Test("the owner's key of a to-many without an inverse that leads nowhere is told")
  func owner() throws {
    let model = { (extra: Bool) in
      var box = Entity("Box")
      box.relationships = [Relationship("things", to: "Thing", toMany: true, optional: true)]
      if extra { box.attributes = [Attribute("name", .string, optional: true)] }
      return try Model(entities: [box, Entity("Thing")])
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Boxes.sqlite")
    let writer = try StoreWriter(creating: path, model: model(false))
    try writer.insert("Thing")
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZTHING SET Z1THINGS = 5")
    connection.close()
    let found = try Library.plan(path, to: model(true)).checks
    #expect(text(found) == ["warning 133000 Box.things 1: Thing/p1"])
  }

  @Test("NULLs in what was mandatory before are warned of, not refused")
  func formerGaps() throws {
    let mandatory = [
      (Self.label, #"<attribute name="label" attributeType="String" defaultValueString="x"/>"#)
    ]
    let found = try checks(
      [
        (
          #"<attribute name="label" attributeType="String" defaultValueString="x"/>"#,
          #"<attribute name="label" attributeType="String"/>"#
            + #"<attribute name="height" optional="YES" attributeType="Float"/>"#
        )
      ], spoiling: "UPDATE ZSHELF SET ZLABEL = NULL WHERE Z_PK = 2", from: mandatory)
    #expect(text(found) == ["warning 1570 Shelf.label 1: Shelf/p2"])
  }

  @Test("an empty relationship that was mandatory before is warned of, not refused")
  func formerEmpty() throws {
    let mandatory = [
      (
        #"<relationship name="book" optional="YES" maxCount="1""#,
        #"<relationship name="book" maxCount="1""#
      )
    ]
    let found = try checks(
      [Self.unrelated], spoiling: "UPDATE ZCHAPTER SET ZBOOK = NULL WHERE Z_PK = 3",
      from: mandatory)
    #expect(text(found) == ["warning 1570 Chapter.book 1: Chapter/p3"])
  }

  @Test("a mandatory to-many that was empty before and may be so is nothing to warn of")
  func formerEmptyMany() throws {
    let mandatory = [
      (
        #"<relationship name="chapters" optional="YES""#, #"<relationship name="chapters""#
      )
    ]
    let spoiling = "UPDATE ZCHAPTER SET ZBOOK = NULL"
    #expect(text(try checks([Self.unrelated], spoiling: spoiling, from: mandatory)) == [])
    // One that turns mandatory is.
    #expect(try !checks(mandatory, spoiling: spoiling).isEmpty)
  }

  @Test("values whose files are missing are told with the files")
  func files() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let store = try Store(path: path)
    let names = try FileSystem.list(store.files.externalDataFolder)
    let name = try #require(names.first)
    FileSystem.remove(store.files.externalDataFolder + "/" + name)
    let found = try Library.plan(path, to: Library.model(replacing: [Self.unrelated])).checks
    #expect(text(found) == ["warning 134110 Manual.cover 1: Manual/p2"])
    #expect(found.first?.message.contains(name) == true)
  }

  @Test(
    "rules that are new are told with the values that break them",
    arguments: [
      (
        #"<attribute name="pages" optional="YES" attributeType="Integer 16"/>"#,
        #"<attribute name="pages" optional="YES" attributeType="Integer 16" minValueString="300" maxValueString="500"/>"#,
        [
          "warning 1610 Book.pages 1: Book/p6", "warning 1620 Manual.pages 1: Manual/p2",
        ]
      ),
      (
        #"<attribute name="genre" optional="YES" attributeType="String"/></entity><entity name="Manual""#,
        #"<attribute name="genre" optional="YES" attributeType="String" minValueString="8" maxValueString="7" regularExpressionString="genre [1-3]"/></entity><entity name="Manual""#,
        [
          "warning 1670 Novel.genre 2: Novel/p1 Novel/p4", "warning 1680 Novel.genre 1: Novel/p4",
        ]
      ),
      (
        #"<attribute name="published" optional="YES" attributeType="Date"/>"#,
        #"<attribute name="published" optional="YES" attributeType="Date" maxDateTimeInterval="300000"/>"#,
        [
          "warning 1630 Book.published 1: Book/p6", "warning 1630 Manual.published 1: Manual/p5",
          "warning 1630 Novel.published 1: Novel/p4",
        ]
      ),
    ])
  func rules(_ old: String, _ new: String, _ expected: [String]) throws {
    let found = try checks([(old, new), Self.unrelated])
    #expect(Set(text(found)) == Set(expected))
  }

  @Test("a rule that was there before, or is looser now, is not looked at")
  func oldRules() throws {
    let old = #"<attribute name="pages" optional="YES" attributeType="Integer 16"/>"#
    func pages(_ maximum: Int) -> String {
      #"<attribute name="pages" optional="YES" attributeType="Integer 16" maxValueString="\#(maximum)"/>"#
    }
    // Rules enter no hash: a store of other rules is one that was migrated for another reason.
    let name = #"<attribute name="name" optional="YES" attributeType="String"/>"#
    let base = [
      (old, pages(100)),
      (name, name + #"<attribute name="born" optional="YES" attributeType="Date"/>"#),
    ]
    #expect(try checks([Self.unrelated], from: base) == [])
    #expect(try checks([(pages(100), pages(101)), Self.unrelated], from: base) == [])
  }

  @Test("lengths count as NSString counts them")
  func length() throws {
    let genre =
      #"<attribute name="genre" optional="YES" attributeType="String"/></entity><entity name="Manual""#
    let found = try checks(
      [
        (
          genre,
          #"<attribute name="genre" optional="YES" attributeType="String" maxValueString="7"/></entity><entity name="Manual""#
        ), Self.unrelated,
      ], spoiling: "UPDATE ZBOOK SET ZGENRE1 = 'genre 😀' WHERE Z_PK = 1")
    #expect(text(found) == ["warning 1660 Novel.genre 1: Novel/p1"])
  }

  @Test("counts of a relationship that are new are told, an empty optional one is not")
  func counts() throws {
    let books =
      #"<relationship name="books" optional="YES" toMany="YES" ordered="YES" destinationEntity="Book" inverseName="shelves"/>"#
    func limited(_ text: String) -> String {
      books.replacing(#"toMany="YES""#, with: #"toMany="YES" "# + text)
    }
    let fewer = try checks([(books, limited(#"minCount="2""#)), Self.unrelated])
    #expect(text(fewer) == ["warning 1580 Shelf.books 1: Shelf/p2"])
    let more = try checks([(books, limited(#"maxCount="2""#)), Self.unrelated])
    #expect(text(more) == ["warning 1590 Shelf.books 1: Shelf/p1"])
  }

  @Test("changes in the history of entities that go are counted")
  func history() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let number = StoreSchema(model: try Library.model(Library.version1)).numbers["Loan"] ?? 0
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZENTITY INTEGER, ZENTITYPK INTEGER);
      INSERT INTO ACHANGE (ZENTITY, ZENTITYPK) VALUES (\(number), 1), (\(number), 2), (1, 1);
      """)
    connection.close()
    let loan = (
      #"<entity name="Loan">"# + #"<attribute name="due" optional="YES" attributeType="Date"/>"#
        + "</entity>", ""
    )
    let plan = try Library.plan(path, to: Library.model(replacing: [loan]))
    #expect(
      plan.notes.contains(
        "2 changes in the history are of removed entities (Loan): they are removed too; all others stay."
      ))
    var options = MigrationOptions()
    options.allowedLosses = ["Loan"]
    _ = try StoreMigration.runAndRead(plan, options: options)
    #expect(try Store(path: path).history()?.changes == 1)
  }

  @Test("a plan says how long it may take, and more for a larger store")
  func time() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let plan = try Library.plan(path, to: Library.model(replacing: [Self.unrelated]))
    #expect(plan.secondsEstimated > 0)
    #expect(plan.secondsEstimated < 2)
    #expect(
      MigrationPlan.secondsEstimated(bytes: 1 << 40, rows: 1) > 1000 * plan.secondsEstimated)
    #expect(MigrationPlan.secondsEstimated(bytes: -1, rows: -1) == 0)
  }
}

import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Derived attributes in new stores")
struct DerivedTriggerTests {
  static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> Attribute {
    var attribute = Attribute(name, type, optional: true)
    attribute.derivation = Attribute.Derivation(expression: expression)
    return attribute
  }

  /// Derived attributes of every form that is understood, one of them on a subentity.
  static func model() throws -> Model {
    var author = Entity("Author")
    author.attributes = [
      Attribute("name", .string), derived("bookCount", .integer64, "books.@count"),
      derived("pages", .integer64, "books.@sum.pages"),
      derived("dearest", .double, "max:(books.price)"),
      derived("changed", .date, "now()"),
    ]
    author.relationships = [
      Relationship("books", to: "Book", inverse: "author", toMany: true, optional: true)
    ]
    var book = Entity("Book")
    book.attributes = [
      Attribute("title", .string, optional: true), Attribute("pages", .integer32, optional: true),
      Attribute("price", .double, optional: true),
      derived("search", .string, "canonical:(title)"),
      derived("loud", .string, "uppercase:(title)"),
      derived("authorName", .string, "author.name"),
      derived("tagCount", .integer64, "count:(tags)"),
    ]
    book.relationships = [
      Relationship("author", to: "Author", inverse: "books", optional: true),
      Relationship("tags", to: "Tag", inverse: "books", toMany: true, optional: true),
    ]
    var novel = Entity("Novel", parent: "Book")
    novel.attributes = [derived("quiet", .string, "lowercase:(title)")]
    var tag = Entity("Tag")
    tag.attributes = [
      Attribute("weight", .integer16, optional: true),
      derived("bookPages", .integer64, "books.pages.@sum"),
    ]
    tag.relationships = [
      Relationship("books", to: "Book", inverse: "tags", toMany: true, optional: true)
    ]
    return try Model(entities: [author, book, novel, tag])
  }

  private func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Books.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    let one = try writer.insert("Tag", attributes: ["weight": .integer(1)])
    let two = try writer.insert("Tag")
    let ann = try writer.insert("Author", attributes: ["name": .string("Ann")])
    try writer.insert("Author", attributes: ["name": .string("Bo")])
    try writer.insert(
      "Book",
      attributes: ["title": .string("Ábc"), "pages": .integer(10), "price": .double(2.5)],
      toOne: ["author": ann], toMany: ["tags": [one, two]])
    try writer.insert(
      "Novel", attributes: ["title": .string("ÑX"), "pages": .integer(5)],
      toOne: ["author": ann], toMany: ["tags": [one]])
    try writer.insert("Book")
    try writer.finish()
    return path
  }

  private func values(_ connection: Connection, _ sql: String) throws -> [[Value]] {
    try connection.rows(sql)
  }

  @Test("a new store's derived attributes have the values of its rows")
  func filled() throws {
    let folder = try TemporaryFolder()
    let connection = try Store(path: store(in: folder)).connection
    #expect(
      try values(connection, "SELECT ZBOOKCOUNT, ZPAGES, ZDEAREST, ZCHANGED FROM ZAUTHOR") == [
        [.integer(2), .integer(15), .real(2.5), .null],
        [.integer(0), .integer(0), .null, .null],
      ])
    #expect(
      try values(
        connection, "SELECT ZSEARCH, ZLOUD, ZAUTHORNAME, ZTAGCOUNT, ZQUIET FROM ZBOOK") == [
          [.text("abc"), .text("ÁBC"), .text("Ann"), .integer(2), .null],
          [.text("nx"), .text("ÑX"), .text("Ann"), .integer(1), .text("ñx")],
          [.null, .null, .null, .integer(0), .null],
        ])
    #expect(
      try values(connection, "SELECT ZBOOKPAGES FROM ZTAG") == [[.integer(15)], [.integer(10)]])
  }

  @Test("the triggers keep every derived attribute right through inserts, updates and deletes")
  func triggers() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try replaceFunctions(connection)
    let schema = StoreSchema(model: try Self.model())
    let join = try #require(schema.joins.first)
    let changes = [
      "UPDATE ZAUTHOR SET ZNAME = 'Anna', Z_OPT = 2 WHERE Z_PK = 1",
      "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (3, 1, 1, 'Cy')",
      "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZPAGES, ZPRICE, ZTITLE) VALUES (9, 2, 1, 3, 7, 9.5, 'Eva')",
      "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZTITLE) VALUES (10, 3, 1, 3, 'Ox')",
      "UPDATE ZBOOK SET ZAUTHOR = 2 WHERE Z_PK = 1",
      "UPDATE ZBOOK SET ZAUTHOR = NULL WHERE Z_PK = 9",
      "UPDATE ZBOOK SET ZPAGES = 100 WHERE Z_PK = 2",
      "UPDATE ZBOOK SET ZTITLE = 'UMBRA' WHERE Z_PK = 2",
      "INSERT INTO \(join.name) VALUES (9, 2)", "DELETE FROM \(join.name) WHERE \(join.first) = 1",
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (3, 4, 1)", "DELETE FROM ZBOOK WHERE Z_PK = 2",
    ]
    for sql in changes {
      try connection.execute(sql)
      for entity in schema.model.entities {
        for attribute in entity.attributes where attribute.isDerived {
          // Of some forms it is not known how Core Data keeps them up.
          let group = schema.triggerGroups.first {
            $0.entity == entity.name && $0.attribute == attribute.name
          }
          guard group?.statements.isEmpty == false else { continue }
          guard let table = schema.table(of: entity.name),
            let column = schema.column(of: attribute.name, in: entity.name),
            let value = schema.derivedExpression(for: attribute, of: entity.name)?.sql
          else { continue }
          let numbers = schema.model.subtree(of: entity.name).compactMap { schema.numbers[$0] }
          let wrong = try connection.rows(
            """
            SELECT s.Z_PK, s.\(column), \(value) FROM \(table.name) s
            WHERE s.\(column) IS NOT \(value)
            AND s.Z_ENT IN (\(numbers.map(String.init).joined(separator: ",")))
            """)
          #expect(wrong == [], "\(entity.name).\(attribute.name) after \(sql)")
        }
      }
    }
    let changed = try connection.rows("SELECT ZCHANGED FROM ZAUTHOR ORDER BY Z_PK")
    #expect(changed == [[.integer(42)], [.null], [.integer(42)]])
    #expect(
      schema.triggerGroups.filter { $0.statements.isEmpty }.map(\.attribute) == ["bookPages"])
  }

  /// SQLite's own functions, which fold ASCII, in place of those that only Core Data defines.
  private func replaceFunctions(_ connection: Connection) throws {
    for name in [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue",
      "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    ] { try connection.defineNullFunction(name) }
    let database = try DatabaseTables(connection)
    for name in database.triggers.keys {
      var sql = (database.sql[name] ?? "").replacing("NSCoreDataNow()", with: "42.0")
      for (theirs, own) in [
        ("NSCoreDataCanonical", "lower"), ("NSCoreDataToUpper", "upper"),
        ("NSCoreDataToLower", "lower"),
      ] { sql = sql.replacing(theirs + "(", with: own + "(") }
      try connection.execute("DROP TRIGGER \(quoted(name)); \(sql)")
    }
  }

  @Test("a count over a to-many with a to-one inverse has Core Data's five triggers")
  func names() throws {
    let schema = StoreSchema(model: try Self.model())
    let group = try #require(schema.triggerGroups.first { $0.attribute == "bookCount" })
    #expect(
      group.statements.map(\.name) == [
        "Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT",
        "Z_DA_ZBOOK_Author_bookCount_PARAMETER_UPDATE_INCREMENT",
        "Z_DA_ZBOOK_Author_bookCount_PARAMETER_UPDATE_DECREMENT",
        "Z_DA_ZBOOK_Author_bookCount_PARAMETER_DELETE",
        "Z_DA_ZAUTHOR_Author_bookCount_SOURCE_INSERT",
      ])
    #expect(group.owns("Z_DA_ZBOOK_Author_bookCount_ANYTHING", on: "ZBOOK"))
    #expect(!group.owns("Z_DA_ZBOOK_Author_bookCount_ANYTHING", on: "ZTAG"))
  }

  /// A hierarchy, so that the range of entity IDs stands where the rules put it.
  private static func statements(
    _ expression: String, of type: AttributeType = .string
  ) throws
    -> [String]
  {
    var thing = Entity("Thing")
    thing.attributes = [Attribute("name", .string, optional: true)]
    var book = Entity("Book", parent: "Thing")
    book.attributes = [derived("d", type, expression)]
    book.relationships = [
      Relationship("author", to: "Author", inverse: "books", optional: true),
      Relationship("tags", to: "Tag", inverse: "books", toMany: true, optional: true),
      Relationship("pages", to: "Page", inverse: "book", toMany: true, optional: true),
    ]
    var author = Entity("Author")
    author.attributes = [Attribute("name", .string, optional: true)]
    author.relationships = [
      Relationship("books", to: "Book", inverse: "author", toMany: true, optional: true)
    ]
    var tag = Entity("Tag")
    tag.relationships = [
      Relationship("books", to: "Book", inverse: "tags", toMany: true, optional: true)
    ]
    var page = Entity("Page", parent: "Sheet")
    page.attributes = [Attribute("words", .integer32, optional: true)]
    page.relationships = [Relationship("book", to: "Book", inverse: "pages", optional: true)]
    let schema = StoreSchema(
      model: try Model(
        entities: [
          thing, book, Entity("Novel", parent: "Book"), author, tag, Entity("Sheet"), page,
        ]
      ))
    return schema.triggerGroups.first { $0.attribute == "d" }?.statements.map(\.sql) ?? []
  }

  private static let told =
    "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZTHING', Z_ENT, Z_PK, 'd', ZD) FROM ZTHING WHERE"
  private static let toldOfNew =
    "SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZTHING', Z_ENT, Z_PK, 'd', ZD) FROM ZTHING WHERE"

  @Test(
    "the text of every form is Core Data's: its own row, over a to-one, sums, bounds, join tables")
  func letters() throws {
    #expect(
      try Self.statements("canonical:(name)") == [
        "CREATE TRIGGER Z_DA_ZTHING_Book_d_INSERT AFTER INSERT ON ZTHING FOR EACH ROW WHEN (NEW.ZNAME NOT NULL) BEGIN UPDATE ZTHING SET ZD = NSCoreDataCanonical(NEW.ZNAME) WHERE Z_PK = NEW.Z_PK; \(Self.toldOfNew) Z_PK = NEW.Z_PK; END",
        "CREATE TRIGGER Z_DA_ZTHING_Book_d_UPDATE AFTER UPDATE OF ZNAME ON ZTHING FOR EACH ROW BEGIN UPDATE ZTHING SET ZD = NSCoreDataCanonical(NEW.ZNAME) WHERE Z_PK = NEW.Z_PK; \(Self.told) Z_PK = NEW.Z_PK; END",
      ])
    // Author 1, Sheet 2, Page 3, Tag 4, Thing 5, Book 6, Novel 7.
    let new = "6 <= NEW.Z_ENT AND NEW.Z_ENT <= 7"
    let own = "6 <= Z_ENT AND Z_ENT <= 7"
    let looked = "(SELECT NSCoreDataToUpper(ZNAME) FROM ZAUTHOR WHERE Z_PK = NEW.ZAUTHOR)"
    #expect(
      try Self.statements("uppercase:(author.name)") == [
        "CREATE TRIGGER Z_DA_ZTHING_Book_d_SOURCE_INSERT AFTER INSERT ON ZTHING FOR EACH ROW BEGIN UPDATE ZTHING SET ZD = \(looked) WHERE Z_PK = NEW.Z_PK AND \(new); \(Self.toldOfNew) Z_PK = NEW.Z_PK AND \(new); END",
        "CREATE TRIGGER Z_DA_ZTHING_Book_d_SOURCE_UPDATE AFTER UPDATE OF ZAUTHOR ON ZTHING FOR EACH ROW WHEN \(new) BEGIN UPDATE ZTHING SET ZD = \(looked) WHERE Z_PK = NEW.Z_PK; \(Self.told) Z_PK = NEW.Z_PK; END",
        "CREATE TRIGGER Z_DA_ZAUTHOR_Book_d_PARAMETER_INSERT AFTER INSERT ON ZAUTHOR FOR EACH ROW BEGIN UPDATE ZTHING SET ZD = NSCoreDataToUpper(NEW.ZNAME) WHERE ZAUTHOR = NEW.Z_PK AND \(own); \(Self.toldOfNew) ZAUTHOR = NEW.Z_PK AND \(own); END",
        "CREATE TRIGGER Z_DA_ZAUTHOR_Book_d_PARAMETER_UPDATE AFTER UPDATE OF ZNAME ON ZAUTHOR FOR EACH ROW BEGIN UPDATE ZTHING SET ZD = NSCoreDataToUpper(NEW.ZNAME) WHERE ZAUTHOR = NEW.Z_PK AND \(own); \(Self.told) ZAUTHOR = NEW.Z_PK AND \(own); END",
      ])
    let sum = try Self.statements("pages.@sum.words", of: .integer64)
    #expect(sum.count == 5)
    #expect(
      sum.dropFirst().first
        == "CREATE TRIGGER Z_DA_ZSHEET_Book_d_PARAMETER_UPDATE_INCREMENT AFTER UPDATE OF ZBOOK, ZWORDS ON ZSHEET FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZTHING SET ZD = ZD + IFNULL(NEW.ZWORDS, 0) WHERE Z_PK = NEW.ZBOOK AND \(own); \(Self.told) Z_PK = NEW.ZBOOK AND \(own); END"
    )
    #expect(
      sum.last
        == "CREATE TRIGGER Z_DA_ZTHING_Book_d_SOURCE_INSERT AFTER INSERT ON ZTHING FOR EACH ROW WHEN \(new) BEGIN UPDATE ZTHING SET ZD = (SELECT IFNULL(SUM(ZWORDS), 0) FROM ZSHEET WHERE ZBOOK = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; \(Self.toldOfNew) Z_PK = NEW.Z_PK; END"
    )
    let least = try Self.statements("pages.@min.words", of: .integer64)
    let again =
      "UPDATE ZTHING SET ZD = (SELECT MIN(ZWORDS) FROM ZSHEET WHERE ZBOOK = OLD.ZBOOK) WHERE Z_PK = OLD.ZBOOK AND \(own) AND OLD.ZWORDS <= ZD;"
    #expect(
      least == [
        "CREATE TRIGGER Z_DA_ZSHEET_Book_d_INSERT AFTER INSERT ON ZSHEET FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL AND NEW.ZWORDS NOT NULL AND 3 = NEW.Z_ENT) BEGIN UPDATE ZTHING SET ZD = NEW.ZWORDS WHERE Z_PK = NEW.ZBOOK AND \(own) AND (ZD IS NULL OR NEW.ZWORDS < ZD); \(Self.told) Z_PK = NEW.ZBOOK AND \(own) AND (ZD IS NULL OR NEW.ZWORDS <= ZD); END",
        "CREATE TRIGGER Z_DA_ZSHEET_Book_d_UPDATE_SET AFTER UPDATE OF ZBOOK, ZWORDS ON ZSHEET FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL AND NEW.ZWORDS NOT NULL AND 3 = NEW.Z_ENT) BEGIN \(again) \(Self.told) Z_PK = OLD.ZBOOK AND \(own) AND OLD.ZWORDS <= ZD; UPDATE ZTHING SET ZD = NEW.ZWORDS WHERE Z_PK = NEW.ZBOOK AND \(own) AND (ZD IS NULL OR NEW.ZWORDS < ZD); \(Self.told) Z_PK = NEW.ZBOOK AND \(own) AND NEW.ZWORDS <= ZD; END",
        "CREATE TRIGGER Z_DA_ZSHEET_Book_d_UPDATE_UNSET AFTER UPDATE OF ZBOOK, ZWORDS ON ZSHEET FOR EACH ROW WHEN (OLD.ZBOOK NOT NULL AND OLD.ZWORDS NOT NULL AND (NEW.ZBOOK IS NULL OR NEW.ZWORDS IS NULL) AND 3 = OLD.Z_ENT) BEGIN \(again) \(Self.told) Z_PK = OLD.ZBOOK AND \(own) AND (ZD IS NULL OR OLD.ZWORDS <= ZD); END",
        "CREATE TRIGGER Z_DA_ZSHEET_Book_d_DELETE AFTER DELETE ON ZSHEET FOR EACH ROW WHEN (OLD.ZBOOK NOT NULL AND OLD.ZWORDS NOT NULL AND 3 = OLD.Z_ENT) BEGIN \(again) \(Self.told) Z_PK = OLD.ZBOOK AND \(own) AND (ZD IS NULL OR OLD.ZWORDS <= ZD); END",
        "CREATE TRIGGER Z_DA_ZTHING_Book_d_INSERT AFTER INSERT ON ZTHING FOR EACH ROW WHEN \(new) BEGIN UPDATE ZTHING SET ZD = (SELECT MIN(ZWORDS) FROM ZSHEET WHERE ZBOOK = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; \(Self.toldOfNew) Z_PK = NEW.Z_PK; END",
      ])
    let joined = try Self.statements("tags.@count", of: .integer64)
    #expect(joined.count == 3 && joined.allSatisfy { $0.contains(Self.told) })
    #expect(joined[1].contains("SET ZD = ZD - 1 WHERE Z_PK = OLD."))
    for none in ["pages.@avg.words", "tags.@sum.x", "author.books.pages.@count"] {
      #expect(try Self.statements(none) == [], "\(none)")
    }
  }

  @Test(
    "derivations that nobody documents, or that name nothing, get no trigger and no value",
    arguments: [
      "books.author.books.@count", "nothing", "title.nothing", "books.@median.pages", "@count", "",
      "author.", "FUNCTION(self, 'x')", "sum:(books)", "canonical:(books.@count)", "1 + 1",
    ])
  func unknown(_ expression: String) throws {
    var entities = try Self.model().entities
    entities[0].attributes.append(Self.derived("odd", .string, expression))
    let schema = StoreSchema(model: try Model(entities: entities))
    let group = schema.triggerGroups.first { $0.attribute == "odd" }
    #expect(group?.statements == [])
    let attribute = try #require(entities[0].attributes.last)
    if expression != "books.author.books.@count" {
      #expect(schema.derivedExpression(for: attribute, of: "Author") == nil)
    }
  }

  @Test("odd names are quoted in triggers")
  func quoting() throws {
    var entity = Entity("It's \"odd\"")
    entity.attributes = [
      Attribute("na'me", .string, optional: true),
      Self.derived("sa'me", .string, "odd"), Attribute("odd", .string, optional: true),
      Self.derived("when'", .date, "now()"),
    ]
    let folder = try TemporaryFolder()
    let path = folder.path("odd.sqlite")
    try StoreCreation.create(at: path, model: Model(entities: [entity]), uuid: "X")
    #expect(try Store(path: path).database.triggers.count == 4)
  }
}

import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Persistent history")
struct StoreHistoryTests {
  /// The tables as Core Data makes them, seen in CartKitSwiftData_v1.sqlite (macOS 26); the
  /// tombstone columns as knowledgec has them.
  private static let tables = """
    CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB );
    CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB );
    CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
    CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
    INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app'), (2, 16003, 1, 'widget'), (3, 16003, 1, 'org.example');
    INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, 3, NULL, NULL, 700000000.5, NULL, NULL, NULL, NULL, NULL),
      (2, 16002, 1, 2, 3, 1, NULL, 700000060, NULL, NULL, NULL, NULL, NULL),
      (3, 16002, 1, NULL, NULL, NULL, NULL, 700000120.25, 'app', 'old', 'ui', 'Recipes', NULL),
      (4, 16002, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    """

  /// Attributes that history keeps: `name` and `weight` of a Tag.
  private static func model() throws -> Model {
    var tag = Entity("Tag")
    var name = Attribute("name", .string, optional: true)
    var weight = Attribute("weight", .integer32, optional: true)
    name.preservesValueInHistoryOnDeletion = true
    weight.preservesValueInHistoryOnDeletion = true
    tag.attributes = [name, weight, Attribute("colour", .string, optional: true)]
    tag.relationships = [
      Relationship("group", to: "Tag", inverse: "members", optional: true),
      Relationship("members", to: "Tag", inverse: "group", toMany: true, optional: true),
    ]
    return try Model(entities: [tag])
  }

  private static func store(
    in folder: TemporaryFolder, framework: Int64 = 1526, changes: String
  ) throws -> Store {
    let path = folder.path("Tags.sqlite")
    let writer = try StoreWriter(creating: path, model: model())
    try writer.insert("Tag", attributes: ["name": .string("vegan")])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(tables)
    try connection.execute(changes)
    var values = try Store(path: path).metadata.values
    values["NSPersistenceFrameworkVersion"] = .integer(framework)
    try connection.run(
      "UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(PropertyList.binary(.dictionary(values)))])
    connection.close()
    return try Store(path: path)
  }

  /// Bits in the order group, colour, name, weight, members: 0xA0 is group and name.
  private static let changes = """
    INSERT INTO ACHANGE VALUES (1, 16001, 1, 0, 1, 1, 1, NULL, NULL, NULL),
      (2, 16001, 1, 1, 1, 1, 2, x'A0', NULL, NULL), (3, 16001, 1, 1, 1, 1, 2, x'01', NULL, NULL),
      (4, 16001, 1, 1, 1, 1, 2, x'A000', NULL, NULL), (5, 16001, 1, 1, 1, 1, 2, NULL, NULL, NULL),
      (6, 16001, 1, 2, 1, 7, 3, NULL, 'quick', 5), (7, 16001, 1, 2, 99, 8, 3, NULL, x'01', NULL);
    """

  @Test("transactions come newest first, their texts from either place")
  func transactions() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder, changes: Self.changes)
    #expect(
      try store.transactions() == [
        HistoryTransaction(number: 4),
        HistoryTransaction(
          number: 3, timestamp: 700_000_120.25, author: "app", context: "ui", process: "Recipes",
          bundle: "old", counts: .init(deleted: 2)),
        HistoryTransaction(
          number: 2, timestamp: 700_000_060, author: "widget", context: "app",
          bundle: "org.example", counts: .init(updated: 4)),
        HistoryTransaction(
          number: 1, timestamp: 700_000_000.5, author: "app", bundle: "org.example",
          counts: .init(inserted: 1)),
      ])
    #expect(try store.transactions(before: 4, limit: 2)?.map(\.number) == [3, 2])
    #expect(try store.transactions(author: "app")?.map(\.number) == [3, 1])
    #expect(try store.transactions(author: .some(nil))?.map(\.number) == [4])
  }

  @Test("history of one object has the transactions that changed it, also after its deletion")
  func object() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder, changes: Self.changes)
    let tag = ObjectID(entity: "Tag", key: 1)
    #expect(try store.transactions(of: tag)?.map(\.number) == [2, 1])
    #expect(try store.transactions(before: 2, of: tag)?.map(\.number) == [1])
    let deleted = ObjectID(entity: "Tag", key: 7)
    #expect(try store.transactions(of: deleted)?.map(\.number) == [3])
    #expect(try store.changes(of: 3, to: deleted).map(\.number) == [6])
    // Of an entity that the model does not have.
    let unknown = ObjectID(entity: "Z_ENT 99", key: 8)
    #expect(try store.changes(of: 3, to: unknown).map(\.number) == [7])
    #expect(try store.transactions(of: ObjectID(entity: "Nose", key: 1)) == [])
  }

  @Test(
    "a text finds the objects with it, deleted ones by what history kept, and authors",
    arguments: [
      ("vegan", ["Tag/p1"], [2, 1]), ("quick", ["Tag/p7"], [3]), ("Tag/p7", ["Tag/p7"], [3]),
      ("p7", ["Tag/p7"], [3]), ("P8", ["Z_ENT 99/p8"], [3]), ("tag", [], [3, 2, 1]),
      ("WIDGET", [], [2]), ("5", ["Tag/p7"], [3]), ("nothing", [], []),
    ])
  func found(text: String, objects: [String], transactions: [Int64]) throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder, changes: Self.changes)
    let match = try store.historyMatch(for: text)
    #expect(match.objects.map(\.description) == objects && !match.isCut)
    #expect(try store.transactions(matching: match)?.map(\.number) == transactions)
    let changed = try transactions.flatMap { try store.changes(of: $0, matching: match) }
    let isOnlyThem = changed.allSatisfy { objects.contains($0.object.description) }
    #expect(isOnlyThem || objects.isEmpty)
  }

  @Test("so many objects and no more are found by a text, and that is said")
  func foundMany() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(
      in: folder,
      changes: (1...9).map {
        "INSERT INTO ACHANGE VALUES (\($0), 16001, 1, 2, 1, \($0 + 10), 3, NULL, 'quick', 5);"
      }.joined())
    let match = try store.historyMatch(for: "quick", limit: 4)
    #expect(match.isCut && match.objects.count == 4)
    #expect(throws: CoreDataError.self) { try store.historyMatch(for: "  ") }
  }

  @Test("changes name the properties that were written where the bits fit the entity")
  func changedProperties() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder, changes: Self.changes)
    let changes = try store.changes(of: 2)
    #expect(changes.map(\.properties) == [["group", "name"], nil, nil, nil])
    #expect(changes.allSatisfy { $0.kind == .update && $0.object == ObjectID("Tag/p1") })
    #expect(try store.changes(of: 2, after: 3, limit: 1).map(\.number) == [4])
    #expect(try store.changes(of: 77) == [])
  }

  @Test("the order of properties is the same in every framework version")
  func olderFramework() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder, framework: 847, changes: Self.changes)
    #expect(try store.changes(of: 2).map(\.properties) == [["group", "name"], nil, nil, nil])
  }

  @Test("a to-many is named for certain only where it is the one of its kind")
  func uncertain() throws {
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.relationships = [
      Relationship("group", to: "Tag", inverse: "members", optional: true),
      Relationship("members", to: "Tag", inverse: "group", toMany: true, optional: true),
      Relationship("one", to: "Tag", inverse: "two", toMany: true, optional: true),
      Relationship("two", to: "Tag", inverse: "one", toMany: true, optional: true),
    ]
    let model = try Model(entities: [tag])
    let walk = ModelWalk(model, numbers: ["Tag": 1])
    let order = ChangedProperties(walk, entity: "Tag", model: model)
    // group, name, members, then the two of the join table.
    #expect(order.names(in: [0b1110_0000]) == ["group", "name", "members"])
    #expect(order.names(in: [0b0001_1000])?.sorted() == ["one?", "two?"])
    #expect(order.names(in: [0b0000_0100]) == nil)
    #expect(ChangedProperties(walk, entity: "No", model: model).names(in: []) == [])
  }

  @Test("tombstones are read as the attributes they were of")
  func tombstones() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder, changes: Self.changes)
    #expect(
      try store.changes(of: 3) == [
        HistoryChange(
          number: 6, kind: .delete, object: ObjectID(entity: "Tag", key: 7),
          tombstones: [
            .init(property: "name", value: .value(.string("quick"))),
            .init(property: "weight", value: .value(.integer(5))),
          ]),
        HistoryChange(
          number: 7, kind: .delete, object: ObjectID(entity: "Z_ENT 99", key: 8),
          tombstones: [
            .init(
              property: nil, value: .data(DataValue(location: .row, count: 1, bytes: [1])))
          ]),
      ])
  }

  @Test("totals by author")
  func authors() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder, changes: Self.changes)
    #expect(
      try store.historyAuthors() == [
        HistoryAuthor(
          name: "app", transactions: 2, counts: .init(inserted: 1, deleted: 2),
          first: 700_000_000.5, last: 700_000_120.25),
        HistoryAuthor(name: nil, transactions: 1, counts: .init()),
        HistoryAuthor(
          name: "widget", transactions: 1, counts: .init(updated: 4), first: 700_000_060,
          last: 700_000_060),
      ])
  }

  @Test("a store without history has none")
  func none() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    #expect(try store.transactions() == nil)
    #expect(try store.historyAuthors() == nil)
    #expect(try store.changes(of: 1) == [])
    #expect(try store.cloudKitState() == nil)
  }

  @Test(
    "real history is read whole, page by page",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: [
      ("coredataplus/SampleModel2/SampleModel2_V1.sqlite", 1, 5_468),
      ("system/knowledgec-10.13.db", 536, 1_115), ("cartkit/CartKitSwiftData_v1.sqlite", 1, 1),
    ])
  func real(fixture: String, transactions: Int, changes: Int) throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: folder.copy(fixture: fixture))
    var all: [HistoryTransaction] = []
    var page = try #require(try store.transactions(limit: 50))
    while let last = page.last {
      all += page
      page = try store.transactions(before: last.number, limit: 50) ?? []
    }
    #expect(all.count == transactions)
    #expect(all.reduce(0) { $0 + $1.counts.total } == changes)
    var found = 0
    for transaction in all {
      var changes = try store.changes(of: transaction.number)
      while let last = changes.last {
        found += changes.count
        #expect(changes.allSatisfy { store.table(of: $0.object.entity) != nil })
        changes = try store.changes(of: transaction.number, after: last.number)
      }
    }
    #expect(found == changes)
    #expect(try store.historyAuthors()?.reduce(0) { $0 + $1.transactions } == transactions)
  }

  @Test(
    "a deleted object's UUID is found in the tombstone that the user info names",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func knowledge() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: folder.copy(fixture: "system/knowledgec-10.13.db"))
    let deleted = try #require(
      try store.transactions(limit: 1_000)?.first { $0.counts.deleted > 0 })
    let change = try #require(
      try store.changes(of: deleted.number).first { $0.kind == .delete && !$0.tombstones.isEmpty })
    #expect(change.tombstones.first?.property == "uuid")
  }
}

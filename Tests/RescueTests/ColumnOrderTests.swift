import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

/// Stores that were migrated in place, and whose schema is gone.
@Suite("The order of columns that no schema tells")
struct ColumnOrderTests {
  private static func entity(_ name: String, _ attributes: [(String, AttributeType)]) -> Entity {
    var entity = Entity(name)
    entity.attributes = attributes.map { Attribute($0.0, $0.1, optional: true) }
    return entity
  }

  private static let first: [(String, AttributeType)] = [
    ("count", .integer32), ("flag", .boolean), ("taken", .date), ("body", .string),
    ("title", .string), ("photo", .binary),
  ]

  private static func note(_ more: [(String, AttributeType)]) throws -> Model {
    try Model(entities: [entity("Note", first + more)])
  }

  private static let rows = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZCOUNT, ZFLAG, ZTAKEN, ZBODY, ZTITLE, ZPHOTO)
    SELECT i, 1, 1, i * 7, i % 2, 700000000.25 + i, 'body ' || i, 'title ' || i, randomblob(40) FROM n
    """

  private static func salvage(
    _ store: GrownStore, _ versions: [Model] = [], like sibling: String? = nil
  ) throws -> (report: SalvageReport, lines: [String]) {
    var options = StoreSalvage.Options()
    options.versions = versions.enumerated().map { .init(name: "\($0 + 1)", model: $1) }
    options.choosesVersion = !versions.isEmpty
    options.sibling = try sibling.map { try SiblingStore(path: $0) }
    let before = try FileSystem.read(store.path)
    let output = store.folder.path("Saved\(Int.random(in: 0..<1_000_000_000)).sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output, options: options)
    #expect(try FileSystem.read(store.path) == before)
    let saved = try Connection(path: output, mode: .immutable)
    #expect(try saved.value("PRAGMA integrity_check")?.text == "ok")
    return (report, try StoreDump.lines(at: output))
  }

  private static func doubts(_ report: SalvageReport) -> [String] {
    report.lostTables.values.flatMap(\.doubtful).sorted()
  }

  @Test(
    "columns that came later are told by their values",
    arguments: [
      [("rating", AttributeType.integer16)],
      [("edited", .date), ("rating", .integer16)],
      [("alias", .string), ("place", .uuid)],
      [("score", .double), ("alias", .string), ("big", .integer64)],
    ])
  func appended(more: [(String, AttributeType)]) throws {
    var store = try GrownStore(Self.note([]))
    try store.change(Self.rows)
    try store.grow(to: Self.note(more))
    for (name, type) in more {
      let value =
        switch type {
        case .date: "Z_PK + 0.5"
        case .string: "'of ' || Z_PK"
        case .uuid: "randomblob(16)"
        case .double: "Z_PK / 7.0"
        default: "Z_PK % 5"
        }
      try store.change("UPDATE ZNOTE SET Z\(name.uppercased()) = \(value)")
    }
    try store.loseSchema()
    let (report, lines) = try Self.salvage(store)
    #expect(lines == store.lines)
    #expect(lines.count == 300)
    #expect(!report.lostTables.values.contains { $0.isUnfit })
    // No version but the last is known: that they came later is not proved.
    #expect(report.lostTables.keys.sorted() == ["ZNOTE"])
    #expect(report.isLossy)
  }

  @Test("rows that end early tell what came later")
  func short() throws {
    var store = try GrownStore(Self.note([]))
    try store.change(Self.rows)
    try store.grow(to: Self.note([("place", .uuid)]))
    try store.change("UPDATE ZNOTE SET ZPLACE = randomblob(16) WHERE Z_PK > 200")
    try store.loseSchema()
    let (report, lines) = try Self.salvage(store)
    #expect(lines == store.lines)
    #expect(Self.doubts(report).isEmpty, "\(report.lostTables)")
  }

  @Test("columns that nothing tells apart are named")
  func doubtful() throws {
    // The last is empty, so that each text may be the one before it.
    let model = try Model(entities: [Self.entity("Note", [("body", .string), ("title", .string)])])
    let next = try Model(
      entities: [Self.entity("Note", [("alias", .string), ("body", .string), ("title", .string)])])
    var store = try GrownStore(model)
    try store.change(
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY, ZTITLE) VALUES (1, 1, 1, 'b', 't'), (2, 1, 1, 'c', 'u')"
    )
    try store.grow(to: next)
    try store.change("UPDATE ZNOTE SET Z_OPT = 2, ZALIAS = NULL")
    try store.loseSchema()
    let (report, _) = try Self.salvage(store)
    #expect(report.lostTables["ZNOTE"]?.isUnfit == false)
    #expect(Self.doubts(report) == ["Note.alias", "Note.body", "Note.title"])
    #expect(report.isLossy)
    // Each of the versions may have made it.
    let told = try Self.salvage(store, [model, next])
    #expect(Self.doubts(told.report) == ["Note.alias", "Note.body", "Note.title"])
  }

  @Test("columns that several versions added may stand in any order at the end, and are named")
  func severalVersions() throws {
    func model(_ names: String...) throws -> Model {
      try Model(entities: [Self.entity("Note", names.map { ($0, .string) })])
    }
    var store = try GrownStore(try model("body"))
    try store.grow(to: model("body", "title"))
    try store.change(
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY, ZTITLE) VALUES (1, 1, 1, 'b', 't'), (2, 1, 1, 'c', 'u')"
    )
    try store.grow(to: model("alias", "body", "title"))
    try store.grow(to: model("alias", "body", "place", "title"))
    try store.change("UPDATE ZNOTE SET Z_OPT = 2, ZALIAS = NULL, ZPLACE = NULL")
    try store.loseSchema()
    let (report, _) = try Self.salvage(store)
    #expect(Self.doubts(report) == ["Note.alias", "Note.body", "Note.place", "Note.title"])
  }

  @Test("a healthy store of the same version shows the order, and what an app has beside")
  func sibling() throws {
    let model = try Model(entities: [Self.entity("Note", [("body", .string), ("title", .string)])])
    let next = try Model(
      entities: [Self.entity("Note", [("alias", .string), ("body", .string), ("title", .string)])])
    func grown() throws -> GrownStore {
      let store = try GrownStore(model)
      try store.change(
        """
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY, ZTITLE) VALUES (1, 1, 1, 'b', 't'), (2, 1, 1, 'c', 'u');
        CREATE TABLE AppCache (name TEXT, bytes BLOB)
        """)
      try store.grow(to: next)
      return store
    }
    let other = try grown()
    var store = try grown()
    try store.change(
      "UPDATE ZNOTE SET Z_OPT = 2, ZALIAS = 'a'; INSERT INTO AppCache VALUES ('n', x'0102'), ('m', x'03')"
    )
    try store.loseSchema()
    let (report, lines) = try Self.salvage(store, like: other.path)
    #expect(lines == store.lines)
    #expect(report.lostTables.isEmpty)
    #expect(report.tables.contains { $0.name == "AppCache" && $0.rows == 2 }, "\(report.tables)")
    let foreign = try GrownStore(model)
    #expect(throws: CoreDataError.self) { try Self.salvage(store, like: foreign.path) }
  }

  @Test("a store that was never migrated keeps the order of a new one, and is not doubted")
  func new() throws {
    var store = try GrownStore(Self.note([]))
    try store.change(Self.rows)
    try store.loseSchema()
    let (report, lines) = try Self.salvage(store)
    #expect(lines == store.lines)
    #expect(Self.doubts(report).isEmpty, "\(report.lostTables)")
  }

  @Test("columns of entities that share a table are told by whose rows have values in them")
  func hierarchy() throws {
    func model(_ more: [(String, AttributeType)]) throws -> Model {
      var clip = Self.entity("Clip", [("length", .integer32)] + more)
      clip.parent = "Item"
      var page = Self.entity("Page", [("number", .integer32)])
      page.parent = "Item"
      return try Model(entities: [Self.entity("Item", [("name", .string)]), clip, page])
    }
    var store = try GrownStore(model([]))
    try store.change(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZLENGTH, ZNUMBER, ZNAME)
      SELECT i, 2 + i % 2, 1, CASE i % 2 WHEN 0 THEN i END, CASE i % 2 WHEN 1 THEN i END, 'n' || i FROM n
      """)
    try store.grow(to: model([("angle", .integer32)]))
    try store.change("UPDATE ZITEM SET ZANGLE = 90 + Z_PK WHERE Z_ENT = 2")
    try store.loseSchema()
    let (_, lines) = try Self.salvage(store)
    #expect(lines == store.lines)
  }

  @Test(
    "columns of positions stand in the order that Core Data has them in, and rows tell another one",
    arguments: [false, true])
  func positions(isTurned: Bool) throws {
    func toMany(_ name: String, _ inverse: String) -> Relationship {
      Relationship(
        name, to: "Message", inverse: inverse, toMany: true, ordered: true, optional: true)
    }
    var chat = Entity("Chat")
    chat.relationships = [toMany("hidden", "hiddenIn"), toMany("messages", "visibleIn")]
    var message = Self.entity("Message", [("text", .string)])
    message.relationships = [
      Relationship("hiddenIn", to: "Chat", inverse: "hidden", optional: true),
      Relationship("visibleIn", to: "Chat", inverse: "messages", optional: true),
    ]
    var store = try GrownStore(Model(entities: [chat, message]))
    try store.change(
      """
      INSERT INTO ZCHAT (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO ZMESSAGE (Z_PK, Z_ENT, Z_OPT, ZVISIBLEIN, Z_FOK_VISIBLEIN, ZHIDDENIN, Z_FOK_HIDDENIN, ZTEXT)
      SELECT i, 2, 1, CASE WHEN i > 5 THEN 1 END, CASE WHEN i > 5 THEN 1024 * (50 - i) END,
      CASE WHEN i <= 5 THEN 2 END, CASE WHEN i <= 5 THEN 1024 * (50 - i) END, 't' || i FROM n
      """)
    if isTurned {
      let columns = try Connection(path: store.path, mode: .immutable).rows(
        "SELECT name, type FROM pragma_table_info('ZMESSAGE')")
      var names = columns.compactMap { row in row[0].text.map { ($0, row[1].text ?? "") } }
      let places = names.indices.filter { names[$0].0.hasPrefix("Z_FOK_") }
      #expect(places.count == 2)
      guard let first = places.first, let last = places.last else { return }
      names.swapAt(first, last)
      let list = names.map(\.0).joined(separator: ", ")
      let declared = names.map { $0.0 + " " + $0.1 + ($0.0 == "Z_PK" ? " PRIMARY KEY" : "") }
      try store.change(
        """
        CREATE TABLE OTHER (\(declared.joined(separator: ", ")));
        INSERT INTO OTHER (\(list)) SELECT \(list) FROM ZMESSAGE;
        DROP TABLE ZMESSAGE; ALTER TABLE OTHER RENAME TO ZMESSAGE
        """)
    }
    try store.loseSchema()
    let (report, lines) = try Self.salvage(store)
    #expect(lines == store.lines)
    #expect(Self.doubts(report).isEmpty, "\(report.lostTables)")
  }

  /// A table of texts alone, whose rows fit in any order: how many are tried grows with the third power of columns.
  @Test("the search for an order ends when it is cancelled, at whatever moment")
  func cancelled() throws {
    let names = (0..<30).map { "c\($0 + 10)" }
    let model = try Model(entities: [Self.entity("Note", names.map { ($0, .string) })])
    let schema = StoreSchema(model: model)
    let table = try #require(schema.tables.first)
    var evidence = ColumnEvidence()
    var record = Record()
    // A key, Z_ENT, Z_OPT, and one text less than the table has.
    let types: [UInt8] = [0, 9, 9] + Array(repeating: 15, count: names.count - 1)
    let payload = [UInt8(types.count + 1)] + types + Array(repeating: 0x61, count: names.count - 1)
    let isRead = record.read(payload, 0..<payload.count)
    #expect(isRead)
    evidence.add(number: 1, record)
    let choice = OrderChoice(
      columns: table.columns,
      traits: table.columns.map { ColumnTraits($0, of: table, in: schema) }, evidence: evidence,
      candidates: [.init(order: Array(table.columns.indices), original: table.columns.count)],
      remnants: [])
    var asked = 0
    _ = try choice.order(starts: [0]) {
      asked += 1
      return false
    }
    // 30 columns of which up to three came later, in any order.
    #expect(asked > 5, "asked \(asked) times")
    for moment in [1, 2, asked / 2, asked] {
      var steps = 0
      let error = #expect(throws: CoreDataError.self) {
        try choice.order(starts: [0]) {
          steps += 1
          return steps == moment
        }
      }
      #expect(error?.kind == .cancelled)
      // Nothing goes on after that.
      #expect(steps == moment)
    }
  }

  @Test("the versions of a model tell what their values do not", arguments: [true, false])
  func versions(isNamed: Bool) throws {
    let versions = try [["alias"], ["alias", "body"], ["alias", "body", "score"]].map { names in
      try Model(
        entities: [Self.entity("Note", names.map { ($0, $0 == "score" ? .double : .string) })])
    }
    var store = try GrownStore(versions[0])
    try store.change(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZALIAS) SELECT i, 1, 1, 'alias ' || i FROM n
      """)
    try store.grow(to: versions[1])
    try store.grow(to: versions[2])
    try store.change("UPDATE ZNOTE SET ZBODY = 'body', ZSCORE = Z_PK / 3.0")
    try store.loseSchema(andModel: !isNamed)
    let saved = try Self.salvage(store, versions)
    #expect(saved.lines == store.lines)
    #expect(
      saved.report.notes.contains { $0.contains("its rows fit “3” best") } == !isNamed,
      "\(saved.report.notes)")
  }
}

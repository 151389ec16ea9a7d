import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration
@testable import Rescue

/// Doctor, repair, plan, validation and salvage each had an answer of its own, and they disagreed.
@Suite("Unsound references are the same rows to everyone who looks for them")
struct LinkAuditTests {
  private static func model(isNew: Bool) throws -> Model {
    try Model(
      contents: Array(
        """
        <model>
        <entity name="Person"><attribute name="name" optional="YES" attributeType="String"/></entity>
        <entity name="Novelist" parentEntity="Person">
          <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
        </entity>
        <entity name="Book">
          \(isNew ? #"<attribute name="title" optional="YES" attributeType="String"/>"# : "")
          <relationship name="author" optional="YES" maxCount="1" destinationEntity="Novelist" inverseName="books"/>
          <relationship name="chapters" optional="YES" toMany="YES" ordered="YES" destinationEntity="Chapter" inverseName="book"/>
          <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="books"/>
        </entity>
        <entity name="Chapter">
          <relationship name="book" optional="YES" maxCount="1" destinationEntity="Book" inverseName="chapters"/>
        </entity>
        <entity name="Label"><attribute name="name" optional="YES" attributeType="String"/></entity>
        <entity name="Tag" parentEntity="Label">
          <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="tags"/>
        </entity>
        <entity name="Place"><attribute name="name" optional="YES" attributeType="String"/></entity>
        <entity name="Shelf" parentEntity="Place">
          <relationship name="things" optional="YES" toMany="YES" destinationEntity="Thing"/>
        </entity>
        <entity name="Thing"><attribute name="name" optional="YES" attributeType="String"/></entity>
        </model>
        """.utf8))
  }

  private let folder: TemporaryFolder
  private let path: String
  /// The relationship that names the join table, as `Entity.relationship`.
  private let join: String

  /// Of each kind another number of rows.
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("Books.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model(isNew: false))
    let novelist = try writer.insert("Novelist")
    let person = try writer.insert("Person")
    let tag = try writer.insert("Tag")
    let label = try writer.insert("Label")
    for _ in 0..<4 {
      try writer.insert("Book", toOne: ["author": novelist], toMany: ["tags": [tag]])
    }
    for place in 1...2 {
      try writer.insert(
        "Chapter", toOne: ["book": ObjectID(entity: "Book", key: 4)], positions: ["book": place])
    }
    let things = try (0..<4).map { _ in try writer.insert("Thing") }
    try writer.insert("Shelf", toMany: ["things": things])
    let place = try writer.insert("Place")
    try writer.finish()
    let store = try Store(path: path)
    let audits = store.audits()
    func column(_ relationship: String, of entity: String) throws -> String {
      let audit = try #require(audits.audit(of: relationship, in: entity))
      return quoted(try #require(audit.keys.first).column)
    }
    let author = try column("author", of: "Book")
    let owner = try column("things", of: "Shelf")
    let links = try #require(audits.outside.first { $0.storage.isJoin })
    join = "\(links.entity).\(links.relationship.name)"
    let ends: [KeyColumn] = links.entity == "Book" ? links.keys : links.keys.reversed()
    let columns = ends.map { quoted($0.column) }.joined(separator: ", ")
    let order = try #require(
      store.table(of: "Book")?.storage(of: "chapters")?.position.map { quoted($0) })
    let book = try #require(store.schema.numbers["Book"])
    store.connection.close()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      UPDATE ZBOOK SET \(author) = 99 WHERE Z_PK IN (1, 2);
      UPDATE ZBOOK SET \(author) = \(person.key) WHERE Z_PK = 3;
      INSERT INTO \(quoted(links.storage.table)) (\(columns)) VALUES
        (NULL, \(tag.key)), (1, NULL), (77, NULL), (NULL, NULL),
        (77, \(tag.key)), (2, 78), (79, 80), (1, \(label.key));
      UPDATE ZTHING SET \(owner) = 55 WHERE Z_PK = 1;
      UPDATE ZTHING SET \(owner) = \(place.key) WHERE Z_PK IN (2, 3);
      UPDATE ZCHAPTER SET \(order) = NULL WHERE Z_PK = 2;
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZAUTHORTS, ZTIMESTAMP);
      CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZNAME);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY,
        ZENTITYPK, ZTRANSACTIONID);
      INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 9, 0);
      INSERT INTO ACHANGE VALUES (1, 16001, 1, 0, \(book), 1, 1), (2, 16001, 1, 0, 555, 1, 1),
        (3, 16001, 1, 0, 556, 1, 1), (4, 16001, 1, 0, \(book), 1, 7);
      """)
    connection.close()
  }

  /// How many rows doctor counts, by kind and property.
  private func found() throws -> [String: Int] {
    try Diagnosis(of: path).findings.reduce(into: [:]) { counts, finding in
      guard let entity = finding.entity, let count = finding.count else { return }
      let name = [entity, finding.property].compactMap { $0 }.joined(separator: ".")
      counts["\(finding.kind.rawValue) \(name)", default: 0] += count
    }
  }

  @Test("doctor counts each kind by itself")
  func doctor() throws {
    let expected = [
      "to-one-dangling Book.author": 2, "entity-wrong Book.author": 1,
      "join-null \(join)": 4, "join-dangling \(join)": 3, "entity-wrong \(join)": 1,
      "to-one-dangling Thing.things": 1, "entity-wrong Thing.things": 2,
      "order Book.chapters": 1, "history ACHANGE": 3, "history ATRANSACTION": 1,
    ]
    let found = try found()
    #expect(found.filter { expected[$0.key] != nil } == expected)
    let findings = try Diagnosis(of: path).findings
    let wrong = findings.filter { $0.kind == .entityWrong }
    #expect(wrong.allSatisfy { $0.severity == .error && $0.consequence?.meaning.code == 133000 })
    #expect(wrong.allSatisfy { $0.command?.typed.contains(" --where 'SELF IN {") == true })
    #expect(findings.filter { $0.kind == .joinNull }.map(\.severity) == [.note])
  }

  @Test(
    "a plan warns of the rows that doctor calls dangling or of another entity, and of no others")
  func plan() throws {
    let found = try found()
    let plan = try Store(path: path).plan(
      to: Self.model(isNew: true), names: ("Books", "Books 2"))
    let links = plan.checks.filter { $0.code == .managedObjectReferentialIntegrity }
    let rows = Dictionary(
      links.map { ("\($0.entity).\($0.property ?? "")", $0.rows) }
    ) { $0 + $1 }
    func both(_ name: String) -> Int {
      (found["to-one-dangling \(name)"] ?? 0) + (found["join-dangling \(name)"] ?? 0)
        + (found["entity-wrong \(name)"] ?? 0)
    }
    #expect(
      rows == [
        "Book.author": both("Book.author"), join: both(join), "Shelf.things": both("Thing.things"),
      ])
    #expect(links.allSatisfy { $0.isWarning })
    let orders = plan.checks.filter { $0.entity == "Book" && $0.property == "chapters" }
    #expect(orders.map(\.rows) == [found["order Book.chapters"] ?? 0])
  }

  @Test("validation lets as many pass as the plan warned of")
  func validation() throws {
    let store = try Store(path: path)
    let plan = try store.plan(to: Self.model(isNew: true), names: ("Books", "Books 2"))
    let step = try #require(plan.steps.first)
    let validation = Validation(
      step: step, schemas: StepSchemas(store: store, step: step), connection: store.connection)
    let check = plan.checks.first { $0.entity == "Book" && $0.property == "author" }
    #expect(
      try validation.former("author", of: "Book", isEmpty: false) == check?.rows)
    #expect(check?.rows == 3)
  }

  @Test("a repair changes the rows that doctor counts, and leaves those of another entity")
  func repair() throws {
    let found = try found()
    func count(_ kind: FindingKind) -> Int {
      found.reduce(0) { $0 + ($1.key.hasPrefix(kind.rawValue + " ") ? $1.value : 0) }
    }
    var options = RepairOptions()
    options.output = folder.path("Repaired.sqlite")
    let receipt = try StoreRepair.run(path: path, options: options).receipt
    let changes = Dictionary(receipt.kinds.map { ($0.name, $0.count) }) { $0 + $1 }
    for kind in [FindingKind.toOneDangling, .joinDangling, .joinNull, .history] {
      #expect(changes[kind.rawValue] == count(kind), "\(kind)")
    }
    // All objects of the owner are numbered anew.
    #expect(changes["order"] ?? 0 >= count(.order))
    #expect(Set(receipt.left.map(\.kind)) == [.entityWrong], "\(receipt.left.map(\.sentence))")
    #expect(receipt.left.compactMap(\.count).reduce(0, +) == count(.entityWrong))
    let left = try Diagnosis(of: folder.path("Repaired.sqlite")).findings
    #expect(!left.contains { $0.kind == .joinNull || $0.kind == .order || $0.kind == .history })
  }

  @Test("salvage counts the dangling ones as doctor does")
  func salvage() throws {
    let store = try Store(path: path)
    let note = try #require(try DanglingLinks.note(store.connection, store.schema))
    #expect(note.contains("(\(join) 3, Book.author 2, Shelf.things 1)"), "\(note)")
  }

  @Test("what the check of a file finds out about references is what its rows say")
  func facts() throws {
    let store = try Store(path: path)
    let (schema, links) = (store.schema, try #require(store.schema.joins.first))
    store.connection.close()
    let (first, second) = (quoted(links.first), quoted(links.second))
    var known: [Int?] = []
    for change in [
      "", "DELETE FROM ZLABEL",
      "DELETE FROM \(quoted(links.name)) WHERE \(first) IS NULL OR \(second) IS NULL",
      "DELETE FROM \(quoted(links.name)); DELETE FROM ZPLACE",
    ] {
      let writer = try Connection(path: path, mode: .readWrite)
      try writer.execute(change)
      writer.close()
      let connection = try Connection(path: path, mode: .immutable)
      let tables = try DatabaseTables(connection)
      let check = IntegrityCheck(
        of: path, tables: tables.tables.keys.sorted(), isWhole: false,
        asking: schema.linkQuestions)
      #expect(try check.problems(helpedBy: connection).isEmpty)
      let note = try DanglingLinks.note(connection, schema)
      #expect(try DanglingLinks.note(connection, schema, knowing: check.facts) == note)
      let audit = try #require(schema.audits(of: tables).outside.first { $0.storage.isJoin })
      let counted = try audit.counts(of: [.dangling], on: connection)[.dangling]
      known.append(check.facts.dangling(audit))
      if let found = known.last ?? nil { #expect(found == counted) }
    }
    // Rows without one of both keys have to be looked at; the others all dangle where no object has one of them.
    #expect(known.map { $0 == nil } == [true, true, false, false])
    #expect(known.last == 0)
  }

  @Test("a number that is not the object's is another matter: a warning of doctor alone")
  func wrongNumber() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    func model(isNew: Bool) throws -> Model {
      var note = Entity("Note")
      note.relationships = [Relationship("about", to: "Person", optional: true)]
      if isNew { note.attributes = [Attribute("text", .string, optional: true)] }
      return try Model(entities: [Entity("Person"), Entity("Worker", parent: "Person"), note])
    }
    let writer = try StoreWriter(creating: path, model: model(isNew: false))
    let person = try writer.insert("Person")
    for _ in 0..<3 { try writer.insert("Note", toOne: ["about": person]) }
    try writer.finish()
    let store = try Store(path: path)
    let column = try #require(store.table(of: "Note")?.storage(of: "about")?.entityColumn)
    let worker = try #require(store.schema.numbers["Worker"])
    store.connection.close()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZNOTE SET \(quoted(column)) = \(worker) WHERE Z_PK > 1")
    connection.close()
    let wrong = try Diagnosis(of: path).findings.filter { $0.kind == .entityWrong }
    #expect(wrong.map(\.count) == [2] && wrong.map(\.severity) == [.warning])
    let plan = try Store(path: path).plan(to: model(isNew: true), names: ("1", "2"))
    #expect(plan.checks.filter { $0.code == .managedObjectReferentialIntegrity } == [])
  }
}

import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("Indexes that were added to a version which had shipped")
struct MissingIndexTests {
  /// As SwiftData names and makes what `#Index<Item>([\.name], [\.count, \.name])` asks for.
  private func model(withIndexes: Bool) throws -> Model {
    var item = Entity("Item")
    item.attributes = [Attribute("name", .string), Attribute("count", .integer64)]
    if withIndexes {
      item.fetchIndexes = [["name"], ["count", "name"]].map { names in
        FetchIndex(
          "SwiftDataIndexOnBinary" + names.joined(),
          elements: names.map { .init(property: $0, kind: .binary) })
      }
    }
    return try Model(entities: [item], versionIdentifiers: ["1.0.0"])
  }

  private func store(in folder: TemporaryFolder, _ model: Model) throws -> String {
    let path = folder.path("default.store")
    let writer = try StoreWriter(creating: path, model: model)
    try writer.insert("Item", attributes: ["name": .string("b"), "count": .integer(1)])
    try writer.insert("Item", attributes: ["name": .string("a"), "count": .integer(2)])
    try writer.finish()
    return path
  }

  private static let names = [
    "Z_Item_SwiftDataIndexOnBinarycountname", "Z_Item_SwiftDataIndexOnBinaryname",
  ]

  @Test("doctor tells them, as notes, and a repair makes them")
  func made() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder, model(withIndexes: false))
    let model = try model(withIndexes: true)
    #expect(try Diagnosis(of: path).findings.filter { $0.kind == .indexMissing }.isEmpty)
    let found = try Diagnosis(of: path, model: model, modelName: "App.swift")
    let missing = found.findings.filter { $0.kind == .indexMissing }
    #expect(missing.flatMap(\.first).sorted() == Self.names)
    #expect(missing.allSatisfy { $0.severity == .note && $0.entity == "Item" })
    #expect(
      missing.first?.command?.typed
        == "strata repair \(path) --fix index-missing --model App.swift")
    #expect(found.count(.error) + found.count(.warning) == 0)

    let lines = try StoreDump.lines(at: path)
    var options = RepairOptions()
    options.model = model
    options.modelName = "App.swift"
    let receipt = try StoreRepair.run(path: path, options: options).receipt
    #expect(receipt.left.isEmpty)
    let repaired = try Store(path: path)
    for name in Self.names { #expect(repaired.database.indexes[name] == "ZITEM") }
    #expect(
      repaired.database.sql[Self.names[0]]
        == "CREATE INDEX Z_Item_SwiftDataIndexOnBinarycountname ON ZITEM (ZCOUNT COLLATE BINARY ASC, ZNAME COLLATE BINARY ASC)"
    )
    #expect(try StoreDump.lines(at: path) == lines)
    #expect(
      try Diagnosis(of: path, model: model).findings.filter { $0.kind == .indexMissing }.isEmpty)
  }

  @Test("a store that was made with them has them")
  func there() throws {
    let folder = try TemporaryFolder()
    let model = try model(withIndexes: true)
    let path = try store(in: folder, model)
    #expect(
      try Diagnosis(of: path, model: model).findings.filter { $0.kind == .indexMissing }.isEmpty)
  }

  /// Two objects under a uniqueness constraint and a to-one, with what is done to the store afterwards.
  private func constrained(in folder: TemporaryFolder, after sql: String) throws -> String {
    var item = Entity("Item")
    item.attributes = [Attribute("name", .string), Attribute("count", .integer64)]
    item.uniquenessConstraints = [["name"]]
    item.relationships = [
      Relationship("owner", to: "Item", inverse: "parts", optional: true),
      Relationship("parts", to: "Item", inverse: "owner", toMany: true, optional: true),
    ]
    let path = folder.path("Items.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [item]))
    try writer.insert("Item", attributes: ["name": .string("b"), "count": .integer(1)])
    try writer.insert("Item", attributes: ["name": .string("a"), "count": .integer(1)])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
    return path
  }

  private func missing(_ path: String) throws -> [Finding] {
    try Diagnosis(of: path).findings.filter { [.indexMissing, .uniqueMissing].contains($0.kind) }
  }

  @Test(
    "the index of a uniqueness constraint is a warning, that of a to-one a note; a repair makes both"
  )
  func constraint() throws {
    let folder = try TemporaryFolder()
    let path = try constrained(
      in: folder, after: "DROP INDEX Z_Item_UNIQUE_name; DROP INDEX ZITEM_ZOWNER_INDEX")
    let found = try missing(path)
    #expect(found.map(\.kind) == [.uniqueMissing, .indexMissing])
    #expect(found.map(\.severity) == [.warning, .note])
    #expect(found.map(\.first) == [["Z_Item_UNIQUE_name"], ["ZITEM_ZOWNER_INDEX"]])
    #expect(found.first?.entity == "Item" && found.first?.property == "name")
    let lines = try StoreDump.lines(at: path)
    #expect(try StoreRepair.run(path: path, options: RepairOptions()).receipt.left.isEmpty)
    #expect(try missing(path).isEmpty && StoreDump.lines(at: path) == lines)
    let repaired = try Store(path: path)
    #expect(
      repaired.database.sql["Z_Item_UNIQUE_name"]
        == "CREATE UNIQUE INDEX Z_Item_UNIQUE_name ON ZITEM (ZNAME COLLATE BINARY ASC)")
  }

  @Test(
    "where objects are equal already, the index waits for a repair of uniqueness, which makes it")
  func equalObjects() throws {
    let folder = try TemporaryFolder()
    let path = try constrained(
      in: folder, after: "DROP INDEX Z_Item_UNIQUE_name; UPDATE ZITEM SET ZNAME = 'a'")
    #expect(try missing(path).map(\.kind) == [.uniqueMissing])
    let before = try FileSystem.read(path)
    let lines = try StoreDump.lines(at: path)
    let receipt = try StoreRepair.run(path: path, options: RepairOptions()).receipt
    #expect(Set(receipt.left.map(\.kind)) == [.uniqueness, .uniqueMissing])
    #expect(try FileSystem.read(path) == before)
    var options = RepairOptions()
    (options.kinds, options.kept) = ([.uniqueness], .newest)
    #expect(try StoreRepair.run(path: path, options: options).receipt.left.isEmpty)
    #expect(try missing(path).isEmpty)
    #expect(try StoreDump.lines(at: path) != lines)
  }

  @Test("a constraint in the table itself, as iOS 9 and 10 wrote it, is one")
  func inTable() throws {
    let folder = try TemporaryFolder()
    let path = try constrained(
      in: folder,
      after: """
        DROP INDEX Z_Item_UNIQUE_name; DROP INDEX ZITEM_ZOWNER_INDEX;
        CREATE TABLE other (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER,
          ZOWNER INTEGER, ZNAME VARCHAR UNIQUE);
        INSERT INTO other SELECT Z_PK, Z_ENT, Z_OPT, ZCOUNT, ZOWNER, ZNAME FROM ZITEM;
        DROP TABLE ZITEM; ALTER TABLE other RENAME TO ZITEM;
        CREATE INDEX ZITEM_ZOWNER_INDEX ON ZITEM (ZOWNER)
        """)
    #expect(try missing(path).isEmpty)
  }
}

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
}

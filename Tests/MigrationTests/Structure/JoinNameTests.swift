import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("The name of a join table within one entity")
struct JoinNameTests {
  private static func join(_ store: Store) throws -> StoreSchema.JoinTable {
    try #require(store.schema.join(of: "likes", in: "Person"))
  }

  /// Attributes of Person: with so many the other side names the table.
  private static let more = (0..<40).map { "note\($0)" }

  private static func model(_ count: Int) throws -> Model {
    try Gallery.model(more.prefix(count).map { Gallery.attribute($0, for: "Person") })
  }

  @Test(
    "a new entity ID renames table and columns, and nothing is made anew", arguments: Way.allCases)
  func shifted(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let before = try Store(path: path)
    #expect(before.warnings == [])
    let former = try Self.join(before)
    let lines = try StoreDump.lines(before)
    let (result, _) = try Gallery.migrate(path, to: Gallery.model([Gallery.shift]), way, in: folder)
    let join = try Self.join(result)
    #expect(former.name.hasPrefix("Z_2") && join.name == "Z_3" + former.name.dropFirst(3))
    #expect(join == result.schema.expected.join(of: "likes", in: "Person"))
    #expect(try StoreDump.lines(result) == lines)
    #expect(result.warnings == [])
  }

  @Test("its program says whose rows it takes, and that none is left out")
  func program() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Gallery.store(in: folder))
    let former = try Self.join(store)
    let model = try Gallery.model([Gallery.shift])
    let schemas = StepSchemas(
      store: store, mapping: try MappingInference.mapping(from: store.model, to: model),
      destination: model)
    let join = try #require(schemas.destination.join(of: "likes", in: "Person"))
    let program = try #require(schemas.program(of: join))
    #expect(program.table == join.name)
    #expect(program.former?.table == former)
    #expect(program.former?.isStraight == true)
    #expect(program.takesAll)
    #expect(program.isWhole == (program.columns.count == 2))
  }

  @Test(
    "where an attribute turns the walk, the other side’s name is given", arguments: Way.allCases)
  func turned(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let former = try Self.join(Store(path: path))
    let count = try #require(
      try (1...Self.more.count).first {
        let join = StoreSchema(model: try Self.model($0)).join(of: "likes", in: "Person")
        return join?.name != former.name
      })
    let (result, receipt) = try Gallery.migrate(path, to: Self.model(count), way, in: folder)
    let join = try Self.join(result)
    #expect(join.side == former.otherSide)
    #expect([join.first, join.second] == [former.second, former.first])
    #expect(!result.database.contains(former.name))
    #expect(result.database.columns(of: join.name) == Set(join.columns))
    #expect(result.database.indexes["\(join.name)_\(join.second)_INDEX"] == join.name)
    #expect(result.warnings == [])
    #expect(!receipt.notes.contains { $0.contains("join") })
    let lines = try StoreDump.lines(at: path)
    let kept = try StoreDump.lines(result).map { line in
      Self.more.reduce(line) { $0.replacing(" \($1)=∅", with: "") }
    }
    #expect(kept == lines)
    // In place the columns stand as they stood: Core Data only gives the table its name.
    if way == .inPlace {
      #expect(
        result.database.tables[join.name]?.prefix(2).map(\.name) == [former.first, former.second])
    }
  }

  @Test("a name that another version of strata gave is put right", arguments: Way.allCases)
  func mended(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let former = try Self.join(Store(path: path))
    let wrong = "Z_2" + former.inverse.uppercased()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("ALTER TABLE \(former.name) RENAME TO \(wrong)")
    connection.close()
    let before = try Store(path: path)
    #expect(try Self.join(before).name == wrong)
    #expect(before.warnings.count == 1)
    let (result, _) = try Gallery.migrate(path, to: Gallery.model([Gallery.shift]), way, in: folder)
    #expect(try Self.join(result).name == "Z_3" + former.name.dropFirst(3))
    #expect(result.warnings == [])
    #expect(try StoreDump.lines(result) == StoreDump.lines(before))
  }
}

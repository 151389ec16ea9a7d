import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("A second reader", .enabled(if: SecondReader.isAvailable, "there is no python3"))
struct SecondReaderTests {
  private static let stores = TestScale.some(
    12,
    of: [".sqlite", ".wiredatabase", ".moody", ".db"]
      .flatMap { Fixtures.paths(endingWith: $0) }
      // From before there was a model in the store.
      .filter { !["bookmigration/Model1.sqlite", "system/kik.sqlite"].contains($0) })

  @Test(
    "agrees on every value and link of the fixtures",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"), arguments: stores)
  func fixtures(_ name: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Copied.sqlite")
    try FileSystem.copyOver(Fixtures.path(name), to: path)
    let wal = Fixtures.path(name) + "-wal"
    if FileSystem.isFile(wal) { try FileSystem.copyOver(wal, to: path + "-wal") }
    let disagreements = try SecondReader.disagreements(at: path)
    #expect(disagreements == [])
  }

  @Test("does not find a join table by its columns")
  func strict() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Renamed.sqlite")
    var tag = Entity("Tag")
    var note = Entity("Note")
    tag.relationships = [Relationship("notes", to: "Note", inverse: "tags", toMany: true)]
    note.relationships = [Relationship("tags", to: "Tag", inverse: "notes", toMany: true)]
    let model = try Model(entities: [tag, note])
    let uuid = "11111111-2222-4333-8444-555555555555"
    try StoreCreation.create(at: path, model: model, uuid: uuid)
    let schema = StoreSchema(model: model)
    let join = try #require(schema.joins.first)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1)")
    let lines = try SecondReader.lines(at: path)
    #expect(lines == ["Tag/p1 notes>"])
    try connection.execute("ALTER TABLE \(quoted(join.name)) RENAME TO Z_1OTHERS")
    #expect(throws: SecondReaderError.self) { _ = try SecondReader.lines(at: path) }
    let disagreements = try SecondReader.disagreements(at: path)
    #expect(disagreements.count == 1)
  }
}

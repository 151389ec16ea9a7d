import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import strata

@Suite("explain, plan and migrate on a store without a table of its model")
struct MissingTableCommandTests {
  private let folder: TemporaryFolder
  private let path: String

  private static func contents(_ entities: [String], more: String = "") -> String {
    "<model>"
      + entities.map {
        "<entity name=\"\($0)\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>\(more)</entity>"
      }.joined() + "</model>"
  }

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("Books.store")
  }

  private func model(_ name: String, _ text: String) throws -> String {
    let place = folder.path(name + ".xcdatamodel")
    try FileSystem.makeDirectory(place)
    try FileSystem.write(Array(text.utf8), to: place + "/contents")
    return place
  }

  /// A store with a book and without the table of tags, of which so many keys were given out.
  private func make(tags: Int) throws -> String {
    let text = Self.contents(["Book", "Tag"])
    try StoreCreation.create(at: path, model: Model(contents: Array(text.utf8)), uuid: "A")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 1, Z_ENT, 1, 'One' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book';
      UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Book';
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(tags) WHERE Z_NAME = 'Tag';
      DROP TABLE ZTAG;
      """)
    connection.close()
    return try model("One", text)
  }

  @Test("explain and plan say what to do", arguments: [(0, "repair"), (9, "undelete")])
  func hints(tags: Int, command: String) throws {
    let own = try make(tags: tags)
    let next = try model(
      "Two",
      Self.contents(
        ["Book", "Tag"],
        more: "<attribute name=\"size\" optional=\"YES\" attributeType=\"String\"/>"))
    for words in [["explain", path, own], ["explain", path, next], ["plan", path, "--to", next]] {
      let run = Captured(words)
      #expect(run.status != .done, "\(words)")
      #expect(run.out.contains("the table ZTAG is missing"), "\(words): \(run.out)")
      let text = run.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(text.contains("strata \(command) \(path)"), "\(words): \(run.out)")
    }
    let explained = Captured("explain", path, next, "--json")
    #expect(explained.out.contains("\"hint\":"))
    guard tags == 0 else { return }
    #expect(Captured("repair", path, "--fix", "table-missing").status == .done)
    #expect(Captured("migrate", path, "--to", next).status == .done)
  }

  @Test("a plan in which the entity goes anyway runs, in place and as a copy")
  func going() throws {
    _ = try make(tags: 9)
    let next = try model("Two", Self.contents(["Book"]))
    let plan = Captured("plan", path, "--to", next)
    #expect(plan.status == .done, "\(plan.out)\(plan.err)")
    let output = folder.path("Copy.sqlite")
    for words in [
      ["migrate", path, "--to", next, "--strategy", "copy", "--output", output],
      ["migrate", path, "--to", next],
    ] {
      let run = Captured(words)
      #expect(run.status == .done, "\(words): \(run.out)\(run.err)")
    }
    #expect(Captured("dump", path).out.contains("One"))
    #expect(Captured("dump", output).out == Captured("dump", path).out)
  }
}

import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

/// `strata watch` as a process, beside this one, which saves.
@Suite("Watching a store")
struct WatchRunTests {
  /// A store of notes in WAL mode, and a folder for the private copy.
  private struct Scene {
    let folder: TemporaryFolder
    let path: String
    let temporary: String
    let connection: Connection

    init() throws {
      folder = try TemporaryFolder()
      path = folder.path("Notes.sqlite")
      temporary = folder.path("temporary")
      try FileSystem.makeDirectory(temporary)
      let model = """
        <model><entity name="Note">
        <attribute name="text" optional="YES" attributeType="String"/>
        </entity></model>
        """
      try StoreCreation.create(
        at: path, model: Model(contents: Array(model.utf8)),
        uuid: "9F2C41D0-0000-4000-8000-000000000002")
      connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(
        "PRAGMA journal_mode = WAL; INSERT INTO ZNOTE VALUES (1, 1, 1, 'one'), (2, 1, 1, 'two')")
    }

    func watch(_ options: String...) throws -> ChildProgram {
      let child = try #require(
        ChildProgram(
          [Shell.strata, "watch", path, "--json"] + options, environment: ["TMPDIR": temporary]))
      child.read { $0.has("{\"watch\":") }
      return child
    }

    var copies: [String] { (try? FileSystem.list(temporary)) ?? [] }
  }

  @Test("each save is printed with what it changed, and --saves ends the command with 0")
  func saves() throws {
    let scene = try Scene()
    let child = try scene.watch("--saves", "2")
    try scene.connection.execute("UPDATE ZNOTE SET ZTEXT = 'uno' WHERE Z_PK = 1")
    child.read { $0.has("\"new\":\"uno\"") }
    try scene.connection.execute("DELETE FROM ZNOTE WHERE Z_PK = 2")
    #expect(child.wait() == 0, "\(child.text)")
    let lines = child.text.split(separator: "\n")
    #expect(lines.count == 5, "\(child.text)")
    #expect(child.has("\"a\":\"Note/p1\"") && child.has("\"old\":\"one\""))
    #expect(child.has("\"change\":\"delete\"") && child.has("\"a\":\"Note/p2\""))
    #expect(scene.copies.isEmpty)
  }

  @Test("a signal ends it with 0, and the private copy goes away", arguments: [SIGINT, SIGTERM])
  func signals(number: Int32) throws {
    let scene = try Scene()
    let child = try scene.watch()
    #expect(scene.copies.count == 1)
    child.signal(number)
    #expect(child.wait() == 0, "\(child.text)")
    #expect(scene.copies.isEmpty)
  }

  @Test("what a killed one left the next one removes")
  func killed() throws {
    let scene = try Scene()
    let child = try scene.watch()
    child.signal(SIGKILL)
    #expect(child.wait() == 128 + SIGKILL)
    #expect(scene.copies.count == 1)
    let next = try scene.watch("--saves", "1")
    #expect(scene.copies.count == 1)
    try scene.connection.execute("UPDATE ZNOTE SET ZTEXT = 'due' WHERE Z_PK = 2")
    #expect(next.wait() == 0)
    #expect(scene.copies.isEmpty)
  }

  @Test("a program that is writing when it begins is waited for")
  func busy() throws {
    let scene = try Scene()
    try scene.connection.execute(
      "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; UPDATE ZNOTE SET ZTEXT = 'uno' WHERE Z_PK = 1"
    )
    let child = try #require(
      ChildProgram(
        [Shell.strata, "watch", scene.path, "--json", "--saves", "1"],
        environment: ["TMPDIR": scene.temporary]))
    // Many times as long as a save takes.
    usleep(1_500_000)
    #expect(!child.has("{\"watch\":"), "\(child.text)")
    try scene.connection.execute("COMMIT")
    child.read { $0.has("{\"watch\":") }
    try scene.connection.execute("UPDATE ZNOTE SET ZTEXT = 'due' WHERE Z_PK = 1")
    #expect(child.wait() == 0, "\(child.text)")
    #expect(child.has("\"old\":\"uno\"") && child.has("\"new\":\"due\""), "\(child.text)")
  }
}

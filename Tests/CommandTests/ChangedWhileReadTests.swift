import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import strata

/// Stores that another program writes to while a command reads them.
@Suite("A store that changes while it is read")
struct ChangedWhileReadTests {
  private static let model = """
    <model><entity name="Note">
    <attribute name="text" optional="YES" attributeType="String"/>
    </entity></model>
    """

  private static func store(in folder: TemporaryFolder, mode: String) throws -> String {
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(model.utf8)),
      uuid: "9F2C41D0-0000-4000-8000-000000000001")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA journal_mode = \(mode);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO ZNOTE SELECT i, 1, 1, 'before ' || i FROM n
      """)
    connection.close()
    return path
  }

  /// Runs a command, and `change` when it has printed the first lines.
  private static func run(
    _ words: [String], changing change: () throws -> Void
  ) throws -> (status: CommandStatus, out: String, err: String) {
    var (out, err): ([UInt8], [UInt8]) = ([], [])
    var isChanged = false
    var failure: (any Error)?
    let status = withoutActuallyEscaping(change) { change in
      CommandLineTool.run(
        words,
        console: Console(
          isTerminal: false, width: 100, environment: { _ in nil },
          out: {
            out += $0
            guard !isChanged else { return }
            isChanged = true
            do { try change() } catch { failure = error }
          }, err: { err += $0 }))
    }
    if let failure { throw failure }
    #expect(isChanged)
    return (status, String(decoding: out, as: UTF8.self), String(decoding: err, as: UTF8.self))
  }

  @Test("is said, with status 4", arguments: ["dump", "rows"])
  func written(command: String) throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, mode: "DELETE")
    let words = command == "rows" ? ["rows", path, "Note", "--format", "csv"] : [command, path]
    let (status, _, err) = try Self.run(words) {
      let writer = try Connection(path: path, mode: .readWrite)
      try writer.execute("UPDATE ZNOTE SET ZTEXT = 'after ' || Z_PK")
      writer.close()
    }
    #expect(status == .unreadable)
    #expect(err.contains("Another program wrote to the store while it was read"), "\(err)")
  }

  @Test("and is read on as it was, where another file was put in its place")
  func replaced() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, mode: "DELETE")
    let (status, out, err) = try Self.run(["dump", path]) {
      try FileSystem.copyOver(path, to: path + ".new")
      let writer = try Connection(path: path + ".new", mode: .readWrite)
      try writer.execute("UPDATE ZNOTE SET ZTEXT = 'after ' || Z_PK")
      writer.close()
      try FileSystem.rename(path + ".new", to: path)
    }
    #expect(status == .done, "\(err)")
    #expect(out.split(separator: "\n").count == 3000 && !out.contains("after"))
  }
}

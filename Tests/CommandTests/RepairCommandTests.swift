import Files
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import strata

@Suite("strata repair")
struct RepairCommandTests {
  private static func store(_ folder: TemporaryFolder, after sql: String = "") throws -> String {
    let made = Captured("demo", folder.path("demo"), "--objects", "400", "--no-open")
    try #require(made.status == .done)
    let path = folder.path("demo/Recipes.sqlite")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(sql)
    connection.close()
    return path
  }

  private struct Written: Decodable {
    struct Receipt: Decodable {
      struct Change: Decodable {
        let kind: String
        let entity: String?
        let key: Int?
        let property, old, new: String?
      }
      let changes: [Change]
      let kinds: [String: Int]
      let changed: Int
      let backup: String?
      let rollback: String?
    }
    let receipt: Receipt
  }

  @Test("says what was changed, where the backup is, and the way back; which works")
  func text() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      folder, after: "UPDATE ZSTEP SET ZRECIPE = 9999 WHERE Z_PK = 3")
    let old = try FileSystem.read(path)
    let run = Captured("repair", path)
    #expect(run.status == .done, "\(run.err)")
    #expect(run.lines.first?.hasPrefix("✓ repaired in ") == true, "\(run.out)")
    #expect(run.flat.contains("repaired changes ✓ to-one-dangling 1 "), "\(run.out)")
    #expect(run.lines.contains("    Step/p3.recipe: Recipe/p9999 → nothing"))
    #expect(run.lines.contains("to roll back: strata rollback \(path)"))
    #expect(Captured("doctor", path).status == .done)
    let list = Captured("rollback", path, "--list")
    #expect(list.out.contains("Recipes.unrepaired-1  repair"), "\(list.out)")
    #expect(Captured("rollback", path).status == .done)
    #expect(try FileSystem.read(path) == old)
  }

  @Test("the receipt's file lists each change, and so do the lines of JSON")
  func receipt() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      folder, after: "UPDATE ZSTEP SET ZRECIPE = 9999 WHERE Z_PK IN (3, 5, 7, 8, 9, 11, 12)")
    let file = folder.path("receipt.json")
    let run = Captured("repair", path, "--json", "--receipt", file)
    #expect(run.status == .done)
    let receipt = try Captured.decoded(Written.self, from: FileSystem.read(file)).receipt
    #expect(receipt.changed == 7 && receipt.kinds == ["to-one-dangling": 7])
    #expect(receipt.changes.compactMap(\.key) == [3, 5, 7, 8, 9, 11, 12])
    #expect(receipt.changes.allSatisfy { $0.old == "Recipe/p9999" && $0.new == nil })
    #expect(receipt.rollback == "strata rollback \(path)" && receipt.backup != nil)
    #expect(run.lines.count { $0.hasPrefix("{\"change\":") } == 7)
    #expect(run.lines.last?.hasPrefix("{\"receipt\":{") == true)
  }

  @Test("with nothing to do the status is 0, with errors left 1")
  func statuses() throws {
    let folder = try TemporaryFolder()
    let healthy = try Self.store(folder)
    let run = Captured("repair", healthy)
    #expect(run.status == .done && run.lines.first == "✓ nothing to repair", "\(run.out)")
    #expect(Captured("repair", healthy, "--json").out.hasPrefix("{\"receipt\":null,"))
    let other = try TemporaryFolder()
    let equal = try Self.store(
      other,
      after: """
        DROP INDEX Z_Recipe_UNIQUE_identifier;
        UPDATE ZRECIPE SET ZIDENTIFIER = 'same' WHERE Z_PK IN (2, 3)
        """)
    let left = Captured("repair", equal)
    #expect(left.status == .no && left.out.contains("[uniqueness]"), "\(left.out)")
    #expect(Captured("repair", equal, "--keep", "oldest").status == .done)
  }

  @Test("a rehearsal says what would be, and changes nothing; an output is another file")
  func elsewhere() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(folder, after: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    let old = try FileSystem.read(path)
    let run = Captured("repair", path, "--dry-run")
    #expect(run.status == .done && run.lines.first?.hasPrefix("✓ would be repaired in ") == true)
    let output = folder.path("demo/Out.sqlite")
    #expect(Captured("repair", path, "--output", output).status == .done)
    #expect(try FileSystem.read(path) == old)
    #expect(Captured("doctor", output).status == .done)
  }

  @Test("what it cannot do is refused in a sentence with what helps")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(folder)
    #expect(Captured("repair", path, "--fix", "cut-off").status == .usage)
    #expect(Captured("repair", path, "--fix", "uniqueness").err.contains("--keep newest"))
    try FileSystem.write(Array(FileSystem.read(path).dropLast(40_000)), to: path)
    let run = Captured("repair", path)
    #expect(run.status == .unreadable && run.err.contains("strata salvage "), "\(run.err)")
  }

  @Test("text of a store does not steer the terminal")
  func hostile() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      folder,
      after: """
        CREATE TRIGGER "A\u{1B}[31mOWN" AFTER DELETE ON ZTAG
        BEGIN INSERT INTO GONE VALUES ('\u{1B}]0;x\u{7}'); END
        """)
    let run = Captured("repair", path, "--fix", "triggers")
    #expect(run.status == .done, "\(run.err)")
    #expect(!run.out.unicodeScalars.contains { $0.value == 0x1B || $0.value == 7 })
  }
}

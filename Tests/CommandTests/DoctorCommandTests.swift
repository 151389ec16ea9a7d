import Files
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("strata doctor")
struct DoctorCommandTests {
  private static func store(_ folder: TemporaryFolder, after sql: String = "") throws -> String {
    let made = Captured("demo", folder.path("demo"), "--objects", "400", "--no-open")
    try #require(made.status == .done)
    let path = folder.path("demo/Recipes.sqlite")
    let connection = try Connection(path: path, mode: .readWrite, isDefensive: false)
    try connection.execute(sql)
    connection.close()
    return path
  }

  private struct Answer: Decodable {
    struct Finding: Decodable {
      struct CoreData: Decodable {
        let domain: String
        let code: Int
      }
      let kind: String
      let severity: String
      let entity: String?
      let count: Int?
      let first: [String]
      let message: String
      let advice: String
      let command: String?
      let coreData: CoreData?
    }
    let readable: Bool
    let complete: Bool
    let errors: Int
    let warnings: Int
    let notes: Int
    let findings: [Finding]
  }

  @Test("a healthy store has nothing, and status 0")
  func healthy() throws {
    let folder = try TemporaryFolder()
    let run = Captured("doctor", try Self.store(folder))
    #expect(run.status == .done && run.err.isEmpty)
    #expect(run.lines.last?.hasPrefix("✓ nothing is wrong") == true)
  }

  @Test("a finding is a line with its sign, its objects, Core Data's words and a command")
  func finding() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(folder, after: "UPDATE ZSTEP SET ZRECIPE = 9999 WHERE Z_PK < 3")
    let run = Captured("doctor", path)
    #expect(run.status == .no)
    #expect(
      run.out.hasPrefix(
        """
        ✗ 2 objects of Step.recipe reference missing objects of Recipe. [to-one-dangling]
          first: Step/p1, Step/p2
          Core Data: NSCocoaErrorDomain 133000, “A fault could not be fulfilled: the object's row is gone.”
        """))
    let text = run.out.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    #expect(
      text.contains(
        "An app that follows such a reference fails with this error. If the objects were deleted by mistake, strata undelete \(path) looks for them and restores what it finds; a repair empties the references. strata repair \(path) --fix to-one-dangling"
      ))
    #expect(run.lines.last == "1 error, 1 note" || run.lines.last == "1 error")
  }

  @Test("errors come first, and JSON has the same list")
  func json() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      folder,
      after: """
        UPDATE ZRECIPE SET ZTITLE = NULL WHERE Z_PK < 4;
        UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Recipe';
        UPDATE ZSTEP SET ZRECIPE = 9999 WHERE Z_PK < 3;
        """)
    let run = Captured("doctor", path, "--json")
    #expect(run.status == .no)
    let answer = try run.decoded(Answer.self)
    #expect(answer.readable && answer.complete && answer.errors == 2 && answer.warnings == 1)
    #expect(
      answer.findings.filter { $0.severity != "note" }.map(\.kind)
        == ["primary-key", "to-one-dangling", "mandatory"])
    let dangling = try #require(answer.findings.first { $0.kind == "to-one-dangling" })
    #expect(dangling.count == 2 && dangling.first == ["Step/p1", "Step/p2"])
    #expect(dangling.coreData?.code == 133000 && dangling.entity == "Step")
    #expect(answer.findings.allSatisfy { !$0.message.isEmpty && !$0.advice.isEmpty })
    let text = Captured("doctor", path)
    #expect(answer.findings.allSatisfy { text.out.contains("[\($0.kind)]") })
  }

  @Test("a store that does not open is told of its file; one without anything to read is 4")
  func statuses() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(folder)
    let whole = try FileSystem.read(path)
    try FileSystem.write(Array(whole.prefix(whole.count / 2 / 4096 * 4096)), to: path)
    let cut = Captured("doctor", path)
    #expect(cut.status == .no && cut.out.hasPrefix("✗ The file has "))
    #expect(cut.out.contains("so its objects were not checked"))
    try FileSystem.write([UInt8](repeating: 65, count: 9000), to: path)
    let other = Captured("doctor", path)
    #expect(other.status == .unreadable && other.err.contains("not an SQLite store"))
    let json = Captured("doctor", path, "--json")
    #expect(json.status == .unreadable && json.out.contains("\"readable\":false"))
    #expect(json.out.contains("\"error\":{") && json.err.isEmpty)
    #expect(Captured("doctor", folder.path("none.sqlite")).status == .unreadable)
    #expect(Captured("doctor").status == .usage)
  }

  @Test("with a model that did not make the store")
  func model() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(folder)
    let model = folder.path("demo/Recipes.xcdatamodeld@Recipes 2")
    let run = Captured("doctor", path, "--model", model)
    #expect(run.status == .no && run.out.contains("[version-hashes]"))
    #expect(run.out.contains("    strata explain \(path) '\(model)'"))
  }

  @Test("names out of a store do not steer the terminal")
  func hostile() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(
      folder,
      after: """
        INSERT INTO Z_PRIMARYKEY VALUES (77, 'A' || char(27) || '[2J' || char(8238) || 'B', 0, 0);
        CREATE INDEX "X\u{1B}[31mY" ON ZTAG (ZCOLOUR);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = replace(sql, '(ZCOLOUR)', '(ZNAME)') WHERE name LIKE 'X%Y';
        """)
    for options in [[], ["--json"], ["--color=never"]] {
      let run = Captured(["doctor", path] + options)
      #expect(run.status == .no)
      #expect(!run.out.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
      #expect(!run.out.contains("\u{202E}"))
    }
  }

  @Test("lines keep to the width of the terminal, commands stay whole")
  func width() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(folder, after: "UPDATE ZSTEP SET ZRECIPE = 9999 WHERE Z_PK < 9")
    let run = Captured(["doctor", path], width: 60)
    let lines = run.lines.filter { !$0.hasPrefix("    strata ") }
    #expect(lines.allSatisfy { $0.count <= 60 }, "\(lines)")
    #expect(run.lines.contains { $0 == "    strata repair \(path) --fix to-one-dangling" })
  }

  @Test("another program's database, and one that nothing was put into, are no damaged stores")
  func otherDatabases() throws {
    let folder = try TemporaryFolder()
    for (name, sql) in [("plain.db", "CREATE TABLE t (a)"), ("empty.db", "VACUUM")] {
      let path = folder.path(name)
      let connection = try Connection(path: path, mode: .create)
      try connection.execute(sql)
      connection.close()
      let told = Captured("doctor", path)
      #expect(told.status == .unreadable && told.out.isEmpty, "\(told.out)")
      #expect(told.err.contains("an SQLite database, but not a Core Data store"))
      let saved = Captured("salvage", path, "--output", folder.path("Saved.sqlite"))
      #expect(saved.status == .unreadable)
      #expect(saved.err.contains("an SQLite database, but not a Core Data store"), "\(saved.err)")
    }
  }

}

import Demo
import Files
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("strata undelete, and strata salvage by their lines")
struct UndeleteCommandTests {
  /// A demo store out of which three tags were deleted, in the -wal alone; one of them has a name that
  /// would steer a terminal.
  private static func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Demo.sqlite")
    _ = try DemoStore.write(
      to: path, model: #require(DemoModels.versions().first).model, objects: 1_000)
    let open = path + ".open"
    try FileSystem.copyOver(path, to: open)
    let connection = try Connection(path: open, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      UPDATE ZTAG SET ZNAME = char(27) || '[31mred' WHERE Z_PK = 2; \
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \
      UPDATE ZTAG SET Z_OPT = Z_OPT + 1, ZNAME = 'another' WHERE Z_PK = 5; \
      DELETE FROM ZTAG WHERE Z_PK IN (1, 2, 3)
      """)
    try FileSystem.write(FileSystem.read(open), to: path)
    try FileSystem.write(FileSystem.read(open + "-wal"), to: path + "-wal")
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(open + suffix) }
    return path
  }

  @Test(
    "tells what there is, then each object with its key and place, then restores what is chosen")
  func all() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let files = try FileSystem.list(folder.path).sorted()
    let summary = Captured("undelete", path)
    #expect(summary.status == .done && summary.err.isEmpty)
    #expect(summary.lines.contains { $0.hasPrefix("Tag ") && $0.contains(" 3 ") })
    let rows = Captured("undelete", path, "Tag")
    #expect(rows.lines.count == 4)
    #expect(rows.out.contains("certain") && !rows.out.contains("\u{1B}"))
    #expect(!rows.out.contains("another"))
    let one = Captured("undelete", path, "Tag", "--where", "SELF == \"Tag/p3\"", "--format", "csv")
    #expect(one.out.contains("Tag,3,p3 certain,-wal frame ") && !one.out.contains("Tag,2"))
    let versions = Captured("undelete", path, "Tag", "--versions")
    // The newest state of p2 is the deleted one; what it was before its name was changed is older.
    #expect(versions.out.contains("p5 certain") && versions.out.contains("p2 certain"))
    #expect(!versions.out.contains("p1 ") && !versions.out.contains("p3 "))
    #expect(try FileSystem.list(folder.path).sorted() == files)

    let output = folder.path("Restored.sqlite")
    let report = folder.path("report.json")
    let restored = Captured(
      "undelete", path, "--only", "Tag/p1,Tag/p2", "--output", output, "--report", report)
    #expect(restored.status == .done, "\(restored.err)")
    #expect(restored.lines.first?.hasPrefix("✓ ") == true, "\(restored.out)")
    let store = try Store(path: output)
    #expect(try store.counts()["Tag"] == Store(path: path).counts()["Tag"].map { $0 + 2 })
    let written = String(decoding: try FileSystem.read(report), as: UTF8.self)
    #expect(written.contains("\"Tag/p1\"") && written.contains("\"restored\""))
    #expect(Captured("undelete", path, "--output", output).status == .refused)
    // What is wrong is told of the store, not of the copy in which it is looked for.
    let unknown = Captured("undelete", path, "Tga")
    #expect(unknown.err.contains(path) && !unknown.err.contains("strata-copy"), "\(unknown.err)")
  }

  @Test("the report names every object that is back, also of more than are printed")
  func wholeReport() throws {
    let folder = try TemporaryFolder()
    #expect(Captured("demo", folder.path("d"), "--objects", "4000", "--no-open").status == .done)
    let path = folder.path("d/Recipes.sqlite")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA secure_delete = OFF; DELETE FROM ZSTEP")
    connection.close()
    let (output, report) = (folder.path("Back.sqlite"), folder.path("report.json"))
    let done = Captured(
      "undelete", path, "Step", "--output", output, "--report", report, "--json")
    #expect(done.status == .done || done.status == .no, "\(done.err)")
    let back = try #require(try Store(path: output).counts()["Step"])
    #expect(back > 1000)
    func objects(_ text: String) -> Int { text.components(of: "\"object\":\"Step/p") }
    let written = String(decoding: try FileSystem.read(report), as: UTF8.self)
    #expect(objects(written) == back)
    #expect(objects(done.out) == 1000 && done.out.contains("\"moreObjects\":\(back - 1000)"))
  }

  @Test("a salvage lists ten lost ranges of a table and sums up the others; its report has all")
  func manyLostRanges() throws {
    let folder = try TemporaryFolder()
    #expect(Captured("demo", folder.path("d"), "--objects", "3000", "--no-open").status == .done)
    let path = folder.path("d/Recipes.sqlite")
    let connection = try Connection(path: path, mode: .readOnly)
    let root = try #require(
      try connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'ZRECIPE'")?.integer)
    connection.close()
    var file = try DamagedFile(path)
    let leaves = file.leaves(root: Int(root))
    let zeroed = stride(from: 1, to: leaves.count - 1, by: 2).map { leaves[$0] }
    #expect(zeroed.count > 12)
    for page in zeroed { file.zero(page: page) }
    try file.write()
    let report = folder.path("report.json")
    let done = Captured(
      "salvage", path, "--output", folder.path("Saved.sqlite"), "--report", report)
    #expect(done.status == .no, "\(done.err)")
    let lines = done.lines.filter { $0.hasPrefix("! Recipe: at most ") }
    #expect(lines.count == 11, "\(lines)")
    #expect(lines.filter { $0.contains(" lost (keys p") }.count == 10)
    let rest = try #require(lines.last)
    #expect(rest.contains("in \(zeroed.count - 10) further ranges of keys"), "\(rest)")
    #expect(rest.contains("--report FILE"), "\(rest)")
    let written = String(decoding: try FileSystem.read(report), as: UTF8.self)
    let table = try #require(written.firstRange(of: "{\"name\":\"ZRECIPE\""))
    // Behind the keys that were refused.
    let holes = written[table.upperBound...].drop { $0 != "]" }.dropFirst().prefix { $0 != "]" }
    #expect(String(holes).components(of: "{\"first\":") == zeroed.count, "\(holes)")
  }

  @Test("mistakes are told before anything is looked for")
  func mistakes() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    for words in [
      ["undelete", path, "--where", "name == \"x\""],
      ["undelete", path, "Tag", "--only", "Tag/p1"],
      ["undelete", path, "--only", "p1", "--output", folder.path("a.sqlite")],
      ["undelete", path, "--only", "Tag/p9", "--output", folder.path("a.sqlite")],
      ["undelete", path, "Nothing"],
      ["undelete", path, "Tag", "--where", "nothing == 1"],
    ] {
      let answer = Captured(words)
      #expect(answer.status == .usage, "\(words): \(answer.err)")
      #expect(!answer.err.isEmpty && answer.out.isEmpty, "\(words)")
    }
    #expect(Captured("undelete", folder.path("none.sqlite")).status == .unreadable)
    #expect(FileSystem.status(folder.path("a.sqlite")) == nil)
  }
}

extension String {
  /// How often another text is in it.
  fileprivate func components(of text: String) -> Int {
    var (count, rest) = (0, self[...])
    while let found = rest.firstRange(of: text) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }
}

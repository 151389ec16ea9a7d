import Files
import Interface
import ManagedModel
import ManagedStore
import Reports
import SQLite
import TestSupport
import Testing

@testable import Rescue

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What is said of a rescue besides the rows that came.
@Suite("What a salvage tells of what is missing")
struct SalvageReportTests {
  /// A demo of which so many pages at the end are gone, with page 1.
  private static func cut(pages: Int, _ change: String = "") throws -> DamagedDemo {
    let demo = try DamagedDemo()
    if !change.isEmpty {
      let connection = try Connection(path: demo.path, mode: .create)
      try StoreFunctions.define(on: connection)
      try connection.execute("PRAGMA journal_mode = DELETE; " + change)
    }
    try demo.change { $0.removeLast(pages * 4096) }
    return demo
  }

  private static func objects(_ lines: [String]) -> [String: Int] {
    Dictionary(grouping: lines) { String($0.prefix { $0 != "/" }) }.mapValues(\.count)
  }

  @Test("links whose relationship nobody knows ask for the model; others have its names")
  func undecidedLinks() {
    var report = SalvageReport(storePath: "/a.sqlite", outputPath: "/b.sqlite")
    (report.unplaced, report.undecided) = (5, 5)
    for lacks in [true, false] {
      report.lacksRelationships = lacks
      let remark = report.remarks.first { $0.text.typed.contains("5 links") }?.text
      #expect(remark?.names(.commandModel) == lacks)
      #expect(remark?.typed.contains("names of the possible tables") == !lacks)
    }
  }

  @Test("one row is not reported as many, and a row that an index contradicts may be damaged")
  func oneRow() {
    var report = SalvageReport(storePath: "/a.sqlite", outputPath: "/b.sqlite")
    (report.unreadable, report.missing, report.doubtful) = (1, ["ZSTEP": [5]], 1)
    let text = report.remarks.map(\.text.typed)
    #expect(text.contains("1 row could not be read."), "\(text)")
    #expect(text.contains { $0.hasSuffix("(p5). Its page may be an older version.") }, "\(text)")
    #expect(text.contains { $0.contains("one of the two is older, or damaged") }, "\(text)")
  }

  @Test("of many lost ranges of a table ten are listed, and the others are summed up")
  func manyRanges() {
    func table(
      _ name: String, _ entity: String?, _ missing: [Int?]
    ) -> SalvageReport.Table {
      let holes = missing.enumerated().map { index, missing in
        let first = Int64(index * 10 + 1)
        return SalvageReport.Hole(keys: first...(first + 3), missing: missing)
      }
      return .init(
        name: name, entity: entity, rows: 1, guessed: 0, refused: [], cut: [:], holes: holes)
    }
    var report = SalvageReport(storePath: "/a.sqlite", outputPath: "/b.sqlite")
    report.tables = [
      table("ZRECIPE", "Recipe", [1, 0] + Array(repeating: 2, count: 305)),
      table("ZSTEP", "Step", Array(repeating: 3, count: 10)),
      table("Z_8TAGS", nil, Array(repeating: 3, count: 11)),
      table("ZTAG", "Tag", Array(repeating: 3, count: 11) + [nil]),
    ]
    let text = report.remarks.map(\.text.typed)
    func lines(_ name: String) -> [String] { text.filter { $0.hasPrefix(name + ": ") } }
    #expect(
      lines("Recipe").first
        == "Recipe: at most 1 object lost (keys p1–p4), on pages that cannot be read.")
    #expect(lines("Recipe").count == 11)
    #expect(
      lines("Recipe").last
        == "Recipe: at most 592 more objects lost, in 296 further ranges of keys; --report FILE lists them all."
    )
    #expect(
      lines("Step").count == 10 && !text.contains { $0.contains("Step") && $0.contains("more") })
    #expect(
      lines("Z_8TAGS").last
        == "Z_8TAGS: at most 3 more rows lost, in 1 further range of keys; --report FILE lists them all."
    )
    #expect(
      lines("Tag").last
        == "Tag: more objects may be lost, in 2 further ranges of keys; --report FILE lists them all."
    )
  }

  @Test("one row that was found by searching is not reported as many")
  func oneFound() {
    var report = SalvageReport(storePath: "/a.sqlite", outputPath: "/b.sqlite")
    report.tables = [(1, "Tag"), (2, nil)].map { count, entity in
      .init(
        name: "ZTAG", entity: entity, rows: 2, guessed: count, refused: [], cut: [:], holes: [])
    }
    let text = report.remarks.map(\.text.typed)
    #expect(text.first?.hasPrefix("1 object of Tag was found by searching: its page is ") == true)
    #expect(
      text.contains { $0.hasPrefix("2 rows of ZTAG were found by searching: their pages are ") })
    report.isMixed = true
    #expect(
      report.remarks.first?.text.typed.hasPrefix("1 object of Tag may belong to the other store: ")
        == true)
  }

  @Test("the store's own counters tell how many objects can be lost at most")
  func counters() throws {
    let demo = try Self.cut(pages: 12)
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy && report.missingPages == 12)
    let (before, after) = (
      Self.objects(demo.lines), Self.objects(try StoreDump.lines(at: output))
    )
    var lost = 0
    for entity in ["Recipe", "Step", "Amount", "Person", "Draft"] {
      let missing = (before[entity] ?? 0) - (after[entity] ?? 0)
      #expect(report.openKeys[entity] == missing, "\(entity)")
      lost += missing
    }
    #expect(lost > 0)
    let text = report.remarks.map(\.text.typed).joined(separator: "\n")
    #expect(text.contains("By the store's own key counters,"), "\(text)")
  }

  @Test("where the new store cannot be, its folder is named and nothing is begun")
  func noPlace() async throws {
    let folder = try TemporaryFolder()
    let missing = folder.path("none")
    let error = #expect(throws: CoreDataError.self) {
      try StoreSalvage.run(path: folder.path("Any.sqlite"), output: missing + "/Saved.sqlite")
    }
    #expect(error?.message == "the folder for the new store does not exist")
    #expect(error?.path == missing)
  }

  @Test(
    "where the folder is only to be read, it is named, and no file of the salvage's own",
    .enabled(if: geteuid() == 0, "only root can become another user"))
  func readOnly() async throws {
    let folder = try TemporaryFolder()
    chmod(folder.path, 0o555)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      setuid(65534)
      let error = #expect(throws: CoreDataError.self) {
        try StoreSalvage.run(path: "/dev/null", output: path + "/Saved.sqlite")
      }
      #expect(error?.message == "the new store cannot be written into that folder")
      #expect(error?.path == path)
    }
    chmod(folder.path, 0o700)
  }

  @Test("where the counters are gone, too, nothing is concluded")
  func noCounters() throws {
    let demo = try Self.cut(pages: 12, "DELETE FROM Z_PRIMARYKEY")
    let report = try StoreSalvage.run(path: demo.path, output: demo.folder.path("Saved.sqlite"))
    #expect(report.openKeys.isEmpty)
    #expect(!report.remarks.contains { $0.text.typed.contains("counters") })
  }

  @Test("files that did not come along are told, with what their folder is to be called")
  func files() throws {
    let demo = try DamagedDemo()
    try demo.damage { $0.zero(page: 1) }
    let support = StoreFiles(path: demo.path).supportFolder
    #expect(FileSystem.isDirectory(support))
    let whole = try StoreSalvage.run(path: demo.path, output: demo.folder.path("Whole.sqlite"))
    #expect(whole.missingFiles == nil)
    FileSystem.removeTree(support)
    let report = try StoreSalvage.run(path: demo.path, output: demo.folder.path("Saved.sqlite"))
    let files = try #require(report.missingFiles)
    #expect(files.count > 0 && files.count == files.of)
    #expect(files.properties == ["Recipe.photo"])
    #expect(files.folders == (".Demo_SUPPORT", ".Saved_SUPPORT"))
    #expect(
      report.remarks.contains { $0.mark == .warning && $0.text.typed.contains(".Saved_SUPPORT") })
    // Of a folder that has some of them it is not said that it did not come along.
    #expect(!report.remarks.contains { $0.text.typed.contains("was not copied") })
  }

  @Test("links of all kinds to what is lost are counted")
  func links() throws {
    let demo = try DamagedDemo()
    let root = try #require(demo.roots["ZRECIPE"])
    try demo.damage { file in
      let leaves = file.leaves(root: root)
      file.zero(page: leaves[leaves.count / 2])
    }
    let report = try StoreSalvage.run(path: demo.path, output: demo.folder.path("Saved.sqlite"))
    let note = try #require(report.notes.first { $0.contains("References to missing objects") })
    for name in ["Step.recipe", "Amount.recipe", "Recipe.tags"] {
      #expect(note.contains(name), "\(note)")
    }
  }
}

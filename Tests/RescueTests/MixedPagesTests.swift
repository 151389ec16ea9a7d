import Files
import Interface
import Reports
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage

/// A cloud drive mixed two uploads: every second page is another store's. Its rows were taken, and nothing said so.
@Suite("Pages of two stores among each other")
struct MixedPagesTests {
  private static let mark = "of another store"

  /// A demo store, and one like it on another device: a third of its rows is not there, others are.
  private static func mixed(objects: Int) throws -> DamagedDemo {
    try mixedWithKeys(objects: objects).demo
  }

  /// The same, with the keys of ZSTEP on the pages that stayed.
  private static func mixedWithKeys(
    objects: Int
  ) throws -> (demo: DamagedDemo, keys: Set<Int64>) {
    let (demo, other) = (try DamagedDemo(objects: objects), try DamagedDemo(objects: objects))
    for each in [demo, other] {
      let connection = try Connection(path: each.path, mode: .readWrite)
      try StoreFunctions.define(on: connection)
      try connection.execute("PRAGMA journal_mode = DELETE")
      if each.path == other.path {
        for table in each.roots.keys where connection.hasKeys(table) {
          try connection.execute("DELETE FROM \(table) WHERE Z_PK % 3 = 0")
        }
        try connection.execute(
          """
          UPDATE ZSTEP SET ZTEXT = '\(mark)'; UPDATE ZTAG SET ZNAME = '\(mark)' || Z_PK;
          INSERT INTO ZTAG (Z_ENT, Z_OPT, ZNAME) SELECT Z_ENT, 1, 'new ' || Z_PK FROM ZTAG;
          INSERT INTO ZPERSON (Z_ENT, Z_OPT) SELECT Z_ENT, 1 FROM ZPERSON WHERE Z_PK % 3 = 1
          """)
      }
      try connection.execute("VACUUM")
      connection.close()
    }
    let pages = try FileSystem.read(other.path)
    let connection = try Connection(path: demo.path, mode: .immutable)
    let root = try connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'ZSTEP'")
    connection.close()
    let image = try DatabaseImage(path: demo.path, log: nil)
    var keys: Set<Int64> = []
    for leaf in try DamagedFile(demo.path).leaves(root: Int(#require(root?.integer)))
    where leaf % 2 == 1 {
      let page = try #require(try image.page(leaf))
      let tree = try #require(TreePage(page.bytes, number: leaf, usable: image.usable))
      for place in tree.cells(in: page.bytes) {
        let cell = TreeCell(page.bytes, at: place, present: page.present, usable: image.usable)
        keys.insert(try #require(cell).key)
      }
    }
    try demo.change { bytes in
      for page in stride(from: 2, through: min(bytes.count, pages.count) / 4096, by: 2) {
        let range = (page - 1) * 4096..<page * 4096
        bytes.replaceSubrange(range, with: pages[range])
      }
    }
    return (demo, keys)
  }

  @Test("a row is returned under each key that a page of the store still has, whoever leads to it")
  func nothingLeftOut() throws {
    let (demo, keys) = try Self.mixedWithKeys(objects: 2_000)
    #expect(keys.count > 100)
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    let saved = try Connection(path: output, mode: .immutable).rows("SELECT Z_PK FROM ZSTEP")
    let missing = keys.subtracting(saved.compactMap { $0.first?.integer })
    #expect(missing.isEmpty, "\(missing.sorted())")
  }

  @Test("no row of the other store is called certain, and what may be one is counted")
  func marked() throws {
    let demo = try Self.mixed(objects: 2_000)
    #expect(try Diagnosis(of: demo.path).findings.contains { $0.kind == .mixedPages })
    var options = StoreSalvage.Options()
    options.tellsPages = true
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output, options: options)
    #expect(report.isMixed && report.isLossy)
    let saved = try Connection(path: output, mode: .immutable)
    let others = try saved.rows(
      "SELECT Z_PK FROM ZTAG WHERE ZNAME LIKE ?", [.text(Self.mark + "%")]
    ).compactMap { $0.first?.integer }
    #expect(!others.isEmpty)
    // Whichever page leads to another may be the other store's itself: none vouches for a row.
    #expect(!report.pages.contains { $0.isCertain })
    for table in report.tables { #expect(table.guessed == table.rows, "\(table.name)") }
    #expect(
      report.remarks.contains {
        $0.mark == .warning && $0.text.typed.contains("may be the other store's")
      })
  }

  @Test("of a store of one kind every row is certain that its tree leads to")
  func unmixed() throws {
    let demo = try DamagedDemo(objects: 500)
    var options = StoreSalvage.Options()
    options.tellsPages = true
    let report = try StoreSalvage.run(
      path: demo.path, output: demo.folder.path("Saved.sqlite"), options: options)
    #expect(!report.isMixed && report.pages.allSatisfy(\.isCertain))
    #expect(report.tables.allSatisfy { $0.guessed == 0 } && !report.isLossy)
  }

  @Test("a small store is told by indexes that have other rows than their tables, both ways")
  func small() throws {
    let demo = try Self.mixed(objects: 120)
    let image = try DatabaseImage(path: demo.path, log: nil)
    #expect(try image.tableOfOtherIndexes() != nil)
    let finding = try #require(
      try Diagnosis(of: demo.path).findings.first { $0.kind == .mixedPages })
    #expect(finding.severity == .error && finding.command != nil)
    let report = try StoreSalvage.run(
      path: demo.path, output: demo.folder.path("Saved.sqlite"))
    #expect(report.isMixed && report.tables.allSatisfy { $0.guessed == $0.rows })
  }

  @Test(
    "trees that begin with a page of the other kind show it, with a pointer map and without",
    arguments: ["INCREMENTAL", "NONE"])
  func roots(vacuum: String) throws {
    let demo = try DamagedDemo(objects: 60)
    let connection = try Connection(path: demo.path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = \(vacuum); VACUUM")
    func roots(_ type: String) throws -> [Int] {
      try connection.rows(
        "SELECT rootpage FROM sqlite_master WHERE type = ? AND tbl_name LIKE 'Z%' AND name NOT LIKE 'Z\\_%' ESCAPE '\\'",
        [.text(type)]
      ).compactMap { $0.first?.integer.map(Int.init) }
    }
    let pairs = Array(zip(try roots("table"), try roots("index")))
    connection.close()
    #expect(try DatabaseImage(path: demo.path, log: nil).strangers()?.count == 0)
    #expect(try !SalvageSource(path: demo.path).isMixed)
    #expect(pairs.count > 3)
    try demo.change { bytes in
      for (table, index) in pairs {
        let (one, two) = ((table - 1) * 4096..<table * 4096, (index - 1) * 4096..<index * 4096)
        let page = Array(bytes[one])
        bytes.replaceSubrange(one, with: Array(bytes[two]))
        bytes.replaceSubrange(two, with: page)
      }
    }
    #expect(
      try DatabaseImage(path: demo.path, log: nil).strangers()?.count ?? 0 >= 2 * pairs.count)
    #expect(try SalvageSource(path: demo.path).isMixed)
    #expect(try Diagnosis(of: demo.path).findings.contains { $0.kind == .mixedPages })
  }

  @Test("one row that an index has under another key is no other store's")
  func oneKey() throws {
    let demo = try DamagedDemo(objects: 120)
    #expect(try DatabaseImage(path: demo.path, log: nil).tableOfOtherIndexes() == nil)
    let root = try #require(demo.roots["ZTAG"])
    try demo.change { bytes in
      let page = Array(bytes[(root - 1) * 4096..<root * 4096])
      guard let tree = TreePage(page, number: root, usable: 4096),
        let last = tree.cells(in: page).last,
        let (_, key) = Varint.read(page, last)
      else { return }
      // The last key, so that they still rise.
      bytes[(root - 1) * 4096 + key] += 1
    }
    #expect(try DatabaseImage(path: demo.path, log: nil).tableOfOtherIndexes() == nil)
    #expect(try !SalvageSource(path: demo.path).isMixed)
  }
}

extension Connection {
  fileprivate func hasKeys(_ table: String) -> Bool {
    (try? rows("SELECT Z_PK, Z_ENT FROM \(quoted(table)) LIMIT 0")) != nil
      && !["Z_PRIMARYKEY"].contains(table)
  }
}

import Files
import Interface
import Reports
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

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
        $0.mark == .warning && $0.text.typed.contains("may belong to the other store")
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

  @Test("a page lost its first sector where that alone is zeros")
  func lostSector() throws {
    let demo = try DamagedDemo(objects: 60)
    func isLost() throws -> Bool { try DatabaseImage(path: demo.path, log: nil).hasLostSector() }
    #expect(try !isLost())
    let start = (try #require(demo.roots["ZSTEP"]) - 1) * 4096
    try demo.change { for place in start..<start + 512 { $0[place] = 0 } }
    #expect(try isLost())
    try demo.change { for place in start..<start + 4096 { $0[place] = 0 } }
    #expect(try !isLost())
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

/// Small stores, where a tree is a page: nothing said that two were mixed, and rows of the other one were unmarked.
@Suite("Pages of two small stores among each other")
struct MixedSmallStoreTests {
  @Test("a third tree of another state is one too many; two pages can stand in each other's place")
  func threeTrees() throws {
    let demo = try DamagedDemo(objects: 60)
    let connection = try Connection(path: demo.path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute("PRAGMA journal_mode = DELETE; VACUUM")
    func root(_ name: String) throws -> Int {
      let root = try connection.value(
        "SELECT rootpage FROM sqlite_master WHERE name = ?", [.text(name)])
      return Int(try #require(root?.integer))
    }
    let index = try #require(
      try connection.value(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZSTEP' AND sql NOT NULL"
      )?.text)
    let (table, metadata) = (try root("ZTAG"), try root("Z_METADATA"))
    let place = try root(index)
    connection.close()
    func trees() throws -> (count: Int, of: Int)? {
      let image = try DatabaseImage(path: demo.path, log: nil)
      return try image.treesOfOtherStates(SchemaList(image).shapes())
    }
    #expect(try trees()?.count == 0)
    func swap(_ one: Int, _ two: Int) throws {
      try demo.change { bytes in
        let pages = ((one - 1) * 4096..<one * 4096, (two - 1) * 4096..<two * 4096)
        let page = Array(bytes[pages.0])
        bytes.replaceSubrange(pages.0, with: Array(bytes[pages.1]))
        bytes.replaceSubrange(pages.1, with: page)
      }
    }
    try swap(table, place)
    #expect(try trees()?.count == 2)
    #expect(try !SalvageSource(path: demo.path).isMixed)
    // The rows of Z_METADATA are none of a table of objects.
    try swap(place, metadata)
    #expect(try trees()?.count == 3)
    #expect(try SalvageSource(path: demo.path).isMixed)
    #expect(try Diagnosis(of: demo.path).findings.contains { $0.kind == .mixedPages })
  }

  @Test("a list of tables that has names twice is of two states")
  func namesTwice() throws {
    let demo = try DamagedDemo(objects: 60)
    let other = demo.folder.path("Other.sqlite")
    for path in [demo.path, other] {
      if path == other { try FileSystem.copyOver(demo.path, to: other) }
      let connection = try Connection(path: path, mode: .readWrite)
      try StoreFunctions.define(on: connection)
      // More than two pages are needed for the list.
      for number in 0..<100 where path == demo.path {
        try connection.execute("CREATE TABLE MORE\(number) (first INTEGER, second VARCHAR)")
      }
      // The other has a table less in front of all, so that each row stands a place further up.
      try connection.execute("PRAGMA journal_mode = DELETE")
      if path == other {
        let first = try connection.value(
          "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid LIMIT 1")?.text
        try connection.execute("DROP TABLE \(quoted(#require(first)))")
      }
      try connection.execute("VACUUM")
      connection.close()
    }
    #expect(try SchemaList(DatabaseImage(path: demo.path, log: nil)).namedTwice == 0)
    func leaves(_ path: String) throws -> [Int] { try DamagedFile(path).leaves(root: 1) }
    let own = try leaves(demo.path)
    #expect(own.count > 1)
    let bytes = try FileSystem.read(other)
    let (first, last) = (try #require(leaves(other).first), try #require(own.last))
    try demo.change { file in
      file.replaceSubrange(
        (last - 1) * 4096..<last * 4096, with: Array(bytes[(first - 1) * 4096..<first * 4096]))
    }
    let list = try SchemaList(DatabaseImage(path: demo.path, log: nil))
    #expect(list.namedTwice > 1 && !list.isWhole)
    #expect(try SalvageSource(path: demo.path).isMixed)
    #expect(try Diagnosis(of: demo.path).findings.contains { $0.kind == .mixedPages })
  }

  @Test("a trigger that is called as its table is kept, and is no name twice")
  func triggerNamedAsTable() throws {
    let demo = try DamagedDemo(objects: 60)
    let connection = try Connection(path: demo.path, mode: .readWrite)
    try connection.execute(
      "CREATE TRIGGER ZTAG AFTER DELETE ON ZTAG BEGIN SELECT 1; END; CREATE TRIGGER ZSTEP AFTER DELETE ON ZSTEP BEGIN SELECT 1; END"
    )
    connection.close()
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(!report.isMixed && !report.isLossy, "\(report.notes)")
    let count = try Connection(path: output, mode: .immutable).value(
      "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name IN ('ZTAG', 'ZSTEP')")
    #expect(count == .integer(2))
  }

  @Test("every row of a mixed store is of a page that the report lists as not certain")
  func everyRowIsMarked() throws {
    let demo = try DamagedDemo(objects: 1_000)
    let own = try MixedStore.mix(demo.path)
    let report = try MixedStore.expectMarks(of: demo.path, in: demo.folder)
    try own.expectAll(in: report.outputPath)
  }

  @Test("without a model rows go where their entity's counter says, and counters are raised")
  func withoutModel() throws {
    let demo = try DamagedDemo(objects: 1_000)
    let connection = try Connection(path: demo.path, mode: .readWrite)
    try connection.execute("DELETE FROM Z_MODELCACHE")
    connection.close()
    let own = try MixedStore.mix(demo.path)
    let report = try MixedStore.expectMarks(of: demo.path, in: demo.folder)
    try own.expectAll(in: report.outputPath)
    #expect(report.tables.reduce(0) { $0 + $1.rows } > 500)
  }

  /// What showed each fault: a small store that nothing told, a list of tables of two states, rows on pages that the
  /// report gave to no table, tables of one shape, counters below the keys of the other store.
  @Test(
    "stores of real apps", .enabled(if: Fixtures.isAvailable),
    arguments: TestScale.some(
      4,
      of: [
        "coredataplus/SampleModel/Fixtures/SampleModel_V1.sqlite", "wire/store2-7.wiredatabase",
        "wire/store2-24-1.wiredatabase", "wire/store2-54-0.wiredatabase",
        "cartkit/CartStorage_v1.sqlite", "moody/Moody 5.moody", "bookmarks/Bookmarks_V1.sqlite",
        "wire/store2-3.wiredatabase", "system/kik.sqlite",
        "coredataplus/SampleModel2/SampleModel2_V1.sqlite",
      ]))
  func fixtures(name: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("store.sqlite")
    for suffix in ["", "-wal"] where FileSystem.isFile(Fixtures.path(name + suffix)) {
      try FileSystem.copyOver(Fixtures.path(name + suffix), to: path + suffix)
    }
    try MixedStore.mix(path)
    let report = try MixedStore.expectMarks(of: path, in: folder)
    #expect(report.isLossy)
    if name.contains("SampleModel2") {
      let rows = try Connection(path: report.outputPath, mode: .immutable).value(
        "SELECT count(*) FROM ACHANGE")
      #expect(rows?.integer ?? 0 > 4_000)
    }
  }
}

/// A store with each second page of another one of the same model, as a cloud drive mixed two uploads.
enum MixedStore {
  private static let mark = "of another store"

  /// Puts the pages of one like the store among its own: a third of its rows is not there, others are, and every text is
  /// another. Both are in one file without a -wal.
  ///
  /// - Returns: the rows on the pages that stayed.
  @discardableResult
  static func mix(_ path: String) throws -> OwnRows {
    let other = path + ".other"
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
    // Some call functions that only Core Data defines.
    for row in try connection.rows("SELECT name FROM sqlite_master WHERE type = 'trigger'") {
      try connection.execute("DROP TRIGGER \(quoted(#require(row[0].text)))")
    }
    connection.close()
    try FileSystem.copyOver(path, to: other)
    try change(other)
    let pages = try FileSystem.read(other)
    FileSystem.remove(other)
    var bytes = try FileSystem.read(path)
    let size = BigEndian.half(bytes, 16) == 1 ? 65536 : BigEndian.half(bytes, 16)
    for page in stride(from: 2, through: min(bytes.count, pages.count) / size, by: 2) {
      let range = (page - 1) * size..<page * size
      bytes.replaceSubrange(range, with: pages[range])
    }
    let own = try OwnRows(path)
    try FileSystem.write(bytes, to: path)
    return own
  }

  /// The objects and links on pages with odd numbers.
  struct OwnRows {
    private var keys: [String: Set<Int64>] = [:]
    private var links: [String: Set<[Int64]>] = [:]

    init(_ path: String) throws {
      let connection = try Connection(path: path, mode: .immutable)
      let image = try DatabaseImage(path: path, log: nil)
      let file = try DamagedFile(path)
      var record = Record()
      for row in try connection.rows(
        "SELECT name, rootpage, sql LIKE '%Z_ENT%' FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z*'"
      ) {
        guard let name = row[0].text, let root = row[1].integer,
          !["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"].contains(name)
        else { continue }
        for leaf in file.leaves(root: Int(root)) where leaf % 2 == 1 {
          let page = try #require(try image.page(leaf))
          let tree = try #require(TreePage(page.bytes, number: leaf, usable: image.usable))
          for place in tree.cells(in: page.bytes) {
            let cell = try #require(
              TreeCell(page.bytes, at: place, present: page.present, usable: image.usable))
            if row[2].integer == 1 {
              keys[name, default: []].insert(cell.key)
            } else if record.read(page.bytes, cell.start..<cell.start + cell.local),
              let one = record.integer(0), let two = record.integer(1)
            {
              links[name, default: []].insert([one, two])
            }
          }
        }
      }
    }

    /// Holds a new store to have each of them: links also where they are kept apart, as they could be several tables'.
    func expectAll(in path: String) throws {
      #expect(keys.values.reduce(0) { $0 + $1.count } > 100 && !links.isEmpty)
      let saved = try Connection(path: path, mode: .immutable)
      for (name, own) in keys {
        let there = Set(
          try saved.rows("SELECT Z_PK FROM \(quoted(name))").compactMap { $0[0].integer })
        #expect(own.isSubset(of: there), "\(name): \(own.subtracting(there).sorted().prefix(5))")
      }
      let kept =
        (try? saved.rows("SELECT FIRST, SECOND FROM \(SalvagedCopy.undecidedLinks)")) ?? []
      for (name, own) in links {
        let rows = try saved.rows("SELECT * FROM \(quoted(name))") + kept
        let there = Set(
          rows.flatMap { row in
            let link = row.prefix(2).compactMap(\.integer)
            return [link, link.reversed()]
          })
        #expect(own.isSubset(of: there), "\(name): \(own.subtracting(there).count)")
      }
    }
  }

  private static func change(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute("BEGIN")
    let tables = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%Z_ENT%' AND sql LIKE '%Z_OPT%'"
    ).compactMap { $0.first?.text }
    for table in tables.sorted() {
      let name = quoted(table)
      let columns = try connection.rows("PRAGMA table_info(\(name))")
      if !table.hasPrefix("A") {
        try connection.execute("DELETE FROM \(name) WHERE Z_PK % 3 = 0")
        for column in columns where column[2].text?.hasPrefix("VARCHAR") == true {
          let column = quoted(try #require(column[1].text))
          try connection.execute(
            "UPDATE OR IGNORE \(name) SET \(column) = '\(mark): ' || Z_PK WHERE \(column) IS NOT NULL"
          )
        }
        let others = columns.compactMap { $0[1].text }.filter { $0 != "Z_PK" }.map(quoted)
          .joined(separator: ", ")
        try connection.execute(
          "INSERT OR IGNORE INTO \(name) (\(others)) SELECT \(others) FROM \(name) WHERE Z_PK % 3 = 1 ORDER BY Z_PK"
        )
      }
      try connection.execute("UPDATE \(name) SET Z_OPT = 40")
    }
    try connection.execute(
      "UPDATE Z_METADATA SET Z_UUID = '0A0B0C0D-0000-4000-8000-0123456789AB'; COMMIT; VACUUM")
    connection.close()
  }

  /// Salvages a mixed store, and holds the report to it: the store is called mixed, each row is of a page that is not
  /// certain, and no key is above its entity's counter.
  @discardableResult
  static func expectMarks(of path: String, in folder: TemporaryFolder) throws -> SalvageReport {
    #expect(try Diagnosis(of: path).findings.contains { $0.kind == .mixedPages })
    let output = folder.path("Saved.sqlite")
    var options = StoreSalvage.Options()
    options.tellsPages = true
    let report = try StoreSalvage.run(path: path, output: output, options: options)
    #expect(report.isMixed && report.isLossy && !report.pages.contains { $0.isCertain })
    let saved = try Connection(path: output, mode: .immutable)
    var count = 0
    // What Core Data keeps for itself may have been completed.
    let completed = Set(StoreSchema.bookkeepingStatements.map(\.name))
    for table in report.tables where table.rows > 0 {
      #expect(table.guessed == table.rows, "\(table.name)")
      count += table.rows
      guard !completed.contains(table.name) else { continue }
      let pages = report.pages.filter { $0.table == table.name }
      let keys = try saved.rows("SELECT rowid FROM \(quoted(table.name))").compactMap {
        $0.first?.integer
      }
      let unmarked = keys.filter { key in !pages.contains { $0.keys.contains(key) } }
      #expect(unmarked.isEmpty, "\(table.name): \(unmarked.prefix(5))")
    }
    #expect(count > 0 && report.uncertain == count)
    for row in try saved.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_SUPER = 0") {
      guard let name = row[0].text, let most = row[1].integer,
        let greatest = try? saved.value(
          "SELECT max(Z_PK) FROM \(quoted("Z" + name.uppercased()))")?.integer
      else { continue }
      #expect(greatest <= most, "\(name)")
    }
    return report
  }
}

extension Connection {
  fileprivate func hasKeys(_ table: String) -> Bool {
    (try? rows("SELECT Z_PK, Z_ENT FROM \(quoted(table)) LIMIT 0")) != nil
      && !["Z_PRIMARYKEY"].contains(table)
  }
}

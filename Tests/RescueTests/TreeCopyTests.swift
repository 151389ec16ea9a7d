import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

/// Trees of pages that are copied as they are into a new database.
@Suite("Trees of a damaged store that are copied page for page")
struct TreeCopyTests {
  /// A copy of a damaged demo store, with what SQLite says of the whole of it.
  private static func copy(_ demo: DamagedDemo) throws -> (copy: SalvagedCopy, problems: [String]) {
    let source = try SalvageSource(path: demo.path)
    let path = demo.folder.path("copy.sqlite")
    let copy = try SalvagedCopy(
      of: source, at: path, model: try source.model(), copiesTrees: true)
    #expect(copy.hasCopiedTrees)
    let lines = try copy.connection.rows("PRAGMA integrity_check").compactMap { $0.first?.text }
    return (copy, lines.filter { $0 != "ok" })
  }

  /// The demo with pages of another size: with small ones there are many pointer maps, deep trees and
  /// values on pages of their own.
  private static func demo(pageSize: Int, objects: Int = 2_000) throws -> DamagedDemo {
    let demo = try DamagedDemo(objects: objects)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; PRAGMA page_size = \(pageSize); VACUUM")
    return demo
  }

  /// Leaves no page that tells of a table: most of the schema does not stand on page 1.
  private static func forgetSchema(of demo: DamagedDemo) throws {
    try demo.damage { file in
      for page in file.leaves(root: 1) + [1] { file.zero(page: page) }
    }
  }

  @Test(
    "all of a store comes along, whatever its pages' size",
    arguments: TestScale.some(1, of: [512, 1024, 4096, 65_536]))
  func whole(pageSize: Int) throws {
    let demo = try Self.demo(pageSize: pageSize)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    #expect(copy.unreadable == 0 && copy.unplaced == 0)
    let connection = try Store(path: demo.path).connection
    for table in copy.tables {
      let rows = try connection.value("SELECT count(*) FROM \(quoted(table.name))")?.integer
      #expect(Int64(table.rows) == rows, "\(table.name)")
    }
    let output = demo.folder.path("Saved.sqlite")
    #expect(try !StoreSalvage.run(path: demo.path, output: output).isLossy)
    #expect(try StoreDump.lines(at: output) == demo.lines)
    // An app goes on writing to it.
    let writer = try Connection(path: output, mode: .create)
    try StoreFunctions.define(on: writer)
    try writer.execute(
      "CREATE TABLE more (a, b); INSERT INTO more SELECT Z_PK, ZTEXT FROM ZSTEP; DROP TABLE more; PRAGMA incremental_vacuum"
    )
    #expect(try writer.value("PRAGMA integrity_check") == .text("ok"))
  }

  @Test("of a table that lost pages the rest is copied, and its indexes are made anew")
  func pruned() throws {
    let demo = try Self.demo(pageSize: 512)
    let root = try #require(
      try Connection(path: demo.path, mode: .readOnly).value(
        "SELECT rootpage FROM sqlite_master WHERE name = 'ZSTEP'")?.integer)
    let steps = try Store(path: demo.path).connection.value("SELECT count(*) FROM ZSTEP")?.integer
    var lost: [Int] = []
    try demo.damage { file in
      let leaves = file.leaves(root: Int(root))
      lost = [0, leaves.count / 2, leaves.count / 2 + 1, leaves.count - 1].map { leaves[$0] }
      for page in lost { file.zero(page: page) }
    }
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    let table = try #require(copy.tables.first { $0.name == "ZSTEP" })
    #expect(table.holes.count == 3)
    #expect(table.rows > 0 && Int64(table.rows) < steps ?? 0)
    let counted = try copy.connection.value("SELECT count(*) FROM ZSTEP")?.integer
    #expect(Int64(table.rows) == counted)
    let known = Set(demo.lines)
    let output = demo.folder.path("Saved.sqlite")
    #expect(try StoreSalvage.run(path: demo.path, output: output).isLossy)
    let lines = try StoreDump.lines(at: output)
    let own = lines.filter { $0.hasPrefix("Step/") }
    #expect(own.count == table.rows)
    #expect(own.allSatisfy(known.contains), "\(own.first { !known.contains($0) } ?? "")")
  }

  @Test("an index that does not fit its table is made anew with all else")
  func wrongIndex() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create, isDefensive: false)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON; \
      UPDATE sqlite_master SET sql = replace(sql, 'ZRECIPE)', 'ZMINUTES)') \
      WHERE type = 'index' AND tbl_name = 'ZSTEP'
      """)
    #expect(connection.changes > 0)
    connection.close()
    let (copy, problems) = try Self.copy(demo)
    #expect(!problems.isEmpty && copy.hasCopiedTrees)
    let output = demo.folder.path("Saved.sqlite")
    // Which of the two is right nothing tells.
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy && report.doubtful > 0)
    let saved = try Connection(path: output, mode: .readOnly)
    #expect(try saved.value("PRAGMA integrity_check") == .text("ok"))
    #expect(try StoreDump.lines(at: output) == demo.lines)
  }

  @Test(
    "without page 1 tables and indexes are told by what is in them, and copied, too",
    arguments: TestScale.some(1, of: [1024, 4096]))
  func nameless(pageSize: Int) throws {
    let demo = try Self.demo(pageSize: pageSize)
    try Self.forgetSchema(of: demo)
    let source = try SalvageSource(path: demo.path)
    #expect(!source.isSchemaWhole && !source.hasTables)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    for name in ["ZRECIPE", "ZSTEP", "ZAMOUNT", "ZPERSON"] {
      let rows = try copy.connection.value("SELECT count(*) FROM \(name)")?.integer ?? 0
      let copied = try #require(copy.trees.tables[name])
      #expect(copied.isWhole && copied.rows == Int(rows) && rows > 0, "\(name)")
    }
    let empty = copy.trees.emptyIndexes.map(\.name)
    #expect(!empty.contains("ZSTEP_ZRECIPE_INDEX"), "\(empty)")
    // So are the links whose table is determined, when the objects are there.
    let tags = try #require(copy.tables.first { $0.name.hasSuffix("TAGS") })
    #expect(
      copy.trees.links[tags.name] == tags.rows && tags.rows > 0,
      "\(tags.rows) rows, copied: \(copy.trees.links)")
    let output = demo.folder.path("Saved.sqlite")
    var report = try StoreSalvage.run(path: demo.path, output: output)
    // That the columns stand as in a new store nothing proves, and nothing else is in doubt.
    #expect(report.isLossy && !report.lostTables.isEmpty)
    report.lostTables = [:]
    #expect(!report.isLossy)
    #expect(try StoreDump.lines(at: output) == demo.lines)
  }

  /// Leaves nothing of the pages that come first: the schema, the first pointer map, and the roots of all tables of
  /// objects, which stand there in a store that keeps pointer maps.
  ///
  /// - Parameter also: is given the pages below the root of ZAMOUNT.
  /// - Returns: how many rows each of the large tables had.
  private static func forgetRoots(
    of demo: DamagedDemo,
    also: (inout DamagedFile, _ trees: [Int]) -> Void = { _, _ in }
  ) throws -> [String: Int] {
    var rows: [String: Int] = [:]
    var (end, amounts) = (0, 0)
    do {
      let connection = try Connection(path: demo.path, mode: .readOnly)
      func root(_ name: String) throws -> Int {
        let query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return Int(try #require(try connection.value(query, [.text(name)])?.integer))
      }
      (end, amounts) = (try root("Z_PRIMARYKEY") - 1, try root("ZAMOUNT"))
      for name in ["ZRECIPE", "ZSTEP", "ZAMOUNT"] {
        rows[name] = Int(
          try connection.value("SELECT count(*) FROM \(name)")?.integer ?? 0)
      }
    }
    try #require(amounts > 2 && amounts < end)
    try demo.damage { file in
      let trees = file.children(of: amounts)
      for page in 1...end { file.zero(page: page) }
      also(&file, trees)
    }
    return rows
  }

  /// What was found row by row, and that what was copied page for page is no other.
  private static func expectSame(_ copy: SalvagedCopy, of demo: DamagedDemo) throws {
    let source = try SalvageSource(path: demo.path)
    let slow = try SalvagedCopy(
      of: source, at: demo.folder.path("slow.sqlite"), model: try source.model())
    #expect(slow.tables == copy.tables)
    #expect(slow.unplaced == copy.unplaced && slow.unknownHoles == copy.unknownHoles)
    for table in slow.tables {
      let query = "SELECT rowid, * FROM \(quoted(table.name)) ORDER BY rowid"
      #expect(
        try slow.connection.rows(query) == copy.connection.rows(query), "\(table.name)")
    }
  }

  @Test(
    "a table whose root is lost, too, is copied leaf by leaf, with new pages above",
    arguments: TestScale.some(1, of: [512, 1024]))
  func rootless(pageSize: Int) throws {
    // Enough for pages between the root and the leaves.
    let demo = try Self.demo(pageSize: pageSize, objects: 15 * pageSize)
    let rows = try Self.forgetRoots(of: demo)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    #expect(copy.trees.told["ZAMOUNT"]?.count ?? 0 > 1)
    for (name, count) in rows {
      #expect(copy.trees.tables[name] == .init(rows: count, isWhole: true), "\(name)")
    }
    #expect(
      copy.trees.foundIndexes.contains { $0.name == "ZSTEP_ZRECIPE_INDEX" },
      "\(copy.trees.emptyIndexes)")
    try Self.expectSame(copy, of: demo)
    // An app goes on writing to it.
    try copy.connection.execute(
      """
      UPDATE ZSTEP SET Z_OPT = Z_OPT + 1; DELETE FROM ZSTEP WHERE Z_PK % 3 = 0; \
      INSERT INTO ZAMOUNT (Z_ENT, Z_OPT) SELECT Z_ENT, 1 FROM ZAMOUNT; PRAGMA incremental_vacuum
      """)
    #expect(try copy.connection.value("PRAGMA integrity_check") == .text("ok"))
  }

  @Test("of what is left below a lost page no index has more rows than its table")
  func rootlessWithHoles() throws {
    let demo = try Self.demo(pageSize: 512, objects: 8_000)
    // The page above some leaves, and the last of these: what is left of them no page leads to.
    let rows = try Self.forgetRoots(of: demo) { file, trees in
      let tree = trees[trees.count - 1]
      let leaves = file.leaves(root: tree)
      file.zero(page: tree)
      file.zero(page: leaves[leaves.count - 1])
    }
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    let table = try #require(copy.tables.first { $0.name == "ZAMOUNT" })
    #expect(table.rows < rows["ZAMOUNT"] ?? 0 && table.guessed > 0)
    #expect(copy.trees.foundIndexes.contains { $0.table == "ZAMOUNT" && $0.entries > table.rows })
    try Self.expectSame(copy, of: demo)
  }

  @Test("leaves that two pages lead to are copied once")
  func rootlessTwice() throws {
    let demo = try Self.demo(pageSize: 512, objects: 8_000)
    let rows = try Self.forgetRoots(of: demo) { file, trees in
      // Where the first pointer map was.
      file.copy(page: trees[0], to: 2)
    }
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    #expect(copy.trees.told["ZAMOUNT"]?.count ?? 0 > 2)
    #expect(copy.trees.tables["ZAMOUNT"]?.rows == rows["ZAMOUNT"])
    try Self.expectSame(copy, of: demo)
  }

  @Test("numbers of any size are written as SQLite writes them")
  func numbers() {
    let numbers: [UInt64] = [0, 127, 128, 1 << 35, 1 << 56 - 1, 1 << 56, 1 << 63, .max]
    for number in numbers {
      let bytes = Varint.bytes(number)
      #expect(bytes.count == Varint.length(number))
      let read = Varint.read(bytes, 0)
      #expect(read?.value == number && read?.end == bytes.count, "\(number)")
    }
  }

  @Test("a tree whose rows are not all of one table is copied for none")
  func mixed() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    // Steps with the number of another entity, early and late in their tree.
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; \
      UPDATE ZSTEP SET Z_ENT = (SELECT Z_ENT FROM ZRECIPE LIMIT 1) WHERE Z_PK % 7 = 3
      """)
    connection.close()
    try Self.forgetSchema(of: demo)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    #expect(copy.trees.tables["ZSTEP"] == nil && copy.trees.tables["ZRECIPE"] != nil)
    #expect(copy.tables.first { $0.name == "ZSTEP" }?.rows ?? 0 > 0)
  }

  @Test("two indexes of equal values are told for none, and made anew")
  func alike() throws {
    let demo = try DamagedDemo()
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; UPDATE ZAMOUNT SET ZINGREDIENT = NULL, ZRECIPE = NULL")
    connection.close()
    try Self.forgetSchema(of: demo)
    let (copy, problems) = try Self.copy(demo)
    #expect(problems.isEmpty, "\(problems)")
    let empty = copy.trees.emptyIndexes.map(\.name)
    #expect(
      empty.contains("ZAMOUNT_ZRECIPE_INDEX") && empty.contains("ZAMOUNT_ZINGREDIENT_INDEX"),
      "\(empty)")
  }
}

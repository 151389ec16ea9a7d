import Demo
import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

/// Undelete once called objects deleted that damage took away, and offered them for restoring.
@Suite("What damage took away is not called deleted")
struct LostOrDeletedTests {
  /// A demo store in which rows were deleted or changed, with what SQLite leaves of them.
  private static func demo(objects: Int = 2_000, _ sql: String...) throws -> DamagedDemo {
    let demo = try DamagedDemo(objects: objects)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute("PRAGMA secure_delete = OFF; PRAGMA journal_mode = DELETE")
    for sql in sql { try connection.execute(sql) }
    connection.close()
    return demo
  }

  private static func model() throws -> Model { try #require(DemoModels.versions().first).model }

  /// Runs `body` over each cell of a table's leaves.
  private static func cells(
    of table: String, in demo: DamagedDemo,
    _ body: (_ cell: TreeCell, _ page: Int, _ bytes: inout [UInt8]) -> Void
  ) throws {
    let root = try #require(demo.roots[table])
    let leaves = try DamagedFile(demo.path).leaves(root: root)
    try demo.change { bytes in
      for number in leaves {
        let page = Array(bytes[(number - 1) * 4096..<number * 4096])
        guard let tree = TreePage(page, number: number, usable: 4096) else { continue }
        for offset in tree.cells(in: page) {
          guard let cell = TreeCell(page, at: offset, present: 4096, usable: 4096) else { continue }
          body(cell, number, &bytes)
        }
      }
    }
  }

  private static func total(_ found: Undeletion, _ value: (Undeletion.Entity) -> Int) -> Int {
    found.entities.reduce(0) { $0 + value($1) }
  }

  @Test("of a file that was saved as text nothing is deleted, whole or certain")
  func savedAsText() throws {
    let demo = try Self.demo()
    try demo.change { $0 = Array(String(decoding: $0, as: UTF8.self).utf8) }
    let found = try Undeletion(of: demo.path, model: Self.model())
    #expect(Self.total(found, \.deleted) == 0, "\(found.entities)")
    #expect(Self.total(found, \.lost) > 0)
    #expect(found.distrust != nil && found.notes.contains(SalvageSource.savedAsText))
    for entity in found.entities where entity.lost > 0 {
      let query = RowQuery(entity: entity.name, limit: 100, properties: [])
      for row in try found.store.rows(query).rows {
        guard let origin = try found.origin(of: row.id), origin.state == .deleted else { continue }
        #expect(!origin.isWhole && origin.certainty != .certain && origin.key == nil)
      }
    }
    // Not all of it at once, which would be a store of values that never were.
    let output = demo.folder.path("Back.sqlite")
    let refusal = #expect(throws: CoreDataError.self) {
      _ = try Restoration(found).run(.all(entity: nil), output: output)
    }
    #expect(refusal?.kind == .refused)
    #expect(FileSystem.status(output) == nil)
  }

  @Test("where pages of two stores are mixed, nothing is called deleted")
  func mixedPages() throws {
    let (demo, other) = (try Self.demo(), try Self.demo(objects: 2_600))
    let pages = try FileSystem.read(other.path)
    try demo.change { bytes in
      for page in stride(from: 2, through: min(bytes.count, pages.count) / 4096, by: 2) {
        let range = (page - 1) * 4096..<page * 4096
        bytes.replaceSubrange(range, with: pages[range])
      }
    }
    let found = try Undeletion(of: demo.path, model: Self.model())
    #expect(found.notes.contains { $0.hasPrefix("Pages of two stores, or of two states") })
    #expect(Self.total(found, \.deleted) == 0, "\(found.entities)")
    let refusal = #expect(throws: CoreDataError.self) {
      _ = try Restoration(found).run(
        .all(entity: nil), output: demo.folder.path("Back.sqlite"))
    }
    #expect(refusal?.kind == .refused)
  }

  @Test("what half of a save took away is not called deleted")
  func halfSave() throws {
    let demo = try Self.demo("DELETE FROM ZSTEP WHERE Z_PK % 9 = 0")
    let plain = try Undeletion(of: demo.path)
    let deleted = Self.total(plain, \.deleted)
    #expect(deleted > 0 && Self.total(plain, \.lost) == 0)
    // A -journal that SQLite does not roll back.
    try FileSystem.write([1] + [UInt8](repeating: 0, count: 2_000), to: demo.path + "-journal")
    let found = try Undeletion(of: demo.path)
    #expect(Self.total(found, \.deleted) == 0)
    #expect(Self.total(found, \.lost) == deleted)
    // They are what the store held before the save.
    let report = try Restoration(found).run(
      .all(entity: nil), output: demo.folder.path("Back.sqlite"))
    #expect(report.restored == ["Step": deleted] && report.uncertain == deleted)
  }

  @Test("rows that are there and cannot be read are lost, not deleted")
  func unreadableCells() throws {
    let demo = try Self.demo(
      """
      UPDATE ZSTEP SET Z_OPT = Z_OPT + 1, ZTEXT = ZTEXT || ' and stir it for a while longer' \
      WHERE Z_PK % 4 = 0
      """)
    let plain = try Undeletion(of: demo.path)
    #expect(Self.total(plain, \.deleted) == 0 && Self.total(plain, \.older) > 0)
    try Self.cells(of: "ZSTEP", in: demo) { cell, page, bytes in
      // The record's header is its own length alone.
      if cell.key % 4 == 0 { bytes[(page - 1) * 4096 + cell.start] = 1 }
    }
    let found = try Undeletion(of: demo.path)
    #expect(Self.total(found, \.deleted) == 0, "\(found.entities)")
    #expect(Self.total(found, \.lost) > 0)
    let rows = try found.store.rows(RowQuery(entity: "Step", limit: 500, properties: [])).rows
    let keys = try rows.compactMap { try found.origin(of: $0.id) }.filter(\.isLost)
      .compactMap(\.key)
    #expect(keys.allSatisfy { $0 % 4 == 0 }, "\(keys)")
  }

  @Test("a copy of a living object of which values are lost is an earlier state of it")
  func cutRow() throws {
    // The ratings tell the objects apart; they stand before the titles, the identifiers behind.
    let demo = try Self.demo(
      objects: 500,
      """
      UPDATE ZRECIPE SET ZRATING = 3.1 + Z_PK * 0.0137, ZSUMMARY = NULL; VACUUM; \
      DELETE FROM ZRECIPE WHERE Z_PK = 50
      """,
      """
      UPDATE ZRECIPE SET ZTITLE = (SELECT group_concat('line ' || i, ' ') FROM (WITH RECURSIVE n(i) AS \
      (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i FROM n)) WHERE Z_PK % 7 = 1
      """)
    let plain = try #require(try Undeletion(of: demo.path).entities.first { $0.name == "Recipe" })
    #expect(plain.older > 1, "\(plain)")
    var cut = 0
    try Self.cells(of: "ZRECIPE", in: demo) { cell, _, bytes in
      guard cell.key % 7 == 1, cell.overflow > 0 else { return }
      cut += 1
      let start = (cell.overflow - 1) * 4096
      bytes.replaceSubrange(start..<start + 4096, with: repeatElement(0, count: 4096))
    }
    #expect(cut > 1)
    let found = try #require(try Undeletion(of: demo.path).entities.first { $0.name == "Recipe" })
    #expect(found.deleted + found.lost == plain.deleted, "\(found)")
    #expect(found.older == plain.older)
  }

  @Test("objects of tables whose statement is gone live, as far as their pages are there")
  func lostStatements() throws {
    let demo = try Self.demo(objects: 700)
    // The first page of those that list the tables.
    try demo.damage { file in
      if let page = file.leaves(root: 1).first(where: { $0 > 1 }) { file.zero(page: page) }
    }
    let source = try SalvageSource(path: demo.path)
    #expect(!source.isSchemaWhole && source.hasTables)
    let found = try Undeletion(of: demo.path, model: Self.model())
    #expect(Self.total(found, \.deleted) == 0, "\(found.entities)")
    // Each key that was given out is in a row.
    #expect(found.missed == [])
  }

  @Test("keys between those of cells that cannot be read are told by the cells around them")
  func lostKeys() throws {
    let demo = try Self.demo(objects: 700)
    let root = try #require(demo.roots["ZTAG"])
    var keys: [Int64] = []
    try Self.cells(of: "ZTAG", in: demo) { cell, page, bytes in
      keys.append(cell.key)
      if keys.count == 3 || keys.count == 4 { bytes[(page - 1) * 4096 + cell.start] = 1 }
    }
    // The place of the eighth is outside of the page.
    let leaf = try #require(try DamagedFile(demo.path).leaves(root: root).first)
    try demo.change { bytes in
      let place = (leaf - 1) * 4096 + 8 + 2 * 7
      bytes.replaceSubrange(place..<place + 2, with: [0xFF, 0xFF])
    }
    let image = try DatabaseImage(path: demo.path, log: nil)
    let trees = try TreeMap(image, roots: [root], isComplete: true)
    var scan = RowScan(image, trees)
    var read: [Int64] = []
    try scan.rows(where: { $0 == .leaf && $1 == root }) { row, _ in read.append(row.key) }
    #expect(read == keys.enumerated().filter { ![2, 3, 7].contains($0.offset) }.map(\.element))
    #expect(scan.unreadable == 3)
    #expect(scan.lost.contains { $0.isOpen && $0.root == root })
    for key in keys[2...3] {
      #expect(scan.lost.contains { !$0.isOpen && $0.keys == key...key }, "p\(key)")
    }
  }

  @Test("why there is no model is said as it is")
  func noModel() throws {
    func reason(_ sql: String) throws -> String {
      let demo = try Self.demo(objects: 200, sql)
      let error = #expect(throws: CoreDataError.self) { _ = try Undeletion(of: demo.path) }
      #expect(error?.advice?.names(.model) == true)
      return error?.message ?? ""
    }
    #expect(
      try reason("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL").contains(
        "model cache (Z_MODELCACHE) is empty"))
    #expect(
      try reason("DELETE FROM Z_MODELCACHE").contains("model cache (Z_MODELCACHE) is empty"))
    #expect(
      try reason("DROP TABLE Z_MODELCACHE").contains("has no model cache (Z_MODELCACHE)"))
    #expect(
      try reason("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00112233445566778899'").contains(
        "cannot be read"))
  }

  @Test(
    "of an Apple store whose model cache is a row without a value that is said",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func emptyCache() throws {
    let path = Fixtures.path("system/NotesV7.storedata")
    let error = #expect(throws: CoreDataError.self) { _ = try Undeletion(of: path) }
    #expect(
      error?.message.contains("model cache (Z_MODELCACHE) is empty") == true, "\(error as Any)")
  }
}

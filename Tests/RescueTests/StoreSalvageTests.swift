import Demo
import Files
import ManagedModel
import Migration
import SQLite
import Salvage
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue

/// Damages under which every object is still there.
@Suite("Salvage of stores whose objects are all there")
struct StoreSalvageTests {
  enum Damage: String, CaseIterable {
    case none, magic, header, pageSize, lowCount, highCount, freelist, pointerMap
    case firstPage, schema, leafHeader, interior, index
  }

  private static func apply(_ damage: Damage, to store: DamagedDemo) throws {
    func word(_ bytes: inout [UInt8], _ offset: Int, _ value: Int) {
      for shift in 0..<4 { bytes[offset + shift] = UInt8(value >> (24 - 8 * shift) & 0xFF) }
    }
    let steps = try #require(store.roots["ZSTEP"])
    let leaves = try DamagedFile(store.path).leaves(root: steps)
    let middle = try #require(leaves.dropFirst(leaves.count / 2).first)
    #expect(leaves.count > 4, "the demo has no interior page")
    switch damage {
    case .none: break
    case .magic:
      try store.change { $0.replaceSubrange(0..<16, with: repeatElement(0x58, count: 16)) }
    case .header:
      try store.change { $0.replaceSubrange(0..<100, with: repeatElement(0, count: 100)) }
    case .pageSize: try store.change { $0.replaceSubrange(16..<18, with: [0x20, 0]) }
    case .lowCount: try store.change { word(&$0, 28, $0.count / 8192) }
    case .highCount: try store.change { word(&$0, 28, $0.count / 2048) }
    case .freelist:
      try store.change {
        word(&$0, 32, middle)
        word(&$0, 36, 7)
      }
    case .pointerMap: try store.damage { $0.zero(page: 2) }
    case .firstPage: try store.damage { $0.zero(page: 1) }
    case .schema:
      try store.change { $0.replaceSubrange(100..<4096, with: repeatElement(0, count: 3996)) }
    case .leafHeader:
      try store.damage {
        $0.poke(page: middle, at: 0, [UInt8](repeating: 0xA5, count: 16))
      }
    case .interior: try store.damage { $0.zero(page: steps) }
    case .index:
      let connection = try Store(path: store.path).connection
      let root = try #require(
        try connection.value(
          "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZSTEP' AND rootpage > 0"
        )?.integer)
      try store.damage { $0.zero(page: Int(root)) }
    }
  }

  @Test(
    "every object comes back, with its values and relationships",
    arguments: TestScale.some(3, of: Damage.allCases))
  func whole(damage: Damage) throws {
    let store = try DamagedDemo()
    try Self.apply(damage, to: store)
    let before = try store.bytes()
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    #expect(!report.isLossy, "\(report)")
    #expect(report.isComplete)
    #expect(try StoreDump.lines(at: output) == store.lines)
    var after = try store.bytes()
    after["Saved.sqlite"] = nil
    #expect(after == before)
    let saved = try Store(path: output)
    #expect(try saved.connection.value("PRAGMA integrity_check")?.text == "ok")
    #expect(saved.warnings.isEmpty && saved.damage == nil)
    #expect(saved.metadata.uuid == (try Store(path: output).metadata.uuid))
  }

  @Test(
    "what was saved is as another reader has it, has no fault, and migrates",
    arguments: TestScale.some(1, of: [Damage.firstPage, .leafHeader, .interior, .index]))
  func usable(damage: Damage) throws {
    let store = try DamagedDemo()
    try Self.apply(damage, to: store)
    let output = store.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: store.path, output: output)
    try SecondReader.expectAgreement(at: output)
    let diagnosis = try Diagnosis(of: output)
    #expect(diagnosis.count(.error) + diagnosis.count(.warning) == 0, "\(diagnosis.findings)")
    let versions = try DemoModels.versions()
    let saved = try Store(path: output)
    let next = try #require(versions.dropFirst().first)
    let receipt = try StoreMigration.runAndRead(
      saved.plan(
        to: next.model, names: ("1", "2"), output: store.folder.path("Migrated.sqlite")))
    #expect(receipt.entities.reduce(0) { $0 + $1.after } > 0)
  }

  @Test("a file that is called like one of its own is not touched")
  func names() throws {
    let store = try DamagedDemo()
    let other = store.folder.path("Saved.sqlite.salvaging")
    try FileSystem.copyOver(store.path, to: other)
    let before = try FileSystem.read(other)
    let output = store.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: other, output: output)
    #expect(try FileSystem.read(other) == before)
    // Its external data lies beside the other name.
    #expect(try StoreDump.lines(at: output).count == store.lines.count)
    #expect(try FileSystem.list(store.folder.path).filter { $0.contains("salvaging") }.count == 1)
  }

  @Test("values that are there twice cost nothing but their index")
  func duplicates() throws {
    let store = try DamagedDemo()
    let connection = try Connection(path: store.path, mode: .create, isDefensive: false)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; DROP INDEX Z_Tag_UNIQUE_name; UPDATE ZTAG SET ZNAME = 'one'; \
      CREATE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME); PRAGMA writable_schema = ON; \
      UPDATE sqlite_master SET sql = replace(sql, 'CREATE INDEX', 'CREATE UNIQUE INDEX') \
      WHERE name = 'Z_Tag_UNIQUE_name'
      """)
    let root = try #require(
      try connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'Z_Tag_UNIQUE_name'")?
        .integer)
    let tags = try connection.value("SELECT count(*) FROM ZTAG")?.integer
    connection.close()
    try store.damage { $0.zero(page: Int(root)) }
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    #expect(report.entities.first { $0.name == "Tag" }.map { Int64($0.objects) } == tags)
    #expect(report.notes.contains { $0.contains("Z_Tag_UNIQUE_name could not be created") })
  }

  @Test("a frame of a page that nobody can have takes neither time nor memory")
  func farFrame() throws {
    let store = try DamagedDemo(isLogged: true)
    try store.change("-wal") { bytes in
      // The first frame is of page 0x7FFFFFF0; its checksum is wrong now, as are those that follow.
      bytes.replaceSubrange(32..<36, with: [0x7F, 0xFF, 0xFF, 0xF0])
    }
    let image = try DatabaseImage(path: store.path, log: store.path + "-wal")
    #expect(image.pageCount < 1_000_000)
    _ = try StoreSalvage.run(path: store.path, output: store.folder.path("Saved.sqlite"))
  }

  @Test("the report tells of each row where it is from, if it is asked for")
  func pages() throws {
    let store = try DamagedDemo(isLogged: true)
    try store.damage { $0.zero(page: 2) }
    var options = StoreSalvage.Options()
    options.tellsPages = true
    let report = try StoreSalvage.run(
      path: store.path, output: store.folder.path("Saved.sqlite"), options: options)
    for table in report.tables where table.rows > 0 {
      let pages = report.pages.filter { $0.table == table.name }
      #expect(pages.reduce(0) { $0 + $1.rows } == table.rows, "\(table.name)")
      #expect(pages.allSatisfy { $0.isCertain && $0.keys.lowerBound > 0 })
    }
    // The steps were changed in the -wal.
    #expect(report.pages.contains { $0.table == "ZSTEP" && $0.frame != nil })
    #expect(report.pages.contains { $0.table == "ZTAG" && $0.frame == nil })
  }

  @Test("of a store that lost pages the rest comes back, and the loss is told")
  func lost() throws {
    let store = try DamagedDemo()
    let steps = try #require(store.roots["ZSTEP"])
    let leaves = try DamagedFile(store.path).leaves(root: steps)
    try store.damage { $0.zero(page: leaves[2]) }
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    let lines = Set(try StoreDump.lines(at: output).map { $0.prefix { $0 != " " } })
    let missing = store.lines.map { $0.prefix { $0 != " " } }.filter { !lines.contains($0) }
    #expect(!missing.isEmpty && missing.allSatisfy { $0.hasPrefix("Step/") })
    let table = try #require(report.tables.first { $0.name == "ZSTEP" })
    #expect(report.isLossy && table.holes.count == 1)
    #expect(table.holes.first?.missing == missing.count)
    // Keys of the hole are those of the objects that are gone.
    let keys = missing.compactMap { Int64($0.dropFirst("Step/p".count)) }
    #expect(table.holes.first?.keys == (keys.min() ?? 0)...(keys.max() ?? 0))
  }

  @Test("a file that was cut off gives what is in front of the cut", arguments: [9, 5])
  func cut(tenths: Int) throws {
    let store = try DamagedDemo()
    let model = try Store(path: store.path).model
    try store.change { $0.removeLast($0.count - $0.count * tenths / 10) }
    var options = StoreSalvage.Options()
    options.model = model
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output, options: options)
    #expect(report.isLossy)
    let saved = try StoreDump.lines(at: output)
    #expect(saved.count > store.lines.count * (tenths - 3) / 10)
    // None that was not there, and none of another entity.
    let names = Set(store.lines.map { $0.prefix { $0 != " " } })
    #expect(saved.allSatisfy { names.contains($0.prefix { $0 != " " }) })
  }

  @Test("without schema and model it says what is needed, and leaves nothing behind")
  func nameless() throws {
    let store = try DamagedDemo()
    try store.change { $0.removeLast($0.count * 6 / 10) }
    let output = store.folder.path("Saved.sqlite")
    do {
      _ = try StoreSalvage.run(path: store.path, output: output)
      Issue.record("no error")
    } catch let error as CoreDataError {
      #expect(error.message.contains("schema is gone"))
    }
    #expect(try FileSystem.list(store.folder.path).filter { $0.contains("Saved") }.isEmpty)
  }

  @Test("what is encrypted is told, and what is no database, too")
  func encrypted() throws {
    let store = try DamagedDemo()
    var generator = SeededGenerator(seed: 7)
    try store.change { bytes in
      for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
    }
    #expect {
      try StoreSalvage.run(path: store.path, output: store.folder.path("Saved.sqlite"))
    } throws: { ($0 as? CoreDataError)?.message.contains("encrypted") == true }
    try store.change { bytes in
      for index in bytes.indices { bytes[index] = 0x20 + UInt8(index % 7) }
    }
    #expect {
      try StoreSalvage.run(path: store.path, output: store.folder.path("Saved.sqlite"))
    } throws: { ($0 as? CoreDataError)?.message.contains("looks like a page") == true }
  }

  @Test("a file that is there is not written over, nor the store itself")
  func occupied() throws {
    let store = try DamagedDemo(objects: 50)
    let before = try store.bytes()
    for output in [store.path, store.path + "-wal"] {
      #expect(throws: CoreDataError.self) {
        try StoreSalvage.run(path: store.path, output: output)
      }
    }
    #expect(try store.bytes() == before)
  }

  @Test(
    "a new store takes no name that others left files beside, which would be taken for its own",
    arguments: ["-wal", "-shm", "-journal"])
  func leftovers(_ ending: String) throws {
    let patient = try Patient(objects: 200)
    let output = patient.folder.path("new.sqlite")
    try FileSystem.write([1, 2, 3], to: output + ending)
    let error = #expect(throws: CoreDataError.self) {
      try StoreSalvage.run(path: patient.path, output: output)
    }
    #expect(error?.kind == .refused && error?.path == output + ending)
    #expect(FileSystem.status(output) == nil)
    #expect(try FileSystem.read(output + ending) == [1, 2, 3])
  }

  @Test("cancelled, it leaves nothing behind")
  func cancelled() throws {
    let store = try DamagedDemo(objects: 2_000)
    let before = try store.bytes()
    #expect(throws: CoreDataError.self) {
      try StoreSalvage.run(
        path: store.path, output: store.folder.path("Saved.sqlite"), isCancelled: { true })
    }
    #expect(try store.bytes() == before)
  }
}

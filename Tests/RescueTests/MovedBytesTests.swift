import Files
import Interface
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

@Suite("Files whose bytes were moved on their way")
struct MovedBytesTests {
  @Test(
    "what stands before a file is left out",
    arguments: [[0xEF, 0xBB, 0xBF], Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".utf8)])
  func header(bytes: [UInt8]) throws {
    let demo = try DamagedDemo(objects: 700)
    try demo.change { $0.insert(contentsOf: bytes, at: 0) }
    try expectAll(of: demo, kind: "precedes the file", "precede the file")
  }

  @Test("five bytes too many in a file of five pages are found by the count of its header")
  func fewPages() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("few.sqlite")
    let connection = try Connection(path: path, mode: .create)
    for table in 1...4 {
      try connection.execute(
        """
        CREATE TABLE t\(table) (a TEXT);
        INSERT INTO t\(table) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
        SELECT 'row ' || i || ' of table \(table) with some words behind it' FROM n
        """)
    }
    connection.close()
    let whole = try FileSystem.read(path)
    #expect(whole.count == 5 * 4096)
    // Within the second table's page; it begins where it should, and those behind it do not.
    let place = 2 * 4096 + 2048
    try FileSystem.write(
      Array(whole[..<place]) + [UInt8](repeating: 0, count: 5) + whole[place...], to: path)
    let main = try MainFile(path, journal: nil, isRealigned: true)
    #expect(main.shift == .moved([.init(page: 4, by: 5)]))
    for page in [1, 2, 4, 5] {
      let range = (page - 1) * 4096..<page * 4096
      #expect(try main.read(at: range.lowerBound, count: 4096) == Array(whole[range]), "\(page)")
    }
    // What is behind the last page, or missing of it, moves none.
    for bytes in [whole + [UInt8](repeating: 0x20, count: 100), Array(whole.dropLast(100))] {
      try FileSystem.write(bytes, to: path)
      #expect(try MainFile(path, journal: nil, isRealigned: true).shift == nil)
    }
  }

  @Test("bytes too many are found among pages of which hardly any has a row")
  func emptyPages() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("empty.sqlite")
    let connection = try Connection(path: path, mode: .create)
    for table in 1...10 { try connection.execute("CREATE TABLE t\(table) (a TEXT)") }
    try connection.execute("INSERT INTO t10 VALUES ('one')")
    connection.close()
    let whole = try FileSystem.read(path)
    #expect(whole.count == 11 * 4096)
    let place = 5 * 4096 + 1024
    try FileSystem.write(
      Array(whole[..<place]) + [UInt8](repeating: 0, count: 5) + whole[place...], to: path)
    let main = try MainFile(path, journal: nil, isRealigned: true)
    #expect(main.shift == .moved([.init(page: 7, by: 5)]))
    #expect(try main.read(at: 10 * 4096, count: 4096) == Array(whole[(10 * 4096)...]))
  }

  @Test("a list of tables that lost a row to a line end is not taken for whole")
  func lineFeedsOfSchema() throws {
    let demo = try DamagedDemo(objects: 700)
    let before = try Self.steps(demo.path)
    let connection = try Connection(path: demo.path, mode: .readWrite, isDefensive: false)
    // The byte that goes may have stood in two places, and nothing says in which.
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET sql = replace(sql, 'ZSTEP (', 'ZSTEP (' || x'0D0A' || ' ' || x'0A')
      WHERE name = 'ZSTEP'
      """)
    connection.close()
    try demo.change { $0 = Self.withoutPairs($0) }
    let source = try SalvageSource(path: demo.path)
    #expect(!source.objects.contains { $0.object.name == "ZSTEP" } && !source.isSchemaWhole)
    #expect(try Diagnosis(of: demo.path).findings.allSatisfy { $0.kind != .mixedPages })
    let output = demo.folder.path("Saved.sqlite")
    #expect(try StoreSalvage.run(path: demo.path, output: output).isLossy)
    let after = try Self.steps(output)
    for (key, row) in after { #expect(before[key] == row, "p\(key)") }
    #expect(after.count * 100 > before.count * 90, "\(after.count) of \(before.count)")
  }

  @Test("bytes behind the last page are counted as bytes")
  func bytesBehind() throws {
    let demo = try DamagedDemo(objects: 300)
    let root = try #require(demo.roots["ZTAG"])
    try demo.change { bytes in
      bytes.replaceSubrange((root - 1) * 4096..<root * 4096, with: repeatElement(0, count: 4096))
      bytes += [UInt8](repeating: 0x20, count: 100)
    }
    let finding = try #require(
      try Diagnosis(of: demo.path).findings.first { $0.kind == .pageCount })
    #expect(finding.sentence.contains("100 bytes more"), "\(finding.sentence)")
  }

  @Test("a file that was saved as text is named so, and no other is")
  func savedAsText() throws {
    let demo = try DamagedDemo(objects: 700)
    #expect(try !Diagnosis(of: demo.path).findings.contains { $0.kind == .savedAsText })
    try demo.change { bytes in bytes = Array(String(decoding: bytes, as: UTF8.self).utf8) }
    let finding = try Diagnosis(of: demo.path).findings.first
    #expect(finding?.kind == .savedAsText && finding?.severity == .error)
    #expect(finding?.command?.typed.hasPrefix("strata salvage ") == true)
    // A byte that no text has: it is damaged in another way.
    try demo.change { $0[200] = 0xFF }
    #expect(try !Diagnosis(of: demo.path).findings.contains { $0.kind == .savedAsText })
  }

  @Test(
    "line ends that became two bytes are put right, those that were two as well",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func lineEnds() throws {
    let demo = try DamagedDemo(objects: 700)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; UPDATE ZTAG SET ZNAME = 'a' || x'0D0A' || 'b' || x'0D0D' || Z_PK || x'0A'"
    )
    connection.close()
    let lines = try StoreDump.lines(at: demo.path)
    try demo.change { bytes in
      bytes = bytes.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
    }
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(!report.isLossy)
    #expect(try StoreDump.lines(at: output) == lines)
    let finding = try #require(try Diagnosis(of: demo.path).findings.first)
    #expect(finding.kind == .shifted && finding.sentence.contains("0D 0A"))
    try expectError(of: finding, demo)
  }

  @Test(
    "line ends that lost a byte cost the rows of which nothing tells where it stood, and no more",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func lineFeeds() throws {
    let demo = try DamagedDemo(objects: 2_000)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    // One that stands for itself, and one that may be in two places.
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; UPDATE ZTAG SET ZNAME = 'one' || x'0D0A' || 'end' WHERE Z_PK = 3;
      UPDATE ZSTEP SET ZTEXT = 'a' || x'0D0A' || 'b' || x'0A' || 'c' WHERE Z_PK = 40
      """)
    connection.close()
    let lines = Set(try StoreDump.lines(at: demo.path))
    var lost = 0
    try demo.change { bytes in
      let shorter = Self.withoutPairs(bytes)
      lost = bytes.count - shorter.count
      bytes = shorter
    }
    #expect(lost >= 2)
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    let saved = try StoreDump.lines(at: output)
    #expect(saved.contains { $0.contains("one") && $0.contains("end") })
    #expect(!saved.contains { $0.hasPrefix("Step/p40 ") })
    #expect(saved.count * 100 > lines.count * 95, "\(saved.count) of \(lines.count)")
    // What leads to a row that is left out leads to nothing.
    let whole = saved.count { lines.contains($0) }
    #expect(whole * 100 > lines.count * 90, "\(whole) of \(lines.count)")
    #expect(report.isLossy)
    let finding = try #require(try Diagnosis(of: demo.path).findings.first)
    #expect(finding.kind == .shifted && finding.sentence.contains("0D before an 0A"), "\(finding)")
  }

  /// Where a page's first free block begins at A00 or behind, its first two bytes are 0D 0A.
  @Test(
    "a page that lost a byte of its header, or of the list of its cells, comes back with every row")
  func lineFeedsOfHeaders() throws {
    let demo = try DamagedDemo(objects: 2_000)
    let root = try #require(demo.roots["ZSTEP"])
    let before = try Self.steps(demo.path)
    let pages = try DamagedFile(demo.path).leaves(root: root)
    let bytes = try FileSystem.read(demo.path)
    func page(_ number: Int) -> [UInt8] { Array(bytes[(number - 1) * 4096..<number * 4096]) }
    // Only those that lose nothing else.
    let sound = pages.filter { page($0).firstRange(of: [0x0D, 0x0A]) == nil && page($0)[0] == 13 }
    try #require(sound.count >= 6)
    let changed = [sound[1], sound[3], sound[5]]
    try demo.change { bytes in
      for number in changed[...1] {
        bytes[(number - 1) * 4096 + 1] = 0x0A
      }
      // An entry of the list that was none, behind those that are.
      let start = (changed[2] - 1) * 4096
      let count = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
      bytes[start + 8 + 2 * count] = 0x0D
      bytes[start + 9 + 2 * count] = 0x0A
      bytes = Self.withoutPairs(bytes)
    }
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    let after = try Self.steps(output)
    for (key, row) in after { #expect(before[key] == row, "p\(key)") }
    for number in changed {
      let own = page(number)
      let tree = try #require(TreePage(own, number: number, usable: 4096))
      let keys = tree.cells(in: own).compactMap {
        TreeCell(own, at: $0, present: 4096, usable: 4096)?.key
      }
      #expect(!keys.isEmpty && keys.allSatisfy { after[$0] != nil }, "page \(number)")
    }
  }

  @Test("pages beside each other that lost bytes of pictures come back")
  func lineFeedsOfPictures() throws {
    let demo = try DamagedDemo(objects: 2_000)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; UPDATE ZSTEP SET ZTEXT = x'89504E470D0A1A0A' WHERE Z_PK % 16 = 0"
    )
    connection.close()
    let before = try Self.steps(demo.path)
    try demo.change { $0 = Self.withoutPairs($0) }
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    let after = try Self.steps(output)
    for (key, row) in after { #expect(before[key] == row, "p\(key)") }
    #expect(after.count * 100 > before.count * 98, "\(after.count) of \(before.count)")
  }

  @Test("bytes that are missing at one place are no line ends, however many there are")
  func missingAtOnce() throws {
    let demo = try DamagedDemo(objects: 5_000)
    let pages = try FileSystem.read(demo.path).count / 4096
    try demo.change { bytes in
      let place = pages / 2 * 4096 + 700
      bytes.removeSubrange(place..<place + 16 + bytes.count / 4096)
    }
    let finding = try #require(try Diagnosis(of: demo.path).findings.first)
    #expect(finding.kind == .shifted && !finding.sentence.contains("0D before"), "\(finding)")
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    let saved = try StoreDump.lines(at: output)
    #expect(saved.count * 100 > demo.lines.count * 98, "\(saved.count) of \(demo.lines.count)")
  }

  static func withoutPairs(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for (place, byte) in bytes.enumerated()
    where byte != 0x0D || place + 1 == bytes.count || bytes[place + 1] != 0x0A {
      result.append(byte)
    }
    return result
  }

  @Test(
    "bytes too many or too few in the middle cost their page and no more",
    arguments: TestScale.some(1, of: [5, -1000]))
  func middle(by: Int) throws {
    let demo = try DamagedDemo(objects: 2_000)
    let pages = try FileSystem.read(demo.path).count / 4096
    try demo.change { bytes in
      let place = pages / 2 * 4096 + 700
      if by > 0 {
        bytes.insert(contentsOf: repeatElement(0, count: by), at: place)
      } else {
        bytes.removeSubrange(place..<place - by)
      }
    }
    let finding = try #require(try Diagnosis(of: demo.path).findings.first)
    #expect(finding.kind == .shifted, "\(finding)")
    try expectError(of: finding, demo)
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy)
    let saved = try StoreDump.lines(at: output)
    #expect(saved.count * 100 > demo.lines.count * 90, "\(saved.count) of \(demo.lines.count)")
  }

  static func steps(_ path: String) throws -> [Int64: [Value]] {
    let rows = try Connection(path: path, mode: .immutable).rows("SELECT * FROM ZSTEP")
    return Dictionary(rows.map { ($0[0].integer ?? 0, $0) }) { first, _ in first }
  }

  /// Expects that SQLite says of the file what it is said to.
  private func expectError(of finding: Finding, _ demo: DamagedDemo) throws {
    let error = #expect(throws: SQLiteError.self) {
      let connection = try Connection(path: demo.path, mode: .immutable)
      for table in demo.roots.keys {
        _ = try connection.rows("SELECT * FROM \"\(table)\" NOT INDEXED")
      }
    }
    let code = try #require(error).extendedCode & 0xFF
    #expect(finding.consequence?.meaning.code == Int(code))
  }

  private func expectAll(of demo: DamagedDemo, kind words: String...) throws {
    let before = try demo.bytes()
    let finding = try #require(try Diagnosis(of: demo.path).findings.first)
    #expect(finding.kind == .shifted && words.contains { finding.sentence.contains($0) })
    #expect(finding.command?.typed.hasPrefix("strata salvage ") == true)
    try expectError(of: finding, demo)
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(!report.isLossy)
    #expect(try StoreDump.lines(at: output) == demo.lines)
    #expect(try demo.bytes().filter { !$0.key.contains("Saved") } == before)
  }
}

@Suite("Tables that are not Core Data's come along")
struct AppTableSalvageTests {
  @Test("tables without row ids, and a full text index", arguments: [false, true])
  func withoutRowIDs(isDamaged: Bool) throws {
    let demo = try DamagedDemo(objects: 700)
    let connection = try Connection(path: demo.path, mode: .create)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; \
      CREATE TABLE app_tags (name TEXT, place INTEGER, note TEXT, PRIMARY KEY (name, place)) WITHOUT ROWID; \
      INSERT INTO app_tags WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
      SELECT 'tag ' || i, i, hex(zeroblob(i % 40)) FROM n; \
      CREATE VIRTUAL TABLE app_fts USING fts5(body); \
      INSERT INTO app_fts WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) \
      SELECT 'word ' || i || ' soup' FROM n
      """)
    let rows = try connection.rows("SELECT * FROM app_tags ORDER BY 1, 2")
    connection.close()
    if isDamaged {
      let root = try #require(demo.roots["ZSTEP"])
      try demo.damage { file in
        if let leaf = file.leaves(root: root).first { file.zero(page: leaf) }
      }
    }
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy == isDamaged, "\(report.remarksForTest)")
    let saved = try Connection(path: output, mode: .readOnly)
    #expect(try saved.rows("SELECT * FROM app_tags ORDER BY 1, 2") == rows)
    #expect(
      try saved.value("SELECT count(*) FROM app_fts WHERE app_fts MATCH 'soup'") == .integer(300))
    #expect(try saved.value("PRAGMA integrity_check") == .text("ok"))
  }
}

extension SalvageReport {
  fileprivate var remarksForTest: String { "\(unplaced) \(unreadable) \(tables) \(notes)" }
}

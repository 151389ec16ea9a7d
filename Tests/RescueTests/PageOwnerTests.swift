import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

@Suite("Pages that stand in another's place")
struct PageOwnerTests {
  /// A store of two notes too long for a page, and where the pages of both begin.
  private static func long() throws -> (demo: DamagedDemo, chains: [[Int]]) {
    let demo = try DamagedDemo(objects: 500)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; \
      UPDATE ZSTEP SET ZTEXT = (SELECT group_concat('first ' || hex(randomblob(30)), ' ') FROM \
      (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n)) \
      WHERE Z_PK = 3; \
      UPDATE ZSTEP SET ZTEXT = (SELECT group_concat('other ' || hex(randomblob(30)), ' ') FROM \
      (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n)) \
      WHERE Z_PK = 9
      """)
    connection.close()
    let image = try DatabaseImage(path: demo.path, log: nil)
    let root = try #require(demo.roots["ZSTEP"])
    let trees = try TreeMap(image, roots: [root], isComplete: true)
    var chains: [[Int]] = []
    for number in 1...image.pageCount where trees.role(of: number) == .leaf {
      let page = try #require(try image.page(number))
      let tree = try #require(TreePage(page.bytes, number: number, usable: image.usable))
      for offset in tree.cells(in: page.bytes) {
        guard
          let cell = TreeCell(page.bytes, at: offset, present: page.present, usable: image.usable),
          cell.local < cell.size
        else { continue }
        var chain: [Int] = []
        var next = cell.overflow
        while next != 0, chain.count < 100 {
          chain.append(next)
          next = Int(BigEndian.word(try #require(try image.page(next)).bytes, 0))
        }
        chains.append(chain)
      }
    }
    return (demo, chains)
  }

  enum Map: CaseIterable { case kept, zeroed }

  @Test("a chain that runs into another's is cut where it does", arguments: Map.allCases)
  func crossed(map: Map) throws {
    let (demo, chains) = try Self.long()
    #expect(chains.count == 2 && chains.allSatisfy { $0.count > 3 })
    let (one, other) = (chains[0], chains[1])
    try demo.change { bytes in
      BigEndian.put(other[2], into: &bytes, (one[1] - 1) * 4096)
      if map == .zeroed { bytes.replaceSubrange(4096..<8192, with: repeatElement(0, count: 4096)) }
    }
    let store = try Store(path: demo.path)
    try store.inspect()
    #expect(store.gaps.contains { $0.contains("belong to others") }, "\(store.gaps)")
    #expect(store.cutRows == ["Step": map == .kept ? 1 : 2])
    let finding = try #require(try Diagnosis(of: demo.path).findings.first)
    #expect(finding.kind == .pageUnreadable && finding.severity == .error)
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy)
    let saved = try Connection(path: output, mode: .readOnly)
    let texts = try saved.rows("SELECT Z_PK, ZTEXT FROM ZSTEP WHERE Z_PK IN (3, 9)")
    // Never a text of both.
    for row in texts {
      guard let text = row[1].text else { continue }
      #expect(!(text.contains("first") && text.contains("other")), "p\(row[0])")
    }
    // The map says whose the pages are; without it they are neither's.
    #expect(texts.count { $0[1].text != nil } == (map == .kept ? 1 : 0))
  }

  @Test("a chain in a circle ends")
  func circle() throws {
    let (demo, chains) = try Self.long()
    let one = chains[0]
    try demo.change { BigEndian.put(one[0], into: &$0, (one[2] - 1) * 4096) }
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy)
    let saved = try Connection(path: output, mode: .readOnly)
    #expect(
      try saved.value("SELECT count(*) FROM ZSTEP WHERE Z_PK IN (3, 9) AND ZTEXT IS NULL")
        == .integer(1))
  }

  enum Fault: String, CaseIterable { case other, swapped, halfZero }

  /// A page in thirteen: each takes a whole salvage.
  @Test("no fault of a page is silent", arguments: TestScale.some(1, of: Fault.allCases))
  func faults(fault: Fault) throws {
    let demo = try DamagedDemo(objects: 500)
    let good = try FileSystem.read(demo.path)
    let pages = good.count / 4096
    let lines = Set(demo.lines)
    for number in stride(from: 3, through: pages, by: 13) {
      let place = (number - 1) * 4096
      var bytes = good
      let other = fault == .swapped ? (number * 7) % pages + 1 : number % pages + 1
      guard other > 1, other != number else { continue }
      let there = (other - 1) * 4096
      switch fault {
      case .other: bytes.replaceSubrange(place..<place + 4096, with: good[there..<there + 4096])
      case .swapped:
        bytes.replaceSubrange(place..<place + 4096, with: good[there..<there + 4096])
        bytes.replaceSubrange(there..<there + 4096, with: good[place..<place + 4096])
      case .halfZero:
        bytes.replaceSubrange(
          place + 2048..<place + 4096, with: repeatElement(0, count: 2048))
      }
      guard bytes != good else { continue }
      try FileSystem.write(bytes, to: demo.path)
      let output = demo.folder.path("Saved-\(number).sqlite")
      let report = try? StoreSalvage.run(path: demo.path, output: output)
      // Zeros in a blob can be its own: they are counted, and no loss.
      if let report, !report.isLossy, report.zeroed == 0 {
        let saved = Set(try StoreDump.lines(at: output))
        #expect(saved == lines, "page \(number): \(lines.subtracting(saved).first ?? "")")
      }
      if let store = try? Store(path: demo.path), (try? store.inspect()) != nil,
        let read = try? StoreDump.lines(store), store.gaps.isEmpty, fault != .halfZero
      {
        #expect(Set(read) == lines, "page \(number): \(lines.subtracting(read).first ?? "")")
      }
      FileSystem.remove(output)
    }
  }

  @Test(
    "of a page that is a save older than its indexes, the objects that are not on it are counted")
  func older() throws {
    let demo = try DamagedDemo(objects: 500)
    let before = try FileSystem.read(demo.path)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; \
      INSERT INTO ZPERSON SELECT Z_PK + 1000, Z_ENT, Z_OPT, ZPROFILE, ZBORN, ZNAME, ZHOMEPAGE, ZIDENTIFIER \
      FROM ZPERSON WHERE Z_PK < 4
      """)
    connection.close()
    let root = try #require(demo.roots["ZPERSON"])
    try demo.change { bytes in
      let place = (root - 1) * 4096..<root * 4096
      bytes.replaceSubrange(place, with: before[place])
    }
    let report = try StoreSalvage.run(path: demo.path, output: demo.folder.path("Saved.sqlite"))
    #expect(report.isLossy)
    #expect(report.missing == ["ZPERSON": [1001, 1002, 1003]])
    let store = try Store(path: demo.path)
    try store.inspect()
    #expect(store.gaps.contains { $0.contains("3 objects of Person") }, "\(store.gaps)")
  }

  @Test("values that an index has otherwise are counted")
  func doubtful() throws {
    let demo = try DamagedDemo(objects: 500)
    let before = try FileSystem.read(demo.path)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; UPDATE ZPERSON SET ZPROFILE = NULL WHERE Z_PK IN (2, 3)")
    connection.close()
    let root = try #require(demo.roots["ZPERSON"])
    try demo.change { bytes in
      let place = (root - 1) * 4096..<root * 4096
      bytes.replaceSubrange(place, with: before[place])
    }
    let store = try Store(path: demo.path)
    try store.inspect()
    #expect(store.damage?.rows.doubtful == ["ZPERSON": [2, 3]])
    #expect(store.doubts.contains { $0.contains("different values in an index (p2, p3)") })
  }

  @Test("a page whose free space is wrong may be of two times: no command calls its rows sound")
  func unbalanced() throws {
    let demo = try DamagedDemo(objects: 500)
    let root = try #require(demo.roots["ZSTEP"])
    let leaf = try #require(try DamagedFile(demo.path).leaves(root: root).first)
    let page = try #require(try DatabaseImage(path: demo.path, log: nil).page(leaf))
    let tree = try #require(TreePage(page.bytes, number: leaf, usable: 4096))
    let taken = tree.cells(in: page.bytes).reduce(0) { sum, place in
      let cell = TreeCell(page.bytes, at: place, present: page.present, usable: 4096)
      return sum + (cell?.room(from: place) ?? 0)
    }
    #expect(tree.isBalanced(taken, in: page.bytes))
    #expect(!tree.isBalanced(taken - 1, in: page.bytes))
    // A fragment that is not there.
    try demo.change { $0[(leaf - 1) * 4096 + 7] &+= 2 }
    let store = try Store(path: demo.path)
    try store.inspect()
    #expect(store.damage?.rows.unbalanced == ["ZSTEP": tree.count])
    #expect(store.gaps.contains { $0.contains("\(tree.count) objects of Step are on pages") })
    let report = try StoreSalvage.run(path: demo.path, output: demo.folder.path("Saved.sqlite"))
    #expect(report.unbalanced == ["ZSTEP": tree.count] && report.isLossy)
    #expect(try StoreDump.lines(at: demo.folder.path("Saved.sqlite")) == demo.lines)
  }

  @Test("what an index has otherwise is counted where its tree is not copied either")
  func doubtfulWithoutCopy() throws {
    let demo = try DamagedDemo(objects: 500)
    let before = try FileSystem.read(demo.path)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; UPDATE ZPERSON SET ZPROFILE = NULL WHERE Z_PK IN (2, 3)")
    connection.close()
    let root = try #require(demo.roots["ZPERSON"])
    try demo.change { bytes in
      let place = (root - 1) * 4096..<root * 4096
      bytes.replaceSubrange(place, with: before[place])
      bytes[place.lowerBound + 7] &+= 2
    }
    let report = try StoreSalvage.run(path: demo.path, output: demo.folder.path("Saved.sqlite"))
    #expect(report.doubtful == 2 && report.isLossy)
  }

  @Test(
    "zeros from a sector on are not what was saved where text, a number or a picture's end should be",
    arguments: [
      "'a text of some length, to the end'", "5.5", "x'89504E470D0A1A0A0000000D49484452'",
    ])
  func unwritten(value: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("One.sqlite")
    let connection = try Connection(path: path, mode: .create)
    // The record fills its page from somewhere in the first half to the end.
    try connection.execute(
      """
      PRAGMA page_size = 4096; CREATE TABLE T (A, B, C);
      INSERT INTO T VALUES (zeroblob(3000), \(value), zeroblob(200))
      """)
    connection.close()
    let image = try DatabaseImage(path: path, log: nil)
    let page = try #require(try image.page(2))
    let tree = try #require(TreePage(page.bytes, number: 2, usable: 4096))
    let offset = try #require(tree.cells(in: page.bytes).first)
    let cell = try #require(TreeCell(page.bytes, at: offset, present: 4096, usable: 4096))
    var record = Record()
    let isRead = record.read(page.bytes, cell.start..<cell.end)
    let size = record.stated
    let (before, behind) = (
      record.isUnwritten(from: size - 210), record.isUnwritten(from: size - 190)
    )
    #expect(isRead && before && !behind)
  }

  @Test(
    "the first page of a table's tree is found again where one of its leaves stands in its place")
  func swappedRoot() throws {
    let demo = try DamagedDemo(objects: 500)
    let root = try #require(demo.roots["ZSTEP"])
    let leaf = try #require(try DamagedFile(demo.path).leaves(root: root).last)
    try demo.change { bytes in
      let (own, other) = ((root - 1) * 4096..<root * 4096, (leaf - 1) * 4096..<leaf * 4096)
      let page = Array(bytes[own])
      bytes.replaceSubrange(own, with: Array(bytes[other]))
      bytes.replaceSubrange(other, with: page)
    }
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.missing.isEmpty)
    #expect(try StoreDump.lines(at: output) == demo.lines)
  }

  @Test("no row of a join table is taken for an object")
  func joinInPlace() throws {
    let demo = try DamagedDemo(objects: 500)
    let root = try #require(demo.roots["ZTAG"])
    let join = try #require(demo.roots.first { $0.key.hasPrefix("Z_") && $0.key.hasSuffix("TAGS") })
    let leaf = try #require(try DamagedFile(demo.path).leaves(root: join.value).first)
    try demo.change { bytes in
      let (own, other) = ((root - 1) * 4096..<root * 4096, (leaf - 1) * 4096..<leaf * 4096)
      bytes.replaceSubrange(own, with: Array(bytes[other]))
    }
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy)
    #expect(try StoreDump.lines(at: output).allSatisfy { !$0.contains("\"entity\":\"Tag\"") })
  }
}

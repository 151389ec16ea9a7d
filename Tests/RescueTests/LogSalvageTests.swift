import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage

@Suite("Salvage of a -wal that SQLite does not apply")
struct LogSalvageTests {
  enum Damage: String, CaseIterable {
    case none, salts, header, bit, commitBit, renamed, emptyMain
  }

  @Test("the last committed state comes back", arguments: TestScale.some(3, of: Damage.allCases))
  func committed(damage: Damage) throws {
    let store = try DamagedDemo(isLogged: true)
    switch damage {
    case .none: break
    case .salts:
      try store.change("-wal") { log in
        log.replaceSubrange(16..<24, with: [1, 2, 3, 4, 5, 6, 7, 8])
        var sum = LogChecksum()
        sum.add(log, 0..<24, bigEndian: log[3] & 1 == 1)
        for (offset, word) in [sum.first, sum.second].enumerated() {
          for shift in 0..<4 {
            log[24 + 4 * offset + shift] = UInt8(word >> (24 - 8 * UInt32(shift)) & 0xFF)
          }
        }
      }
    case .header:
      try store.change("-wal") { $0.replaceSubrange(0..<32, with: repeatElement(0, count: 32)) }
    case .bit: try store.change("-wal") { $0[32 + 3 * 4120 + 24 + 2_000] ^= 0x10 }
    case .commitBit: try store.change("-wal") { $0[32 + 2 * 4120 + 3] ^= 0x40 }
    case .renamed:
      try FileSystem.rename(
        store.path + "-wal", to: store.folder.path("Demo (1).sqlite-wal"))
    case .emptyMain:
      // All pages have to be in the log.
      let whole = try DamagedDemo.everythingLogged()
      try whole.change { $0.removeAll() }
      let before = try whole.bytes()
      let output = whole.folder.path("Saved.sqlite")
      _ = try StoreSalvage.run(path: whole.path, output: output)
      #expect(try StoreDump.lines(at: output) == whole.lines)
      #expect(try whole.bytes().filter { !$0.key.contains("Saved") } == before)
      return
    }
    let before = try store.bytes()
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    #expect(try StoreDump.lines(at: output) == store.lines)
    #expect(!report.isLossy && report.logPath != nil)
    let notes = report.notes.filter {
      !$0.contains("a -wal does not say which store it belongs to")
    }
    #expect(notes.isEmpty == (damage == .none), "\(report.notes)")
    #expect(try store.bytes().filter { !$0.key.contains("Saved") } == before)
  }

  @Test(
    "line ends of a -wal that were translated are put right",
    arguments: [[0x0D, 0x0A], [0x0A]] as [[UInt8]])
  func lineEnds(to end: [UInt8]) throws {
    let store = try DamagedDemo(
      objects: 700, isLogged: true,
      logging: [
        "UPDATE ZTAG SET ZNAME = 'one' || x'0D0A' || 'end' WHERE Z_PK = 3",
        "UPDATE ZSTEP SET ZTEXT = 'a' || x'0D0A' || 'b' || x'0A' || 'c' WHERE Z_PK % 40 = 2",
      ])
    let isShorter = end.count == 1
    try store.change("-wal") { log in
      let old = log
      let new = old.indices.flatMap { place -> [UInt8] in
        if isShorter {
          return old[place] == 0x0D && place + 1 < old.count && old[place + 1] == 0x0A
            ? [] : [old[place]]
        }
        return old[place] == 0x0A ? end : [old[place]]
      }
      #expect(new.count != old.count && (new.count < old.count) == isShorter)
      log = new
    }
    let words = isShorter ? "0D before an 0A" : "0D 0A"
    let findings = try Diagnosis(of: store.path).findings
    #expect(
      findings.contains { $0.severity == .error && $0.sentence.contains(words) },
      "\(findings.map(\.sentence))")
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    #expect(!report.isLossy && report.notes.contains { $0.contains(words) }, "\(report.notes)")
    #expect(try StoreDump.lines(at: output) == store.lines)
  }

  @Test(
    "a frame of which nothing tells where its line ends stood ends the -wal, and that is a loss")
  func lostLineEnds() throws {
    let store = try DamagedDemo(
      objects: 700, isLogged: true,
      logging: [
        "UPDATE ZTAG SET ZNAME = 'one' || x'0D0A' || 'end' WHERE Z_PK = 3",
        "UPDATE ZPERSON SET Z_OPT = Z_OPT + 1",
      ])
    try store.change("-wal") { log in
      // In the last frame another byte is gone as well.
      log.remove(at: log.count - 700)
      let old = log
      let new = old.indices.filter {
        old[$0] != 0x0D || $0 + 1 == old.count || old[$0 + 1] != 0x0A
      }.map { old[$0] }
      #expect(new.count < old.count)
      log = new
    }
    let report = try StoreSalvage.run(
      path: store.path, output: store.folder.path("Saved.sqlite"))
    #expect(report.isPartial && report.isLossy)
    #expect(
      report.notes.contains { $0.contains("it is not known where the bytes stood") },
      "\(report.notes)")
  }

  @Test("what was cut off with its commit is left out")
  func cut() throws {
    let store = try DamagedDemo(isLogged: true)
    try store.change("-wal") { $0.removeLast(100) }
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    // The first transaction changed people, the second deleted steps.
    let saved = try StoreDump.lines(at: output)
    #expect(saved.count > store.lines.count)
    #expect(Set(saved).isSuperset(of: store.lines.filter { $0.hasPrefix("Person/") }))
    #expect(report.notes.contains { $0.contains("never finished") })
  }

  @Test("the bit that a frame has wrong is found by its checksum, wherever it is")
  func bits() throws {
    var generator = SeededGenerator(seed: 3)
    var frame = [UInt8](repeating: 0, count: LogHeader.frameHeaderSize + 512)
    for index in frame.indices { frame[index] = UInt8.random(in: 0...255, using: &generator) }
    func sum(_ frame: [UInt8], _ isBig: Bool) -> LogChecksum {
      var sum = LogChecksum(Array(1...8), 0)
      sum.add(frame, 0..<8, bigEndian: isBig)
      sum.add(frame, LogHeader.frameHeaderSize..<frame.count, bigEndian: isBig)
      return sum
    }
    for isBig in [true, false] {
      let right = sum(frame, isBig)
      for place in [0, 3, 4, 7, 24, 27, 28, 200, 531, 535] {
        for bit in 0..<8 {
          var wrong = frame
          wrong[place] ^= 1 << UInt8(bit)
          let difference = sum(wrong, isBig).off(right)
          let off = try #require(difference)
          let errors = BitError.all(wrong, off: off, bigEndian: isBig)
          // The highest bits of a word have the same effect in several places.
          let rank = (isBig ? 3 - place % 4 : place % 4) * 8 + bit
          #expect(errors.contains(BitError(offset: place, bit: 1 << UInt8(bit))))
          #expect(rank > 16 || errors.count == 1)
        }
      }
      // Two bits explain themselves as none.
      var wrong = frame
      wrong[100] ^= 0x21
      wrong[300] ^= 0x04
      let difference = sum(wrong, isBig).off(right)
      let off = try #require(difference)
      #expect(BitError.all(wrong, off: off, bigEndian: isBig).isEmpty)
    }
  }
}

extension DamagedDemo {
  /// A store that was never checkpointed: every page stands in its -wal.
  static func everythingLogged() throws -> DamagedDemo {
    let store = try DamagedDemo(objects: 500)
    let open = store.path + ".open"
    do {
      let source = try Store(path: store.path).connection
      let connection = try Connection(path: open, mode: .create)
      try connection.execute(
        "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0"
      )
      _ = try source.backup(to: connection) { _, _ in true }
      try FileSystem.write(FileSystem.read(open + "-wal"), to: store.path + "-wal")
    }
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(open + suffix) }
    return store
  }
}

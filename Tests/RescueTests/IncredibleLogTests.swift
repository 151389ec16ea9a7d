import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage

@Suite("A -wal whose commit states far more pages than there are")
struct IncredibleLogTests {
  /// A log with the first page, without which it would be taken for another store's.
  private static func log(of demo: DamagedDemo) throws -> [UInt8] {
    let live = demo.folder.path("Live.sqlite")
    try FileSystem.copyOver(demo.path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL; CREATE TABLE large (bytes BLOB);
      INSERT INTO large VALUES (zeroblob(50000))
      """)
    return try withExtendedLifetime(connection) { try FileSystem.read(live + "-wal") }
  }

  /// SQLite's check takes a bit of memory for each page that is stated: half a gigabyte for one small store.
  @Test("it is said, the log is not given to SQLite, and the store is saved")
  func pages() throws {
    let demo = try DamagedDemo(objects: 300)
    var log = try Self.log(of: demo)
    let isBigEndian = log[3] & 1 == 1
    let frame = 24 + 4096
    var sum = LogChecksum()
    sum.add(log, 0..<24, bigEndian: isBigEndian)
    for start in stride(from: 32, through: log.count - frame, by: frame) {
      // Each commit, with a right checksum.
      if log[start + 4..<start + 8].contains(where: { $0 != 0 }) {
        log.replaceSubrange(start + 4..<start + 8, with: [0xE4, 0, 0, 0])
      }
      // The first page states as many.
      if Array(log[start..<start + 4]) == [0, 0, 0, 1] {
        log.replaceSubrange(start + 24 + 28..<start + 24 + 32, with: [0xE4, 0, 0, 0])
      }
      sum.add(log, start..<start + 8, bigEndian: isBigEndian)
      sum.add(log, start + 24..<start + frame, bigEndian: isBigEndian)
      for (place, word) in [(16, sum.first), (20, sum.second)] {
        log.replaceSubrange(
          start + place..<start + place + 4,
          with: (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) })
      }
    }
    try FileSystem.write(log, to: demo.path + "-wal")
    let wal = try WriteAheadLog(besideStore: demo.path)
    try #require(wal.pages == 0xE400_0000, "\(wal)")
    #expect(throws: CoreDataError.self) {
      _ = try StoreFiles(path: demo.path).openForReading(
        wal: wal)
    }
    let diagnosis = try Diagnosis(of: demo.path)
    #expect(
      diagnosis.findings.contains { $0.sentence.contains("3,825,205,248 pages") },
      "\(diagnosis.findings)")
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    #expect(try StoreDump.lines(at: output).count == demo.lines.count)
  }
}

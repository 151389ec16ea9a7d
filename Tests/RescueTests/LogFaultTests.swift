import Files
import Interface
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("What of a -wal is not applied is told")
struct LogFaultTests {
  /// A recipe box whose last changes are in its -wal, spoilt.
  private static func patient(_ spoil: (inout [UInt8]) -> Void) throws -> Patient {
    let patient = try Patient()
    let live = patient.path + ".live"
    try FileSystem.copyOver(patient.path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE)")
    FileSystem.remove(patient.path)
    try FileSystem.copyOver(live, to: patient.path)
    try connection.execute(
      "PRAGMA wal_autocheckpoint = 0; UPDATE ZTAG SET Z_OPT = 7; UPDATE ZRECIPE SET Z_OPT = 8")
    var log = try FileSystem.read(live + "-wal")
    spoil(&log)
    try FileSystem.write(log, to: patient.path + "-wal")
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(live + suffix) }
    return patient
  }

  @Test("the header gone, other salts, a wrong bit, cut off")
  func kinds() throws {
    let spoils: [(FindingKind, (inout [UInt8]) -> Void)] = [
      (.walHeader, { log in for index in 0..<32 { log[index] = 0 } }),
      (.walChecksum, { log in log[32 + 24 + 2000] ^= 1 }),
      (.walCutOff, { log in log.removeLast(log.count / 2) }),
    ]
    for (kind, spoil) in spoils {
      let found = try Self.patient(spoil).finding(kind)
      #expect(found.severity == .error && (found.count ?? 0) > 0, "\(kind)")
      #expect(found.command?.typed.hasPrefix("strata salvage ") == true)
    }
  }

  @Test("what may come of lost frames is not repaired before these are looked for")
  func order() throws {
    let patient = try Self.patient { log in log[32 + 24 + 2000] ^= 1 }
    // The log has no frame that counts: what is written to the file beside it stays.
    let log = try FileSystem.read(patient.path + "-wal")
    FileSystem.remove(patient.path + "-wal")
    try patient.change(
      "PRAGMA journal_mode = DELETE; UPDATE ZSTEP SET ZRECIPE = 9999 WHERE Z_PK = 1")
    try FileSystem.write(log, to: patient.path + "-wal")
    let findings = try patient.diagnosis().findings
    let cause = try #require(findings.first { $0.kind == .walChecksum })
    let link = try #require(findings.first { $0.kind == .toOneDangling })
    #expect(link.command == cause.command && link.advice.text.contains("-wal"))
  }

  @Test("under another name")
  func renamed() throws {
    let patient = try Self.patient { _ in }
    let name = "Recipes (1).sqlite-wal"
    try FileSystem.rename(patient.path + "-wal", to: patient.folder.path(name))
    let found = try patient.finding(.walRenamed)
    #expect(found.first == [name])
    #expect(found.command?.typed.contains("cp -p '\(patient.folder.path(name))'") == true)
  }

  @Test("missing beside a store in WAL mode, which is a note")
  func missing() throws {
    let patient = try Self.patient { _ in }
    FileSystem.remove(patient.path + "-wal")
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.findings.map(\.kind) == [.walMissing] && diagnosis.alarms == [])
  }

  @Test("not downloaded from iCloud, which is a warning, and no -wal that is merely missing")
  func notDownloaded() throws {
    let patient = try Self.patient { _ in }
    try FileSystem.evict(patient.path + "-wal")
    let found = try patient.finding(.notDownloaded)
    #expect(found.severity == .warning && found.first == [".Recipes.sqlite-wal.icloud"])
    #expect(found.advice.text.contains("brctl download Recipes.sqlite-wal"))
    let kinds = try patient.diagnosis().findings.map(\.kind)
    #expect(kinds == [.notDownloaded])
  }

  @Test("a file of external data that is not downloaded is neither missing nor orphaned")
  func externalFile() throws {
    let patient = try Patient()
    let support = patient.folder.path(".Recipes_SUPPORT/_EXTERNAL_DATA")
    let name = try #require(FileSystem.list(support).first)
    try FileSystem.evict(support + "/" + name)
    let findings = try patient.diagnosis().findings
    let found = try #require(findings.first { $0.kind == .externalUnreadable })
    #expect(found.count == 1 && found.sentence.contains("not downloaded from iCloud"))
    #expect(!findings.contains { [.externalMissing, .externalOrphaned].contains($0.kind) })
  }

  @Test("beside an empty main file")
  func emptyMain() throws {
    let patient = try Self.patient { _ in }
    try FileSystem.write([], to: patient.path)
    let diagnosis = try patient.diagnosis()
    let found = try #require(diagnosis.findings.first)
    #expect(found.kind == .emptyMain && (found.count ?? 0) > 0 && diagnosis.isReadable)
    #expect(found.command?.typed.hasPrefix("strata salvage ") == true)
  }

  @Test("older than the store, named before what follows from it", arguments: [false, true])
  func older(hidesPages: Bool) throws {
    let patient = try Self.patient { _ in }
    // Its first page comes into the log with a table, and the store goes on without it.
    let (log, live) = (patient.path + "-wal", patient.path + ".live")
    let connection = try Connection(path: patient.path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute("PRAGMA wal_autocheckpoint = 0; CREATE TABLE AOWN (A)")
    if hidesPages { try connection.execute("UPDATE ZSTEP SET ZTEXT = 'older' WHERE Z_PK % 5 = 0") }
    let old = try FileSystem.read(log)
    try FileSystem.copyOver(log, to: live)
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
    for number in 0..<9 { try connection.execute("INSERT INTO AOWN VALUES (\(number))") }
    if hidesPages {
      // Rows move to new pages, which the log's older ones do not know.
      try connection.execute(
        "UPDATE ZSTEP SET ZTEXT = 'longer ' || hex(zeroblob(200)) WHERE Z_PK % 3 = 0")
    }
    try connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    FileSystem.remove(live)
    FileSystem.remove(patient.path + "-shm")
    try FileSystem.write(old, to: log)
    let found = try patient.diagnosis().findings
    let older = try #require(found.first { $0.kind == .walOlder })
    #expect(older.severity == .error && older.command?.typed.hasSuffix(" --ignore-wal") == true)
    #expect(found.first?.kind == .walOlder)
    let unreadable = found.filter { $0.kind == .pageUnreadable }
    #expect(unreadable.isEmpty == !hidesPages)
    for finding in unreadable {
      #expect(finding.command == older.command && finding.advice.typed.contains("-wal may be"))
    }
  }
}

import Files
import Interface
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

/// The -wal of another store lay beside a tiny one: its two rows were merged, and nothing was said.
@Suite("A -wal of which little shows whose it is")
struct UndecidedLogTests {
  /// The files of a copy of a store: what it is before a change, and the -wal that the change makes.
  private static func files(
    of path: String, before: String = "SELECT 1", logging sql: String
  ) throws -> (main: [UInt8], log: [UInt8]) {
    let copy = path + ".open"
    try FileSystem.copyOver(path, to: copy)
    let connection = try Connection(path: copy, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; \(before); PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = 0; \(sql)
      """)
    let files = (try FileSystem.read(copy), try FileSystem.read(copy + "-wal"))
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(copy + suffix) }
    return files
  }

  private static func look(_ demo: DamagedDemo) throws -> (findings: [Finding], SalvageReport) {
    let output = demo.folder.path("Saved.sqlite")
    FileSystem.remove(output)
    let report = try StoreSalvage.run(path: demo.path, output: output)
    return (try Diagnosis(of: demo.path).findings.filter { $0.kind == .walUnknown }, report)
  }

  @Test("a -wal without an object of the main file is applied, and said to be nobody's for certain")
  func unvouched() throws {
    let demo = try DamagedDemo(objects: 300)
    let all = try Self.files(of: demo.path, logging: "UPDATE ZTAG SET Z_OPT = Z_OPT + 1")
    try FileSystem.write(all.main, to: demo.path)
    try FileSystem.write(all.log, to: demo.path + "-wal")
    let count = try Connection(path: demo.path, mode: .immutable).value("SELECT count(*) FROM ZTAG")
    let (findings, report) = try Self.look(demo)
    let finding = try #require(findings.first)
    #expect(findings.count == 1 && finding.severity == .note)
    #expect(finding.command?.typed.contains("--ignore-wal") == true)
    #expect(!report.isPartial && !report.isMixed)
    let told = SalvageSource.unvouched(Int(count?.integer ?? 0))
    #expect(report.notes.contains { $0.hasSuffix(told) }, "\(report.notes)")
  }

  @Test("objects that came along unchanged show that it is the store's")
  func vouched() throws {
    let demo = try DamagedDemo(objects: 300)
    let half = try Self.files(
      of: demo.path, logging: "UPDATE ZTAG SET Z_OPT = Z_OPT + 1 WHERE Z_PK % 2 = 1")
    try FileSystem.write(half.main, to: demo.path)
    try FileSystem.write(half.log, to: demo.path + "-wal")
    let (findings, report) = try Self.look(demo)
    #expect(findings.isEmpty && !report.isPartial && !report.isMixed, "\(report.notes)")
  }

  @Test("a page of a table where an index begins is another store's")
  func roots() throws {
    let demo = try DamagedDemo(objects: 120)
    let connection = try Connection(path: demo.path, mode: .immutable)
    let index = try #require(
      try connection.rows(
        "SELECT name, rootpage FROM sqlite_master WHERE type = 'index' ORDER BY rowid DESC"
      ).first { $0.first?.text?.hasPrefix("sqlite_") == false }?.first?.text)
    connection.close()
    let own = try Self.files(
      of: demo.path, before: "VACUUM",
      logging: "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Tag'")
    // VACUUM puts tables first: the new one begins where the first index does in the other file, and the two have as
    // many pages.
    let other = try Self.files(
      of: demo.path, before: "DROP INDEX \(quoted(index)); CREATE TABLE more (x); VACUUM",
      logging: "INSERT INTO more VALUES (1)")
    #expect(own.main.count == other.main.count)
    try FileSystem.write(own.main, to: demo.path)
    try FileSystem.write(own.log, to: demo.path + "-wal")
    func contradiction() throws -> LogKinship.Contradiction? {
      try LogKinship(
        of: demo.path + "-wal", store: demo.path, journal: demo.path + "-journal")?.contradiction()
    }
    #expect(try contradiction() == nil)
    try FileSystem.write(other.log, to: demo.path + "-wal")
    let found = try contradiction()
    let isPage = if case .page? = found { true } else { false }
    #expect(isPage, "\(String(describing: found))")
    #expect(try Diagnosis(of: demo.path).findings.first?.kind == .walForeign)
  }

  @Test("counters behind a damaged frame do not make objects another store's")
  func damagedFrame() throws {
    let demo = try DamagedDemo(
      objects: 300, isLogged: true,
      logging: [
        "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 900, Z_ENT, 1, 'new' FROM ZTAG LIMIT 1",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 900 WHERE Z_NAME = 'Tag'",
      ])
    // The page of the last frame is nothing like the one that it should replace.
    try demo.change("-wal") { bytes in
      let page = bytes.count - 4096..<bytes.count
      bytes.replaceSubrange(page, with: repeatElement(0x5A, count: 4096))
    }
    let findings = try Diagnosis(of: demo.path).findings
    #expect(findings.contains { $0.kind == .walChecksum })
    #expect(!findings.contains { $0.kind == .walForeign }, "\(findings.map(\.sentence))")
  }
}

import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("Indexes, free pages and the map of pages are made anew")
struct FileRepairTests {
  private static func pragmas(_ path: String) throws -> [String] {
    let connection = try Connection(path: path, mode: .immutable)
    return try ["page_size", "auto_vacuum", "encoding", "user_version", "application_id"].map {
      "\($0) \(try connection.value("PRAGMA \($0)") ?? .null)"
    }
  }

  private static func schema(_ path: String) throws -> Set<String> {
    let connection = try Connection(path: path, mode: .immutable)
    return Set(
      try connection.rows("SELECT sql FROM sqlite_master").compactMap { $0.first?.text })
  }

  /// A store whose list of free pages begins at a page that is in use.
  private static func spoilFreelist(_ patient: Patient) throws {
    let page = try patient.root(of: "ZSTEP")
    try patient.spoil { bytes in
      bytes.replaceSubrange(32..<40, with: [0, 0, 0, UInt8(page), 0, 0, 0, 7])
    }
  }

  @Test(
    "a list of free pages: every row in a new file, with the ways of the old one",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func freelist() throws {
    let patient = try Patient(objects: 1500)
    let (pragmas, schema) = (try Self.pragmas(patient.path), try Self.schema(patient.path))
    try Self.spoilFreelist(patient)
    try patient.repair(mending: [.freelist])
    #expect(try Self.pragmas(patient.path) == pragmas)
    #expect(try Self.schema(patient.path) == schema)
  }

  @Test(
    "a map of pages, also where there are free ones",
    arguments: TestScale.some(1, of: [false, true]))
  func pointerMap(hasFreePages: Bool) throws {
    let patient = try Patient(objects: 1500)
    if hasFreePages {
      try patient.change(
        "CREATE TABLE T (b); INSERT INTO T VALUES (zeroblob(90000)); DROP TABLE T")
    }
    let pragmas = try Self.pragmas(patient.path)
    try patient.spoil { bytes in
      bytes.replaceSubrange(4096..<8192, with: [UInt8](repeating: 0, count: 4096))
    }
    try patient.repair(mending: [.pointerMap])
    #expect(try Self.pragmas(patient.path) == pragmas)
  }

  @Test("an index that does not agree with its table is made anew, and no other page changes")
  func indexWrong() throws {
    let patient = try Patient(objects: 400)
    try Self.misleadIndex(of: patient)
    let changes = try patient.repair(mending: [.indexWrong])
    #expect(changes.map(\.property) == ["ZSTEP_ZRECIPE_INDEX"], "\(changes)")
  }

  @Test("a key that an index alone is wrong about is no object that is missing")
  func keyOfNoObject() throws {
    // Of the two indexes on amounts one still has the key of each.
    let patient = try Patient(objects: 400)
    try patient.change("UPDATE ZAMOUNT SET Z_PK = 99999 WHERE Z_PK = 3")
    try Self.misleadIndex(
      of: patient, "ZAMOUNT_ZINGREDIENT_INDEX", "ZAMOUNT",
      by: "UPDATE ZAMOUNT SET Z_PK = 3 WHERE Z_PK = 99999")
    try Self.expectOnlyIndex("ZAMOUNT_ZINGREDIENT_INDEX", of: patient)
    // The only index of steps says otherwise, but of a key that no object has.
    let other = try Patient(objects: 400)
    try other.change("UPDATE ZSTEP SET Z_PK = 0 WHERE Z_PK = 3")
    try Self.misleadIndex(of: other, by: "UPDATE ZSTEP SET Z_PK = 3 WHERE Z_PK = 0")
    try Self.expectOnlyIndex("ZSTEP_ZRECIPE_INDEX", of: other)
    // Here it may be that the row was lost that it names.
    let last = try Patient(objects: 400)
    try last.change("UPDATE ZSTEP SET Z_PK = 99999 WHERE Z_PK = 3")
    try Self.misleadIndex(of: last, by: "UPDATE ZSTEP SET Z_PK = 3 WHERE Z_PK = 99999")
    let diagnosis = try last.diagnosis()
    #expect(
      diagnosis.findings.contains { $0.kind == .pageUnreadable && $0.first == ["p99999"] },
      "\(diagnosis.alarms)")
    let output = last.folder.path("Saved.sqlite")
    #expect(try StoreSalvage.run(path: last.path, output: output).missing == ["ZSTEP": [99_999]])
  }

  private static func expectOnlyIndex(_ name: String, of patient: Patient) throws {
    let diagnosis = try patient.diagnosis()
    let errors = diagnosis.findings.filter { $0.severity == .error }
    #expect(errors.map(\.kind) == [.indexWrong], "\(diagnosis.alarms)")
    #expect(errors.first?.command?.typed.hasPrefix("strata repair ") == true)
    let report = try StoreSalvage.run(
      path: patient.path, output: patient.folder.path("Saved.sqlite"))
    #expect(report.missing.isEmpty, "\(report.missing)")
    let changes = try patient.repair(mending: [.indexWrong])
    #expect(changes.map(\.property) == [name], "\(changes)")
  }

  /// Lets a row change behind an index's back.
  private static func misleadIndex(
    of patient: Patient, _ name: String = "ZSTEP_ZRECIPE_INDEX", _ table: String = "ZSTEP",
    by change: String = "UPDATE ZSTEP SET ZRECIPE = 1 WHERE Z_PK = 3"
  ) throws {
    let connection = try Connection(path: patient.path, mode: .readWrite, isDefensive: false)
    let sql = try #require(
      connection.value("SELECT sql FROM sqlite_master WHERE name = '\(name)'")?.text)
    let root = try patient.root(of: name)
    try connection.execute("PRAGMA writable_schema = ON")
    try connection.execute("DELETE FROM sqlite_master WHERE name = '\(name)'")
    connection.close()
    let blind = try Connection(path: patient.path, mode: .readWrite, isDefensive: false)
    for name in ["Insert", "Update", ""] {
      try blind.defineNullFunction("NSCoreDataDATrigger\(name)UpdatedAffectedObjectValue")
    }
    try blind.execute(change)
    try blind.execute("PRAGMA writable_schema = ON")
    try blind.run(
      "INSERT INTO sqlite_master VALUES ('index', ?, ?, ?, ?)",
      [.text(name), .text(table), .integer(Int64(root)), .text(sql)])
    blind.close()
  }

  @Test(
    "an index whose first page is zeros, one that SQLite makes by itself too",
    arguments: TestScale.some(
      1,
      of: [
        "ZSTEP_ZRECIPE_INDEX", "Z_Recipe_UNIQUE_identifier", "sqlite_autoindex_Z_8TAGS_1",
      ]))
  func indexZero(name: String) throws {
    let patient = try Patient(objects: 1500)
    let root = try patient.root(of: name)
    let schema = try Self.schema(patient.path)
    try patient.spoil { bytes in
      let start = (root - 1) * 4096
      bytes.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0, count: 4096))
    }
    try patient.repair(mending: [.indexWrong])
    #expect(try Self.schema(patient.path) == schema)
  }

  @Test("an index over a function that only Core Data has is as it was, in a new file too")
  func functionIndex() throws {
    let patient = try Patient(objects: 1500)
    // Its keys are those of another function, as only its own program can tell them.
    try patient.change("CREATE INDEX OWN ON ZSTEP (abs(ZRECIPE))")
    try Self.rename("abs", "NSCoreDataOwn", in: patient)
    let schema = try Self.schema(patient.path)
    try #require(schema.contains("CREATE INDEX OWN ON ZSTEP (NSCoreDataOwn(ZRECIPE))"))
    try Self.spoilFreelist(patient)
    #expect(try StoreRepair.run(path: patient.path).receipt.isDone)
    #expect(try Self.schema(patient.path) == schema)
    try Self.rename("NSCoreDataOwn", "abs", in: patient)
    let after = try Connection(path: patient.path, mode: .immutable)
    #expect(try after.rows("PRAGMA integrity_check").map { $0.first?.text } == ["ok"])
  }

  /// Gives a function of an index another name, and leaves the index as it is.
  private static func rename(_ name: String, _ other: String, in patient: Patient) throws {
    let connection = try Connection(path: patient.path, mode: .readWrite, isDefensive: false)
    try connection.execute("PRAGMA writable_schema = ON")
    try connection.run(
      "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'OWN'",
      [.text(name), .text(other)])
    connection.close()
  }
}

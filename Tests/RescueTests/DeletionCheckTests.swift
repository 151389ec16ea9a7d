import Interface
import TestSupport
import Testing

@testable import Rescue

@Suite("What was deleted is told, and nothing is wrong with it")
struct DeletionCheckTests {
  /// The note of a store in which nothing else is to be told.
  private static func note(_ patient: Patient) throws -> Finding {
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.alarms == [])
    let found = try patient.finding(.deletions)
    #expect(found.severity == .note)
    #expect(found.command?.typed == "strata undelete \(patient.path)")
    return found
  }

  @Test("where nothing was deleted nothing is said")
  func silent() throws {
    let patient = try Patient()
    #expect(try !patient.diagnosis().findings.contains { $0.kind == .deletions })
    // What an update leaves behind is no deletion.
    try patient.change("UPDATE ZSTEP SET ZTEXT = 'short'")
    #expect(try !patient.diagnosis().findings.contains { $0.kind == .deletions })
  }

  @Test("keys that are no longer in use are counted, by entity")
  func keys() throws {
    let patient = try Patient()
    try patient.change(
      "DELETE FROM ZSTEP WHERE Z_PK % 3 = 0 AND Z_PK <= 30; DELETE FROM ZAMOUNT WHERE Z_PK = 7")
    let found = try Self.note(patient)
    #expect(found.count == 11 && found.entity == "Step")
    #expect(
      found.sentence
        == "11 keys that were given out are no longer in use (Step 10, Amount 1): deleted, never saved, or lost if the store was salvaged."
    )
  }

  @Test("one that was the last is known by Z_MAX")
  func last() throws {
    let patient = try Patient()
    try patient.change("DELETE FROM ZSTEP WHERE Z_PK = (SELECT max(Z_PK) FROM ZSTEP)")
    #expect(
      try Self.note(patient).sentence
        == "1 key that was given out is no longer in use (Step 1): deleted, never saved, or lost if the store was salvaged."
    )
  }

  @Test("of a table that was emptied the pages still hold the rows, unless they were wiped")
  func pages() throws {
    for isWiped in [false, true] {
      let patient = try Patient()
      try patient.change("PRAGMA secure_delete = \(isWiped ? "ON" : "OFF"); DELETE FROM ZSTEP")
      let sentence = try Self.note(patient).sentence
      #expect(sentence.contains("(Step "))
      #expect(sentence.contains("hold rows that were deleted or moved.") == !isWiped, "\(sentence)")
    }
  }

  @Test("a deletion that only the -wal has")
  func log() throws {
    let patient = try Patient()
    try patient.log("DELETE FROM ZSTEP WHERE Z_PK < 5")
    #expect(try Self.note(patient).count == 4)
  }

  @Test("history's deletions are counted")
  func history() throws {
    let patient = try Patient()
    try patient.change(
      """
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZCHANGETYPE INTEGER); \
      INSERT INTO ACHANGE (ZCHANGETYPE) VALUES (0), (1), (2), (2)
      """)
    let found = try patient.finding(.deletions)
    #expect(found.sentence == "History lists 2 deletions." && found.count == nil)
  }

  @Test("rows of a page that cannot be read were not deleted")
  func damaged() throws {
    let demo = try DamagedDemo()
    let root = try #require(demo.roots["ZSTEP"])
    try demo.damage { file in file.zero(page: file.leaves(root: root)[1]) }
    let diagnosis = try Diagnosis(of: demo.path)
    #expect(diagnosis.findings.contains { $0.kind == .pageUnreadable })
    #expect(!diagnosis.findings.contains { $0.kind == .deletions })
  }
}

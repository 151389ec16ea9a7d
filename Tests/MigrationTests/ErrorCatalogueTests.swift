import ManagedModel
import TestSupport
import Testing
import Texts

@testable import ManagedStore
@testable import Migration

@Suite("What Core Data's errors mean")
struct ErrorCatalogueTests {
  /// CoreDataErrors.h and sqlite3.h.
  static let codes: [(ErrorMeaning.Domain, [Int])] = [
    (
      .cocoa,
      [
        1550, 1551, 1560, 1570, 1580, 1590, 1600, 1610, 1620, 1630, 1640, 1650, 1660, 1670, 1680,
        1690, 132000, 132010, 133000, 133010, 133020, 133021, 134000, 134010, 134020, 134030,
        134040, 134050, 134060, 134070, 134080, 134090, 134091, 134100, 134110, 134111, 134120,
        134130, 134140, 134150, 134160, 134170, 134180, 134190, 134200, 134301, 134400, 134405,
        134420, 134504, 134505, 134506,
      ]
    ), (.sqlite, Array(1...28)), (.cloudKit, Array(1...36)),
  ]

  @Test("every code has a meaning, a cause and advice", arguments: codes)
  func complete(domain: ErrorMeaning.Domain, codes: [Int]) throws {
    for code in codes {
      let meaning = try #require(
        ErrorCatalogue.meaning(of: code, domain: domain.rawValue), "\(code)")
      #expect(meaning.code == code && meaning.domain == domain)
      for text in [meaning.meaning, meaning.cause, meaning.advice.text] {
        #expect(text.hasSuffix("."), "\(code): \(text)")
      }
    }
  }

  @Test("every row of the tables is an error or a sentence")
  func tables() {
    let (errors, sentences) = (MessageTable.errors, MessageTable.sentences)
    #expect(errors.faults == [] && sentences.faults == [])
    #expect(ErrorCatalogue.all.count == errors.rows.count)
    #expect(ErrorCatalogue.sentences.map(\.words) == sentences.rows.map(\.name))
    #expect(Set(errors.rows.map(\.name)).count == errors.rows.count)
    #expect(Set(sentences.rows.map(\.name)).count == sentences.rows.count)
  }

  @Test("a table's lines that are no field of a row are told apart")
  func faults() {
    let table = MessageTable(Array("a: b\n## One\n- x: y: z\n- x: two\nprose\n\n## \n- n:".utf8))
    #expect(table.rows.map(\.name) == ["One", ""] && table.rows.first?["x"] == "y: z")
    #expect(table.faults == ["- x: two", "prose", "- n:"])
  }

  @Test("every entry is found by its code and by its name", arguments: ErrorCatalogue.all)
  func found(meaning: ErrorMeaning) {
    #expect(ErrorCatalogue.meaning(of: meaning.code, domain: meaning.domain.rawValue) == meaning)
    if let name = meaning.name { #expect(ErrorCatalogue.meaning(named: name) == meaning) }
    #expect(
      ErrorReport("\(meaning.domain.rawValue) \(meaning.code)").entries.first?.meaning == meaning)
    let text = "Error Domain=\(meaning.domain.rawValue) Code=\(meaning.code) \"(null)\""
    #expect(ErrorReport(text).entries.map(\.meaning) == [meaning])
  }

  @Test("an extended SQLite code is told by itself or by its last byte, an unknown one is unknown")
  func other() {
    let known = ErrorCatalogue.meaning(of: 2067, domain: "NSSQLiteErrorDomain")
    #expect(known?.name == "SQLITE_CONSTRAINT_UNIQUE")
    let extended = ErrorCatalogue.meaning(of: 2579, domain: "NSSQLiteErrorDomain")
    #expect(extended?.name == "SQLITE_CONSTRAINT")
    #expect(ErrorCatalogue.meaning(of: 4711) == nil)
    #expect(ErrorReport("4711").entries == [.init(domain: nil, code: 4711, meaning: nil)])
    #expect(ErrorReport("what a day").entries == [])
    #expect(ErrorReport("NSPOSIXErrorDomain 1").entries.first?.meaning == nil)
  }

  static let log = """
    CoreData: error: -addPersistentStoreWithType: returned error NSCocoaErrorDomain (134110)
    Error Domain=NSCocoaErrorDomain Code=134110 "An error occurred during persistent store migration."
    UserInfo={sourceURL=file:///var/App.sqlite, reason=Cannot migrate store in-place: Validation error
    missing attribute values on mandatory destination attribute, metadata={
        NSPersistenceFrameworkVersion = 1526;
        NSStoreModelVersionHashes =     {
            Event = <6b31f4e9 7b691d16 c4c820ba e55f8940 8d47013b d42151ec fde1eac7 fe4be798>;
            User = {length = 32, bytes = 0x6b31f4e9 7b691d16 c4c820ba e55f8940 ... fde1eac7 fe4be798 };
        };
        NSStoreModelVersionHashesDigest = "0KLB/FnL8roMcgeszeCxnPnvYqnn4VzB2DpFP6csqrDKzLB6fyG5rrVf";
        NSStoreModelVersionHashesVersion = 3;
    }, NSUnderlyingError=0x60 {Error Domain=NSCocoaErrorDomain Code=1570 "(null)" UserInfo={entity=User,
    attribute=petName, NSUnderlyingError=0x61 {Error Domain=NSSQLiteErrorDomain Code=19 "(null)"}}}}
    """

  @Test("a pasted log is taken apart")
  func pasted() throws {
    let report = ErrorReport(Self.log)
    #expect(report.entries.map(\.code) == [134110, 1570, 19])
    #expect(report.entries.map { $0.meaning?.code } == [134110, 1570, 19])
    #expect(report.reasons.first?.hasPrefix("Cannot migrate store in-place") == true)
    #expect(report.entity == "User" && report.property == "petName")
    #expect(report.hashes.keys.sorted() == ["Event", "User"])
    let hash = try #require(
      VersionHash(hex: "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798"))
    #expect(
      report.hashes["Event"]?.isWhole == true && report.hashes["Event"]?.matches(hash) == true)
    #expect(report.hashes["User"]?.isWhole == false && report.hashes["User"]?.matches(hash) == true)
    let other = try #require(VersionHash(bytes: Array(hash.bytes.reversed())))
    #expect(report.hashes["User"]?.matches(other) == false)
  }

  @Test(
    "any mutation of a log is read without harm", arguments: TestScale.some(1, of: [UInt64](0..<4)))
  func mutated(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = Array(Self.log.utf8)
    for _ in 0..<500 {
      let text = String(decoding: random.mutated(bytes), as: UTF8.self)
      #expect(ErrorReport(text).entries.count <= 32)
    }
  }
}

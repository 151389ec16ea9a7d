import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration

@Suite("Errors by their sentences")
struct ErrorSentenceTests {
  @Test(
    "every sentence means something and is found, in any case", arguments: ErrorCatalogue.sentences)
  func found(sentence: ErrorSentence) throws {
    let explanation = try #require(sentence.explanation, "\(sentence.words)")
    for text in [explanation.meaning, explanation.cause, explanation.advice.text] {
      #expect(text.hasSuffix("."), "\(sentence.words): \(text)")
    }
    for text in [sentence.words, sentence.words.uppercased()] {
      let report = ErrorReport("2026-11-23 18:03:00.134110+0000 App[12:34] \(text)\nand on")
      let entry = try #require(report.entries.first, "\(text)")
      #expect(report.entries.count == 1 && entry.count == 1, "\(text)")
      #expect(entry.explanation == explanation, "\(text)")
      #expect(entry.code == sentence.code)
    }
  }

  /// What people pasted in public reports, with words of what it means.
  static let pasted: [(String, String)] = [
    (
      "Validation error missing attribute values on mandatory destination relationship",
      "mandatory"
    ),
    ("The current model reference and the next model reference cannot be equal.", "same checksum"),
    ("Could not cast value of type 'Swift.Optional<Any>' to 'SortMode'", "not optional"),
    (
      "Failed to load optimized model at path '/private/var/App.app/Model.momd/Model 3.omo'",
      "instead"
    ),
    ("Object of class Settings is not among allowed top level class list", "transformer"),
    (
      "Declared Objective-C type \"[Int64]\" for attribute named relatedIDs is not valid",
      "Objective-C does not know"
    ),
    (
      "Attempting to retrieve an NSManagedObjectModel version checksum while the model is still editable.",
      "can still change"
    ),
    ("Error Domain=NSCocoaErrorDomain Code=134081 \"Can't add the same store twice\"", "twice"),
    ("File appeared during sanity check; this seems suspicious", "between two checks"),
    ("Unable to find any managed object models.", "No model"),
    (
      "A persistent store which has been previously added to a coordinator using the iCloud integration options must always be added to the coordinator with the options present in the options dictionary.",
      "iCloud sync"
    ),
    ("Cannot unarchive type from non-NSData object", "do not belong together"),
    (
      "UNIQUE constraint failed: ANSCKRECORDMETADATA.ZENTITYID, ANSCKRECORDMETADATA.ZENTITYPK",
      "two records for one object"
    ),
  ]

  @Test("a sentence of a public report is known", arguments: pasted)
  func report(text: String, words: String) throws {
    let report = ErrorReport(text)
    #expect(report.entries.count == 1, "\(report.entries)")
    let explanation = try #require(report.entries.first?.explanation)
    #expect(explanation.meaning.contains(words), "\(explanation.meaning)")
  }

  @Test(
    "a table of the database by its full name, and a column by a fetch's alias, are the model's")
  func aliases() throws {
    let words = TableWords(try Library.model(Library.version1))
    #expect(words.names(for: "main.ZBOOK") == ["Book"])
    #expect(words.names(for: "main.ZBOOK.ZTITLE") == ["Book.title"])
    #expect(words.names(for: "t0.ZTITLE").contains("Book.title"))
    #expect(words.names(for: "main.ZNOTHING") == [])
    #expect(TableWords.bookkeeping("main.ACHANGE") == "persistent history")
  }

  static let codes: [(String, Int)] = [
    ("错误 134100", 134100), ("错误134100。", 134100), ("(Cocoa-Fehler 134100.)", 134100),
    ("L’opération n’a pas pu s’achever. (erreur Cocoa 134110.)", 134110),
    ("Ошибка Cocoa 1570", 1570), ("（Cocoaエラー１３４１４０）", 134140),
    ("تعذر إكمال العملية. (خطأ Cocoa \u{200F}١٣٤١٠٠\u{200F})", 134100),
    ("No se ha podido completar la operación. (Error 134130 de Cocoa.)", 134130),
    ("त्रुटि १३४१००", 134100), ("sqlite error code:19", 19), ("SQLITE ERROR CODE:522", 522),
    ("CoreData: error: (264) attempt to write a readonly database", 264),
    ("disk I/O error (10)", 10), ("disk I/O error", 10), ("SqliteException(1555): while", 1555),
    ("The operation couldn’t be completed. (CKErrorDomain error 25.)", 25),
  ]

  @Test("a code is read in any language and script, once", arguments: codes)
  func coded(text: String, code: Int) {
    let report = ErrorReport(text)
    #expect(report.entries.map(\.code) == [code], "\(text)")
    #expect(
      report.entries.map(\.count) == [1] && report.entries.first?.explanation != nil, "\(text)")
  }

  @Test(
    "numbers that only look like codes are none",
    arguments: [
      "2016-12-12 00:45:51.134110 App[1947:134100] went well", "0x134100 was freed there",
      "/var/134100/App.sqlite was opened", "version 1.134100.2 of the app",
      "built with Cocoa 10 on it",
      "SQLite 3.39.5 is used here", "18df2417-134100-4978 is its name",
    ])
  func others(text: String) { #expect(ErrorReport(text).entries == [], "\(text)") }

  static let log = """
    11:00 app[87237:134100] [error] error: -addPersistentStoreWithType: returned error Error Domain=\
    NSCocoaErrorDomain Code=134060 "A Core Data error occurred." UserInfo={NSLocalizedFailureReason=\
    CloudKit integration requires that all relationships have an inverse, the following do not:
    Trip: packing
    Item: owner
    The following relationships are configured with unsupported delete rules:
    Trip:stops - Deny}
    CoreData: error: SQLite error code:19, 'UNIQUE constraint failed: ZUSER.ZID, ZUSER.ZDOMAIN'
    11:01 CoreData: error: (264) attempt to write a readonly database
    11:02 CoreData: error: (264) attempt to write a readonly database
    SwiftDataError(_error: SwiftData.SwiftDataError._Error.loadIssueModelContainer, _explanation: nil)
    no such column: t0.ZBAR in SELECT 0, t0.Z_PK FROM ZUSER t0 WHERE t0.ZBAR = ?
    """

  @Test("a pasted log is taken apart: each error once, in order, with what it names")
  func apart() {
    let entries = ErrorReport(Self.log).entries
    #expect(entries.map(\.code) == [134060, 134060, 19, 264, nil, 1])
    #expect(entries.map(\.count) == [1, 1, 1, 2, 1, 1])
    #expect(entries[0].names == ["Trip.packing", "Item.owner"])
    #expect(entries[1].names == ["Trip.stops"])
    #expect(entries[2].names == ["ZUSER.ZID", "ZUSER.ZDOMAIN"])
    #expect(entries[3].meaning?.name == "SQLITE_READONLY_RECOVERY")
    #expect(entries[4].sentence?.speaker == .swiftData)
    #expect(entries[5].names == ["ZUSER.ZBAR"])
  }

  @Test("what descriptions escape is read as it was said")
  func escaped() {
    let report = ErrorReport(
      #"NSUnderlyingError={reason=\"CloudKit integration does not support unique constraints. "#
        + #"The following entities are constrained:\\nUser: id, name\\nTag: text\"}"#)
    #expect(report.entries.first?.names == ["User.id", "User.name", "Tag.text"])
  }

  @Test("a table's and a column's names become the model's")
  func words() throws {
    var tag = Entity("Tag")
    tag.attributes = [Attribute("text", .string)]
    var user = Entity("User")
    user.attributes = [Attribute("id", .uuid)]
    user.relationships = [Relationship("tag", to: "Tag")]
    let words = TableWords(try Model(entities: [user, tag]))
    #expect(words.names(for: "ZUSER.ZID") == ["User.id"])
    #expect(words.names(for: "zuser.ztag") == ["User.tag"])
    #expect(words.names(for: "ZUSER") == ["User"])
    #expect(words.names(for: "ZTEXT") == ["Tag.text"])
    #expect(words.names(for: "ZUSER.Z_PK") == ["the key of User"])
    #expect(words.names(for: "ZOTHER.ZID") == [] && words.names(for: "") == [])
    #expect(TableWords.bookkeeping("ANSCKRECORDMETADATA.ZENTITYPK") != nil)
    #expect(TableWords.bookkeeping("ZUSER") == nil)
  }

  @Test(
    "a text that is too long is read as far as the bound, and that is told",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func long() {
    let filler = String(repeating: "all is well 12 \n", count: ErrorReport.limit / 16)
    let report = ErrorReport("Code: 134100 \(filler) no such table: ZFOO")
    #expect(report.isCut && report.entries.map(\.code) == [134100])
  }

  @Test("a log that says one thing over and over is told once, with names up to a bound")
  func often() {
    let count = TestScale.count(2_000, ofAll: 20_000)
    let lines = (0..<count).map { "no such column: t\($0).ZBAR\($0)" }.joined(separator: "\n")
    let entries = ErrorReport(lines).entries
    #expect(entries.map(\.count) == [count] && entries[0].names.count == 100)
  }

  @Test(
    "any mutation of a log is read without harm", arguments: TestScale.some(1, of: [UInt64](0..<4)))
  func mutated(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = Array(Self.log.utf8)
    for _ in 0..<300 {
      let report = ErrorReport(String(decoding: random.mutated(bytes), as: UTF8.self))
      #expect(report.entries.count <= 32)
      #expect(report.entries.allSatisfy { $0.names.count <= 100 })
    }
  }
}

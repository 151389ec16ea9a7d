import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("strata merge")
struct MergeCommandTests {
  private let shelves: Shelves
  private var output: String { shelves.folder.path("Both.sqlite") }

  init() throws { shelves = try Shelves() }

  private struct Told: Decodable {
    struct Body: Decodable {
      struct Entity: Decodable, Equatable {
        var entity: String
        var old: Int
        var new: Int
        var paired: Int
        var added: Int
        var total: Int
      }
      var output: String?
      var canRun: Bool
      var conflictCount: Int
      var undecided: Int
      var entities: [Entity]
    }
    var merge: Body
  }

  private func merge(_ options: String...) -> Captured {
    Captured(["merge", shelves.a, shelves.b] + options)
  }

  @Test("a new object of the older store comes in; a rehearsal says the same and writes nothing")
  func merged() throws {
    try shelves.add(shelves.a, title: "Only in A", pages: 7)
    let before = try shelves.folder.contents()
    let rehearsal = merge("--dry-run", "--json", "--match", "Person=name")
    #expect(rehearsal.status == .done, "\(rehearsal.err)")
    #expect(try shelves.folder.contents() == before)
    let run = merge("--output", output, "--json", "--match", "Person=name")
    #expect(run.status == .done, "\(run.err)")
    let (told, plan) = (try run.decoded(Told.self).merge, try rehearsal.decoded(Told.self).merge)
    #expect(told.output == output && told.canRun && told.conflictCount == 0)
    #expect(told.entities == plan.entities)
    let book = try #require(told.entities.first { $0.entity == "Book" })
    #expect(book.old == 6 && book.new == 5 && book.paired == 5 && book.added == 1)
    #expect(try Store(path: output).counts()["Book"] == 6)
  }

  @Test("objects that nothing pairs are refused (3), and both options are named")
  func unpaired() throws {
    let run = merge("--output", output)
    #expect(run.status == .refused)
    for words in ["Person (2 objects", "--base FILE", "--match key"] {
      #expect(run.err.contains(words), "\(run.err)")
    }
    let rehearsal = merge("--dry-run")
    #expect(
      rehearsal.status == .refused
        && rehearsal.out.contains("✗ nothing pairs the objects of Person"))
    #expect(FileIdentity(of: output) == nil)
  }

  @Test(
    "conflicts are refused (3), listed with both values, and decided by --prefer; the report has them"
  )
  func conflicts() throws {
    try shelves.change(shelves.a, "UPDATE ZBOOK SET ZTITLE = 'Leak soup' WHERE Z_PK = 1")
    let refused = merge("--output", output, "--match", "Person=name")
    #expect(refused.status == .refused && refused.err.contains("1 object differs"))
    #expect(refused.err.contains("--prefer new") && refused.err.contains("--dry-run lists them"))
    let rehearsal = merge("--dry-run", "--match", "Person=name")
    #expect(rehearsal.status == .refused)
    #expect(rehearsal.out.contains("title: “Leak soup” → “Leek soup”"), "\(rehearsal.out)")
    let report = shelves.folder.path("report.json")
    let run = merge(
      "--output", output, "--match", "Person=name", "--prefer", "old", "--report", report)
    #expect(run.status == .done, "\(run.err)")
    #expect(run.out.contains("OLD’s counts") && run.out.contains("✓ merged: "))
    let text = String(decoding: try FileSystem.read(report), as: UTF8.self)
    #expect(text.contains("Leak soup") && text.contains("\"winner\":\"old\""))
  }

  @Test("what is not known of deletions, and what a mirrored store's app will not do, is said")
  func notes() throws {
    try shelves.add(shelves.a, title: "Only in A", pages: 7)
    let one = merge("--dry-run", "--match", "Person=name")
    #expect(
      one.out.contains("It is unknown whether the added object was deleted in NEW"), "\(one.out)")
    #expect(!one.err.contains("iCloud"))
    try shelves.add(shelves.a, title: "Also only in A", pages: 8)
    try shelves.change(
      shelves.b,
      """
      CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSUPLOAD INTEGER, ZNEEDSCLOUDDELETE INTEGER)
      """)
    let two = merge("--dry-run", "--match", "Person=name")
    #expect(
      two.out.contains("It is unknown which of the 2 added objects were deleted in NEW"),
      "\(two.out)")
    #expect(two.err.contains("the app will not upload what the merge adds"), "\(two.err)")
  }

  @Test("a mirrored store that keeps history is told that its app will upload what came in")
  func mirrored() throws {
    try shelves.add(shelves.a, title: "Only in A", pages: 7)
    try shelves.change(
      shelves.b,
      """
      CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSUPLOAD INTEGER, ZNEEDSCLOUDDELETE INTEGER);
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT,
        ZAUTHOR VARCHAR);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
        ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
      """)
    let run = merge("--output", output, "--match", "Person=name")
    #expect(run.status == .done, "\(run.err)")
    #expect(run.err.contains("will upload merged objects as new ones to all devices"), "\(run.err)")
    #expect(run.out.contains("the app will upload the 1 added"), "\(run.out)")
    let found = try Store(path: output).transactions()
    #expect(found?.map(\.author) == ["strata"] && found?.first?.counts.inserted == 1)
    let again = Captured("history", output, "--find", "Only in A")
    #expect(again.out.contains("+ Book/"), "\(again.out)")
  }

  @Test("wrong words are wrong usage, and stores of two versions get the command that migrates one")
  func usage() throws {
    #expect(merge().status == .usage)
    #expect(merge("--output", output, "--prefer", "newer").status == .usage)
    #expect(merge("--output", output, "--only", "Nobody", "--match", "key").status == .usage)
    #expect(merge("--output", shelves.b, "--match", "key").status != .done)
    let other = shelves.folder.path("Other.sqlite")
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string)]
    try StoreWriter(creating: other, model: Model(entities: [tag])).finish()
    let run = Captured("merge", other, shelves.b, "--output", output)
    #expect(run.status == .refused)
    #expect(run.err.contains("strata migrate \(other) --to \(shelves.b) --output "), "\(run.err)")
  }
}

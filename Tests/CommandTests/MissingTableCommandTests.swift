import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

@Suite("explain, plan and migrate on a store without a table of its model")
struct MissingTableCommandTests {
  private let folder: TemporaryFolder
  private let path: String

  private static func contents(_ entities: [String], more: String = "") -> String {
    "<model>"
      + entities.map {
        "<entity name=\"\($0)\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>\(more)</entity>"
      }.joined() + "</model>"
  }

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("Books.store")
  }

  private func model(_ name: String, _ text: String) throws -> String {
    let place = folder.path(name + ".xcdatamodel")
    try FileSystem.makeDirectory(place)
    try FileSystem.write(Array(text.utf8), to: place + "/contents")
    return place
  }

  /// A store with a book and without the table of tags, of which so many keys were given out.
  private func make(tags: Int) throws -> String {
    let text = Self.contents(["Book", "Tag"])
    try StoreCreation.create(at: path, model: Model(contents: Array(text.utf8)), uuid: "A")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 1, Z_ENT, 1, 'One' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book';
      UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Book';
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(tags) WHERE Z_NAME = 'Tag';
      DROP TABLE ZTAG;
      """)
    connection.close()
    return try model("One", text)
  }

  @Test("explain and plan say what to do", arguments: [(0, "repair"), (9, "undelete")])
  func hints(tags: Int, command: String) throws {
    let own = try make(tags: tags)
    let next = try model(
      "Two",
      Self.contents(
        ["Book", "Tag"],
        more: "<attribute name=\"size\" optional=\"YES\" attributeType=\"String\"/>"))
    for words in [["explain", path, own], ["explain", path, next], ["plan", path, "--to", next]] {
      let run = Captured(words)
      #expect(run.status != .done, "\(words)")
      #expect(run.out.contains("the table ZTAG is missing"), "\(words): \(run.out)")
      let text = run.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(text.contains("strata \(command) \(path)"), "\(words): \(run.out)")
    }
    let explained = Captured("explain", path, next, "--json")
    #expect(explained.out.contains("\"hint\":"))
    guard tags == 0 else { return }
    #expect(Captured("repair", path, "--fix", "table-missing").status == .done)
    #expect(Captured("migrate", path, "--to", next).status == .done)
  }

  @Test("a plan in which the entity goes anyway runs, in place and as a copy")
  func going() throws {
    _ = try make(tags: 9)
    let next = try model("Two", Self.contents(["Book"]))
    let plan = Captured("plan", path, "--to", next)
    #expect(plan.status == .done, "\(plan.out)\(plan.err)")
    let output = folder.path("Copy.sqlite")
    for words in [
      ["migrate", path, "--to", next, "--strategy", "copy", "--output", output],
      ["migrate", path, "--to", next],
    ] {
      let run = Captured(words)
      #expect(run.status == .done, "\(words): \(run.out)\(run.err)")
    }
    #expect(Captured("dump", path).out.contains("One"))
    #expect(Captured("dump", output).out == Captured("dump", path).out)
  }

  /// What a store can lack though its file is sound.
  enum Lack: String, CaseIterable {
    case table = "DROP TABLE ZPAGE"
    case column = "ALTER TABLE ZBOOK DROP COLUMN ZNAME"
    case links = "DROP TABLE Z_1TAGS"

    /// What every command names.
    var words: String {
      switch self {
      case .table: "ZPAGE"
      case .column: "ZNAME"
      case .links: "Z_1TAGS"
      }
    }
  }

  private static let related = """
    <model><entity name="Book"><attribute name="name" optional="YES" attributeType="String"/>\
    <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="books" \
    inverseEntity="Tag"/></entity><entity name="Page"><attribute name="text" optional="YES" \
    attributeType="String"/></entity><entity name="Tag"><relationship name="books" optional="YES" toMany="YES" \
    destinationEntity="Book" inverseName="tags" inverseEntity="Book"/></entity></model>
    """

  private static let filling = """
    INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'One'), (2, 1, 1, 'Two');
    INSERT INTO ZPAGE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 2, 1, 'text');
    INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
    INSERT INTO Z_1TAGS VALUES (1, 1);
    UPDATE Z_PRIMARYKEY SET Z_MAX = 2;
    """

  private func store(_ name: String, without lack: String? = nil) throws -> String {
    let place = folder.path(name)
    try StoreCreation.create(
      at: place, model: Model(contents: Array(Self.related.utf8)), uuid: "B")
    let connection = try Connection(path: place, mode: .readWrite)
    try connection.execute(Self.filling + (lack ?? ""))
    connection.close()
    return place
  }

  @Test(
    "no command takes a store without a table, a column or links for whole",
    arguments: Lack.allCases)
  func everywhere(lack: Lack) throws {
    let whole = try store("Whole.sqlite")
    let short = try store("Short.sqlite", without: lack.rawValue)
    let model = try model("Related", Self.related)
    let calls = [
      ["info", short], ["rows", short, "Tag"], ["dump", short], ["search", short, "One"],
      ["object", short, "Tag/p1"], ["object", short, "Page/p9"], ["history", short],
      ["export", short, "--output", folder.path("Out")],
      ["anonymize", short, "--output", folder.path("Anonymous.sqlite")],
      ["compare", whole, short], ["compare", short, whole], ["verify", whole, short],
      ["verify", short, whole], ["edit", short, "Tag/p1", "books=", "--dry-run"],
      ["merge", whole, short, "--output", folder.path("Merged.sqlite")],
      ["plan", short, "--to", model], ["explain", short, model], ["doctor", short],
      ["salvage", short, "--output", folder.path("Saved.sqlite")],
    ]
    for words in calls {
      let run = Captured(words)
      let text = (run.out + run.err).split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(run.status != .done && run.status != .failed, "\(words): \(run.status) \(text)")
      for claim in ["are equal", "nothing is known to be lost", "nothing is wrong"] {
        #expect(!text.contains(claim), "\(words): \(text)")
      }
      if run.status == .unreadable { #expect(text.contains(lack.words), "\(words): \(text)") }
      let isNo = ["explain", "plan", "doctor", "salvage", "edit", "merge", "anonymize"]
      #expect(run.status == .unreadable || isNo.contains(words[0]), "\(words): \(run.status)")
    }
    // What a salvage makes is mended by the command that it names.
    let saved = folder.path("Saved.sqlite")
    let report = Captured("salvage", short, "--output", folder.path("Again.sqlite")).out
    switch lack {
    case .table: #expect(report.contains("strata undelete"), "\(report)")
    case .column:
      #expect(report.contains("lacks columns"), "\(report)")
      return
    case .links:
      #expect(report.contains("--fix table-missing --force"), "\(report)")
      #expect(Captured("repair", saved, "--fix", "table-missing", "--force").status == .done)
    }
    #expect(Captured("doctor", saved).status == .done)
  }

  @Test(
    "a store whose model is gone is compared with one that has it only by a model that is given")
  func withoutModel() throws {
    let whole = try store("Whole.sqlite")
    let bare = try store(
      "Bare.sqlite",
      without: "DELETE FROM Z_MODELCACHE; UPDATE ZBOOK SET ZNAME = 'Three' WHERE Z_PK = 2")
    let model = try model("Related", Self.related)
    let run = Captured("compare", whole, bare)
    #expect(run.status == .unreadable && run.err.contains("--model"), "\(run.out)\(run.err)")
    #expect(!run.out.contains("equal"))
    let given = Captured("compare", whole, bare, "--model", model)
    #expect(given.status == .no, "\(given.out)\(given.err)")
    #expect(given.out.contains("Three"), "\(given.out)")
  }
}

import Files
import ManagedModel
import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("strata search, frequencies, history; rows as Markdown")
struct LookingCommandTests {
  private static func store(in folder: TemporaryFolder, history: Bool = false) throws -> String {
    let path = folder.path("Notes.sqlite")
    var note = Entity("Note")
    note.attributes = [
      Attribute("title", .string, optional: true), Attribute("stars", .integer16, optional: true),
      Attribute("body", .string, optional: true),
    ]
    let writer = try StoreWriter(creating: path, model: Model(entities: [note]))
    for (title, stars, body) in [
      ("Crème | brûlée", 3, "two\nlines"), ("*Soup*", 3, "\u{1B}[31mred"), ("Stew", 1, "\"q\", x"),
    ] {
      try writer.insert(
        "Note",
        attributes: [
          "title": .string(title), "stars": .integer(Int64(stars)), "body": .string(body),
        ])
    }
    try writer.finish()
    if history {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(
        """
        CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB );
        CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR );
        INSERT INTO ATRANSACTION VALUES (1, 700000000, 'app'), (2, 700000060, 'widget');
        INSERT INTO ACHANGE VALUES (1, 0, 1, 1, 1, NULL), (2, 2, 1, 9, 2, NULL);
        """)
      connection.close()
    }
    return path
  }

  @Test("search prints objects, properties and words around, and status 1 where there is nothing")
  func search() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let found = Captured("search", path, "creme")
    #expect(found.status == .done)
    #expect(found.out == "Note/p1  title  Crème | brûlée\n")
    #expect(Captured("search", path, "red").out.contains("\u{1B}") == false)
    #expect(Captured("search", path, "zzz").status == .no)
    #expect(
      Captured("search", path, "stew", "--json").out
        == #"{"excerpt":"Stew","object":"Note/p3","property":"title"}"# + "\n")
    #expect(Captured("search", path, "e", "--entity", "Nota").status == .usage)
  }

  @Test("frequencies prints counts, shares and bars")
  func frequencies() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let found = Captured("frequencies", path, "Note", "stars")
    #expect(
      found.out == """
        Note.stars
        3 objects, 2 distinct values, 0 without a value, 1 to 3, mean 2.333
        2  66.7 %  █████████████▎  3
        1  33.3 %  ██████▋         1

        """)
    let json = Captured("frequencies", path, "Note", "title", "--where", "stars = 1", "--json")
    #expect(
      json.out
        == #"{"distinct":1,"entity":"Note","maximum":null,"mean":null,"minimum":null,"nulls":0,"property":"title","total":1,"values":[{"count":1,"isCut":false,"label":null,"value":"Stew"}]}"#
        + "\n")
    #expect(Captured("frequencies", path, "Note", "titel").status == .usage)
  }

  @Test("history --versions prints the models that the store had, and find-model looks for them")
  func versions() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, history: true)
    #expect(Captured("history", path, "--versions").err.contains("no migration of this store"))
    let former = try Store(path: path).model
    var note = try #require(former.entity(named: "Note"))
    note.attributes.append(Attribute("colour", .string, optional: true))
    let next = folder.path("Next.xcdatamodel")
    try FileSystem.makeDirectory(next)
    try FileSystem.create(
      next + "/contents", holding: Array(Model(entities: [note]).xcdatamodelContents().utf8))
    let old = folder.path("Old.xcdatamodel")
    try FileSystem.makeDirectory(old)
    try FileSystem.create(old + "/contents", holding: Array(former.xcdatamodelContents().utf8))
    let migrated = Captured("migrate", path, "--to", next, "--no-backup")
    #expect(migrated.status == .done, "\(migrated.err)")
    let digest = former.versionHashesDigest
    let text = Captured("history", path, "--versions")
    #expect(text.lines.count == 2)
    #expect(text.lines.first?.contains("model \(digest)  left by a lightweight migration") == true)
    #expect(text.lines.last?.hasPrefix("now  model ") == true)
    #expect(text.err.contains("strata find-model \(path) PATH…"))
    let json = Captured("history", path, "--versions", "--json").lines
    #expect(json.first?.contains(#""current":false"#) == true)
    #expect(json.first?.contains(#""migrator":"lightweight""#) == true)
    #expect(json.last?.contains(#""current":true"#) == true)
    let found = Captured("find-model", path, folder.path)
    #expect(found.status == .done)
    #expect(found.out.contains("before transaction 3 ("))
    #expect(found.out.contains("): Old\n  in \(old)\n"), "\(found.out)")
    #expect(
      Captured("find-model", path, next, "--json").out.contains(#""found":null"#))
  }

  @Test("info explains a deferred migration, and what a migration of the app left beside the store")
  func migrationsOfApps() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      "ALTER TABLE ZNOTE ADD COLUMN _DEFERRED_0123456789ABCDEF0123456789abcdef__ZOLD VARCHAR")
    connection.close()
    try FileSystem.create(
      folder.path(".Notes.sqlite.migrationdestination_41b5a6b5c6e848c462a8480cd24caef3"),
      holding: [1])
    let told = Captured("info", path)
    #expect(told.status == .done)
    #expect(told.out.contains("· A lightweight migration of this store was deferred. 1 column"))
    #expect(told.out.contains("ZNOTE.ZOLD"))
    #expect(told.out.contains("41b5a6b5c6e848c462a8480cd24caef3 (1 bytes) is beside the store"))
    #expect(!told.out.contains("! "), "\(told.out)")
    #expect(Captured("explain", path, path).out.contains("was deferred"))
  }

  @Test("history prints transactions and their changes, newest first")
  func history() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, history: true)
    #expect(
      Captured("history", path, "--changes").out == """
        2  2023-03-08T20:27:40Z  +0 ~0 -1  author widget
          - Note/p9
        1  2023-03-08T20:26:40Z  +1 ~0 -0  author app
          + Note/p1  Crème | brûlée

        """)
    #expect(Captured("history", path, "--limit", "1", "--author", "app").out.hasPrefix("1 "))
    #expect(
      Captured("history", path, "--authors", "--json").out.split(separator: "\n").count == 2)
    let none = try TemporaryFolder()
    #expect(Captured("history", try Self.store(in: none)).status == .no)
  }

  @Test("history says of each name of a transaction what it names")
  func historyNames() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, history: true)
    let connection = try Connection(path: path, mode: .readWrite)
    for column in ["ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"] {
      try connection.execute("ALTER TABLE ATRANSACTION ADD COLUMN \(column) VARCHAR")
    }
    try connection.execute(
      """
      UPDATE ATRANSACTION SET ZBUNDLEID = 'com.example.notes', ZCONTEXTNAME = 'app';
      UPDATE ATRANSACTION SET ZAUTHOR = NULL, ZPROCESSID = 'app' WHERE Z_PK = 2
      """)
    connection.close()
    #expect(
      Captured("history", path).out == """
        2  2023-03-08T20:27:40Z  +0 ~0 -1  context app  process app
        1  2023-03-08T20:26:40Z  +1 ~0 -0  author app  context app  bundle com.example.notes

        """)
  }

  @Test("history of one object prints what each transaction did to it, also after its deletion")
  func historyOfOne() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, history: true)
    #expect(
      Captured("history", path, "Note/p1").out == """
        1  2023-03-08T20:26:40Z  +1 ~0 -0  author app
          + Note/p1  Crème | brûlée

        """)
    #expect(Captured("history", path, "Note/p9").out.hasSuffix("widget\n  - Note/p9\n"))
    let none = Captured("history", path, "Note/p2")
    #expect(none.status == .no && none.out.isEmpty)
    #expect(none.err.contains("no change of Note/p2"))
    #expect(Captured("history", path, "Nose/p1").status == .usage)
  }

  @Test("history --find prints what happened to objects with a text, a key or that are deleted")
  func historyOfText() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, history: true)
    let one = Captured("history", path, "Note/p1").out
    #expect(Captured("history", path, "--find", "brulee").out == one)
    #expect(Captured("history", path, "--find", "p1").out == one)
    #expect(Captured("history", path, "--find", "p9").out.hasSuffix("widget\n  - Note/p9\n"))
    // An author's transactions are told without the objects that nothing was found in.
    let author = Captured("history", path, "--find", "WIDG").out
    #expect(author == "2  2023-03-08T20:27:40Z  +0 ~0 -1  author widget\n", "\(author)")
    let none = Captured("history", path, "--find", "nothing like it")
    #expect(none.status == .no && none.out.isEmpty)
    #expect(none.err.contains("no change of “nothing like it”"))
  }

  @Test("history names the model that a migration found instead of its author's long name")
  func migratedFrom() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, history: true)
    let author =
      "com.apple.coredata.schemamigrator: lightweight migration from model with digest { "
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ATRANSACTION SET ZAUTHOR = '\(author)AbC= }' WHERE Z_PK = 1")
    connection.close()
    let text = Captured("history", path).out
    #expect(text.hasSuffix("+1 ~0 -0  lightweight migration from model AbC=\n"), "\(text)")
  }

  @Test("the article on formats shows the members that history prints")
  func historyArticle() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder, history: true)
    let printed = try Captured("history", path, "--changes", "--json").lines.map {
      try Captured.decoded(Shelves.JSON.self, from: Array($0.utf8)).keys
    }
    #expect(try printed.first == FormatsArticle.example("{\"author\"").keys)
    #expect(try printed.last == FormatsArticle.example("{\"change\":\"update\",\"label\"").keys)
    let author = try #require(Captured("history", path, "--authors", "--json").lines.first)
    try FormatsArticle.expectMembers(of: author, like: "{\"author\":\"widget\"", in: ["counts"])
    let migrated =
      "com.apple.coredata.schemamigrator: lightweight migration from model with digest { AbC= }"
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ATRANSACTION SET ZAUTHOR = '\(migrated)' WHERE Z_PK = 1")
    connection.close()
    let versions = Captured("history", path, "--versions", "--json").lines
    #expect(versions.count == 2)
    try FormatsArticle.expectMembers(
      of: try #require(versions.first), like: "{\"current\":false")
    try FormatsArticle.expectMembers(of: try #require(versions.last), like: "{\"current\":true")
    let hit = try #require(Captured("search", path, "stew", "--deep", "--json").lines.first)
    try FormatsArticle.expectMembers(of: hit, like: "{\"excerpt\"")
  }

  @Test("rows as Markdown escape what would end a cell or begin a tag")
  func markdown() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    #expect(
      Captured("rows", path, "Note", "--format", "markdown", terminal: true).out == """
        | key | body | stars | title |
        | --: | --- | --: | --- |
        | 1 | two<br>lines | 3 | Crème \\| brûlée |
        | 2 | ␛\\[31mred | 3 | \\*Soup\\* |
        | 3 | "q", x | 1 | Stew |

        """)
  }
}

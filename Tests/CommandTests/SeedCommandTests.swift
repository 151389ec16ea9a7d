import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("seed, and rehearse --seeded")
struct SeedCommandTests {
  private let place: StoreFolder

  init() throws { place = try StoreFolder() }

  private func path(_ name: String) -> String { place.folder.path(name) }

  private struct Seeded: Decodable {
    struct Body: Decodable {
      var store: String
      var model: String
      var objects: Int
      var seed: String
      var entities: [String: Int]
      var externalFiles: Int
      var edgeCases: [String]
      var notes: [String]
    }
    var seeded: Body
  }

  @Test("a store of any version is written, told as a table and as JSON")
  func seed() throws {
    let run = Captured("seed", place.bundle + "@Recipes", path("A.sqlite"), "--objects", "300")
    #expect(run.status == .done, "\(run.err)")
    #expect(run.out.contains("Recipe"))
    #expect(run.out.contains("300 objects of model “Recipes”, seed 1"))
    #expect(Captured("doctor", path("A.sqlite")).status == .done)
    let json = Captured(
      "seed", place.bundle, path("B.sqlite"), "--objects", "300", "--seed", "9", "--json")
    let told = try json.decoded(Seeded.self).seeded
    #expect(told.model == "Recipes 2" && told.objects == 300 && told.seed == "9")
    #expect(told.entities["Recipe"] ?? 0 > 0 && told.edgeCases.isEmpty)
    #expect(try Store(path: path("B.sqlite")).counts().values.reduce(0, +) == 300)
  }

  @Test("the same words give the same objects; a store's model will do as well")
  func same() throws {
    let store = try place.add("App.sqlite")
    for name in ["A.sqlite", "B.sqlite"] {
      #expect(Captured("seed", store, path(name), "--seed", "4").status == .done)
    }
    let dump = Captured("dump", path("A.sqlite")).out
    #expect(dump.count > 1000 && dump == Captured("dump", path("B.sqlite")).out)
  }

  @Test("another store's counts are taken, and edge cases are told")
  func likeAndEdges() throws {
    let store = try place.add("App.sqlite")
    let counts = try Store(path: store).counts()
    let run = Captured(
      "seed", place.bundle + "@Recipes", path("L.sqlite"), "--like", store, "--json")
    #expect(run.status == .done, "\(run.err)")
    #expect(try Store(path: path("L.sqlite")).counts() == counts)
    // What cannot be counted is told.
    let connection = try Connection(path: store, mode: .readWrite)
    try connection.execute("DROP TABLE ZSTEP")
    connection.close()
    let short = Captured("seed", place.bundle + "@Recipes", path("S.sqlite"), "--like", store)
    #expect(short.status == .unreadable && short.err.contains("ZSTEP"), "\(short.err)")
    let edges = Captured("seed", place.bundle, path("E.sqlite"), "--edge-cases")
    #expect(edges.out.contains("edge case: ten megabytes of text in "))
    #expect(edges.out.contains("edge case: two files of external data that no object references"))
  }

  @Test(
    "what makes no sense is told",
    arguments: [
      (["--objects", "0"], CommandStatus.usage, "--objects takes a whole number of at least 1"),
      (["--objects", "99999999999999"], .usage, "--objects takes at most"),
      (["--seed", "-1"], .usage, "--seed takes a whole number of at least 0"),
      (["--like", "/nowhere.sqlite"], .unreadable, "/nowhere.sqlite"),
    ])
  func wrong(words: [String], status: CommandStatus, text: String) throws {
    let run = Captured(["seed", place.bundle, path("W.sqlite")] + words)
    #expect(run.status == status, "\(run.err)")
    #expect(run.err.contains(text), "\(run.err)")
    #expect(FileSystem.status(path("W.sqlite")) == nil)
  }

  @Test("a file that is there is refused")
  func existing() throws {
    let store = try place.add("App.sqlite")
    let run = Captured("seed", place.bundle, store)
    #expect(run.status == .refused && run.err.contains("the file exists already"))
  }

  private func rehearse(_ words: String...) -> Captured {
    Captured(["rehearse", "--seeded", place.bundle, "--objects", "150"] + words)
  }

  @Test(
    "a store of each version is made and migrated to the current one",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func rehearsal() {
    let run = rehearse("--json")
    // From the fourth of the demo's versions no way leads back to the second.
    #expect(run.status == .refused)
    for version in ["Recipes", "Recipes 2", "Recipes 3", "Recipes 4"] {
      #expect(run.out.contains("\"store\":\"\(place.bundle)@\(version)\""), "\(version)")
    }
    #expect(run.out.contains("\"seeded\":{\"objects\":150"))
    let text = rehearse()
    #expect(text.out.contains("Recipes → Recipes 2"))
    #expect(text.out.contains("nothing to do"))
    #expect(text.out.contains("there is no migration path from “Recipes 4”"))
    #expect(!text.out.contains("strata-copy") && !text.err.contains("strata-copy"))
  }

  /// Two versions, the second with a mandatory attribute, and a recipe that fills it.
  private func shelf(_ value: String) throws -> (bundle: String, recipe: String) {
    let bundle = path("Shelf.xcdatamodeld")
    var book = Entity("Book")
    book.attributes = [Attribute("title", .string), Attribute("number", .integer64)]
    book.uniquenessConstraints = [["number"]]
    for (name, isNew) in [("Shelf", false), ("Shelf 2", true)] {
      if isNew {
        book.attributes.append(Attribute("shelfMark", .string))
        book.uniquenessConstraints.append(["shelfMark"])
      }
      let folder = bundle + "/\(name).xcdatamodel"
      try FileSystem.makeDirectory(folder)
      try FileSystem.write(
        Array(try Model(entities: [book]).xcdatamodelContents().utf8), to: folder + "/contents")
    }
    let recipe = path("shelf.json5")
    try FileSystem.write(
      Array(
        """
        { from: "Shelf", to: "Shelf 2", entityMappings: [
          { source: "Book", destination: "Book", attributes: { shelfMark: "\(value)" } } ] }
        """.utf8), to: recipe)
    return (bundle, recipe)
  }

  @Test(
    "a mapping that is broken is found, one that is whole is not",
    arguments: [
      ("'S' || number", CommandStatus.done), ("'S' || (number % 7)", .refused), ("NULL", .refused),
    ])
  func brokenMapping(value: String, status: CommandStatus) throws {
    let (bundle, recipe) = try shelf(value)
    let run = Captured(
      "rehearse", "--seeded", bundle, "--to", bundle + "@Shelf 2", "--mapping", recipe,
      "--objects", "60")
    #expect(run.status == status, "\(run.out) \(run.err)")
    if status == .done { #expect(run.out.contains("Shelf → Shelf 2")) }
  }

  @Test("expectations are of each version's result, by the version's name")
  func expectations() throws {
    let (bundle, recipe) = try shelf("'S' || number")
    func run(_ text: String) throws -> Captured {
      try FileSystem.write(Array(text.utf8), to: path("expect.json5"))
      return Captured(
        "rehearse", "--seeded", bundle, "--to", bundle + "@Shelf 2", "--mapping", recipe,
        "--objects", "60", "--expect", path("expect.json5"))
    }
    let good = try run("{ counts: { Book: 60 }, stores: { 'Shelf': { counts: { Book: 60 } } } }")
    #expect(good.status == .done, "\(good.out) \(good.err)")
    #expect(good.out.contains("expectations: 2 of 2 hold"))
    let bad = try run("{ counts: { Book: 61 } }")
    #expect(bad.status == .no && bad.out.contains("✗ Book: 60 objects, expected 61"))
    #expect(try run("{ stores: { 'Shelf 9': {} } }").status == .usage)
  }

  @Test("what all refused versions would lose is told together, and how to begin a recipe")
  func ways() throws {
    let bundle = path("Notes.xcdatamodeld")
    for (name, attributes) in [
      ("Notes", ["a", "b"]), ("Notes 2", ["b", "c"]), ("Notes 3", ["d"]),
    ] {
      var note = Entity("Note")
      note.attributes = attributes.map { Attribute($0, .string) }
      for index in note.attributes.indices { note.attributes[index].defaultValue = .string("x") }
      let folder = bundle + "/\(name).xcdatamodel"
      try FileSystem.makeDirectory(folder)
      try FileSystem.write(
        Array(try Model(entities: [note]).xcdatamodelContents().utf8), to: folder + "/contents")
    }
    let words = ["rehearse", "--seeded", bundle, "--objects", "20"]
    let run = Captured(words)
    #expect(run.status == .refused)
    let together = "--allow-loss Note.a --allow-loss Note.b --allow-loss Note.c"
    let told = run.out.split(whereSeparator: { $0 == " " || $0 == "\n" }).joined(separator: " ")
    #expect(told.contains("to accept what all of them would lose: \(together)"), "\(run.out)")
    #expect(!run.out.contains("a recipe to start with"))
    let allowed = Captured(words + together.split(separator: " ").map(String.init))
    #expect(allowed.status == .done, "\(allowed.out)\(allowed.err)")
    #expect(!allowed.out.contains("to accept what"))
    // Each version has a line as soon as it is done, and one for all that was accepted of it.
    #expect(allowed.err.contains("3 of 3  Notes"), "\(allowed.err)")
    #expect(allowed.out.contains("@Notes: lost, as accepted: Note.a, "), "\(allowed.out)")
    let list = path("losses.txt")
    #expect(Captured(words + ["--write-losses", list]).status == .refused)
    let written = String(decoding: try FileSystem.read(list), as: UTF8.self)
    #expect(written.contains("Note.b  # 2 of 3: Notes, Notes 2\n"), "\(written)")
    #expect(Captured(words + ["--allow-loss-file", list]).status == .done)
  }

  @Test("a bundle that names no current version has its last one taken, and that is told")
  func noCurrent() throws {
    let (bundle, recipe) = try shelf("'S' || number")
    let run = Captured(
      "rehearse", "--seeded", bundle, "--mapping", recipe, "--objects", "20")
    #expect(run.status == .done, "\(run.out) \(run.err)")
    #expect(run.err.contains("“Shelf 2”, the last, is taken"))
  }

  @Test("a mapping is used by the versions before it, and one that is for no step is noted")
  func mappingOnTheWay() throws {
    let (bundle, recipe) = try shelf("'S' || number")
    let last = bundle + "/Shelf 3.xcdatamodel"
    try FileSystem.makeDirectory(last)
    let second = try FileSystem.read(bundle + "/Shelf 2.xcdatamodel/contents")
    var book = try #require(try Model(contents: second).entity(named: "Book"))
    book.attributes.append(Attribute("note", .string, optional: true))
    try FileSystem.write(
      Array(try Model(entities: [book]).xcdatamodelContents().utf8), to: last + "/contents")
    let words = ["rehearse", "--seeded", bundle, "--objects", "20", "--mapping", recipe]
    let run = Captured(words + ["--to", bundle + "@Shelf 3"])
    #expect(run.status == .done, "\(run.out) \(run.err)")
    #expect(run.out.contains("Shelf → Shelf 3") && run.out.contains("Shelf 2 → Shelf 3"))
    #expect(!run.err.contains("no mapping of --mapping"))
    let unused = Captured(
      ["rehearse", "--seeded", last, "--objects", "20", "--mapping", recipe, "--to", last])
    #expect(unused.status == .done, "\(unused.out) \(unused.err)")
    #expect(unused.err.contains("no mapping of --mapping"), "\(unused.err)")
  }

  @Test(
    "words that contradict each other are told",
    arguments: [
      ["rehearse", "--seeded", "A.xcdatamodeld", "B.sqlite"],
      ["rehearse", "--seeded", "A.xcdatamodeld", "--from", "B"],
      ["rehearse", "B.sqlite", "--to", "A", "--objects", "5"],
      ["rehearse", "B.sqlite", "--to", "A", "--edge-cases"], ["rehearse"],
    ])
  func contradictions(words: [String]) { #expect(Captured(words).status == .usage) }

  @Test("versions of Swift source are seeded too")
  func swift() throws {
    try FileSystem.write(
      Array(
        """
        enum V1: VersionedSchema {
          static var versionIdentifier = Schema.Version(1, 0, 0)
          static var models: [any PersistentModel.Type] { [Trip.self] }
          @Model class Trip { var name: String = ""; var tags: [String] = []; init() {} }
        }
        enum V2: VersionedSchema {
          static var versionIdentifier = Schema.Version(2, 0, 0)
          static var models: [any PersistentModel.Type] { [Trip.self] }
          @Model class Trip {
            var name: String = ""; var tags: [String] = []; var note: String?; init() {}
          }
        }
        enum Plan: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
          static var stages: [MigrationStage] {
            [.lightweight(fromVersion: V1.self, toVersion: V2.self)]
          }
        }
        """.utf8), to: path("Models.swift"))
    let run = Captured("rehearse", "--seeded", path("Models.swift"), "--objects", "40")
    #expect(run.status == .done, "\(run.out) \(run.err)")
    #expect(run.out.contains("V1 → V2"))
  }
}

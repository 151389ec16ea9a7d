import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import strata

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("explain and reset")
struct ExplainTests {
  private let folder: TemporaryFolder
  private let store: String
  private let bundle: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("Recipes.sqlite")
    bundle = folder.path("Recipes.xcdatamodeld")
    _ = try DemoCommand.write(to: folder.path, objects: 60)
  }

  private struct Explained: Decodable {
    struct Change: Decodable { let property: String?, description: String }
    struct Entity: Decodable {
      let name, problem: String
      let changes: [Change]
    }
    struct Inference: Decodable { let possible: Bool? }
    struct Nearest: Decodable {
      let name: String
      let matching, entities: Int
    }
    let compatible: Bool
    let code: Int?
    let entities: [Entity]
    let inference: Inference
    let nearest: Nearest?
  }

  @Test("the model that made the store opens it, another does not, and why")
  func stores() throws {
    let yes = Captured("explain", store, bundle + "@Recipes", "--json")
    #expect(yes.status == .done)
    #expect(try yes.decoded(Explained.self).compatible)
    let no = Captured("explain", store, bundle + "@Recipes 2", "--json")
    #expect(no.status == .no)
    let explained = try no.decoded(Explained.self)
    #expect(!explained.compatible && explained.code == 134100)
    #expect(explained.entities.contains { $0.name == "Rating" && $0.problem == "missingInStore" })
    #expect(explained.entities.allSatisfy { !$0.changes.isEmpty })
    #expect(explained.inference.possible == true)
    #expect(explained.nearest?.name == "Recipes")
    let text = Captured("explain", store, bundle)
    #expect(text.status == .no && text.out.contains("134100"))
    #expect(text.out.contains("The store has the version “Recipes”."))
    #expect(Captured("explain", store).status == .usage)
    #expect(Captured("explain", folder.path("none"), bundle).status == .unreadable)
  }

  @Test("errors are explained by code and by text; an unknown one says so")
  func errors() throws {
    let one = Captured("explain", "--error", "134140")
    #expect(one.status == .done && one.out.contains("NSMigrationMissingMappingModelError"))
    let unknown = Captured("explain", "--error", "4711")
    #expect(unknown.status == .no && unknown.out.contains("does not know this code"))
    let text = Captured(
      "explain", "--error",
      "Error Domain=NSCocoaErrorDomain Code=256 \u{1B}[2J reason=\u{1B}[31mred", "--json")
    #expect(text.status == .done && !text.out.utf8.contains(0x1B))
    #expect(Captured("explain", store, bundle, "--error", "1").status == .usage)
  }

  private struct Errors: Decodable {
    struct Name: Decodable, Equatable {
      let text: String
      let model: [String]
    }
    struct Entry: Decodable {
      let code: Int?
      let sentence, meaning: String?
      let names: [Name]
      let count: Int
    }
    let errors: [Entry]
  }

  @Test("a log in a file is told in the words of the store or the model at hand")
  func log() throws {
    let log = folder.path("App.log")
    let text = """
      error: UNIQUE constraint failed: ZRECIPE.ZTITLE
      error: UNIQUE constraint failed: ZRECIPE.ZTITLE
      \u{1B}[31mDuplicate version checksums detected.
      """
    try FileSystem.write(Array(text.utf8), to: log)
    for place in [store, bundle] {
      let told = Captured("explain", place, "--error", log, "--json")
      #expect(told.status == .done)
      let errors = try told.decoded(Errors.self).errors
      #expect(errors.map(\.code) == [2067, nil] && errors.map(\.count) == [2, 1])
      #expect(errors[0].names == [.init(text: "ZRECIPE.ZTITLE", model: ["Recipe.title"])])
    }
    let plain = Captured("explain", "--error", log)
    #expect(plain.out.contains("(appears 2 times)") && plain.out.contains("strata explain STORE"))
    #expect(!plain.out.utf8.contains(0x1B))
    #expect(
      Captured("explain", store, "--error", log).out.contains("ZRECIPE.ZTITLE is Recipe.title"))
    #expect(Captured("explain", "--error", "all is well with it").status == .no)
  }

  @Test("advice names the store that was given, as a shell takes it")
  func adviceNamesStore() throws {
    let odd = folder.path("it's mine.sqlite")
    try FileSystem.copyOver(store, to: odd)
    let quoted = ShellText.quoted(odd)
    func words(_ arguments: String...) -> String {
      Captured(["explain"] + arguments + ["--error", "134140"]).out.split(
        whereSeparator: \.isWhitespace
      )
      .joined(separator: " ")
    }
    #expect(words().contains("strata explain STORE MODEL"))
    #expect(words(odd).contains("strata explain \(quoted) MODEL"))
    #expect(!words(odd).contains(" STORE") && words(bundle).contains(" STORE"))
  }

  private struct Reset: Decodable {
    let state: String
    let backup: String?
    let setAside: [String]
    let backupDeleted: Bool
  }

  @Test("reset refuses a store that opens, and sets one aside that does not")
  func reset() throws {
    #expect(Captured("reset", store).status == .usage)
    #expect(Captured("reset", store, "--model", bundle + "@Recipes").status == .refused)
    let done = Captured("reset", store, "--model", bundle + "@Recipes 2", "--json")
    #expect(done.status == .done, "\(done.err)")
    let receipt = try done.decoded(Reset.self)
    #expect(receipt.state == "incompatible" && !receipt.backupDeleted)
    #expect(receipt.backup == folder.path("Recipes-backup-1.sqlite"))
    #expect(Captured("explain", store, bundle + "@Recipes 2").status == .done)
    #expect(Captured("explain", try #require(receipt.backup), bundle + "@Recipes").status == .done)
    let made = Captured("reset", folder.path("New.sqlite"), "--model", bundle + "@Recipes")
    #expect(made.status == .done && made.out.contains("There was no store"))
  }

  @Test("info tells of drift, and a raw store can be looked at")
  func drift() throws {
    do {
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.execute("ALTER TABLE ZTAG ADD COLUMN ZODD BLOB; UPDATE ZTAG SET Z_ENT = 99")
    }
    let info = Captured("info", store)
    #expect(info.status == .done)
    #expect(info.out.contains("! The table ZTAG has a column ZODD (BLOB)"))
    #expect(info.out.contains("have the entity ID 99"))
    do {
      let connection = try Connection(path: store, mode: .readWrite)
      try connection.execute("DROP TABLE Z_MODELCACHE")
    }
    try FileSystem.rename(bundle, to: folder.path("elsewhere"))
    #expect(Captured("info", store).out.contains("shown raw"))
    #expect(Captured("rows", store, "Recipe", "--format", "csv").out.contains("ZTITLE"))
    let dump = Captured("dump", store)
    #expect(dump.status == .done && dump.lines.count >= 50)
    #expect(Captured("model", store).status == .unreadable)
  }
}

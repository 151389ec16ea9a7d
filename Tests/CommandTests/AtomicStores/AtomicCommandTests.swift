import AtomicStores
import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import strata

/// What each command does with a store that is no SQLite file.
@Suite("Every command on an XML and on a binary store")
struct AtomicCommandTests {
  /// What comes of it.
  private enum Outcome {
    /// It works on the private copy.
    case works
    /// It is refused in a sentence, which names the conversion.
    case refused
    /// The store is none of what it takes: it says that it holds no model.
    case noModel
  }

  /// Words behind each command, with what comes of them; `nil` for commands that take no store.
  ///
  /// - Parameter output: where something may be written.
  private static func cases(
    of name: String, _ store: String, _ place: AtomicFolder, output: String
  ) -> [(words: [String], outcome: Outcome, status: Set<CommandStatus>)]? {
    let model = ["--model", place.model]
    let out = ["--output", output]
    switch name {
    case "info", "dump", "doctor": return [([store] + model, .works, [.done])]
    case "stores": return [([place.folder.path("")], .works, [.done])]
    case "rows": return [([store, "Note"] + model, .works, [.done])]
    case "object": return [([store, "Passport", "--help"], .works, [.done])]
    case "search": return [([store, "a"] + model, .works, [.done])]
    case "frequencies": return [([store, "Note", "isDone"] + model, .works, [.done])]
    // Neither keeps history, nor is mirrored.
    case "history", "cloudkit": return [([store] + model, .works, [.no])]
    case "export": return [([store] + out + model, .works, [.done])]
    case "anonymize": return [([store] + out + model, .works, [.done])]
    case "model", "hash", "lint": return [([store], .noModel, [.unreadable])]
    case "diff": return [([store, place.model], .noModel, [.unreadable])]
    case "seed": return [([store, output], .noModel, [.unreadable])]
    case "mapping": return [([store], .noModel, [.usage, .unreadable])]
    case "compare":
      return [
        ([store, store] + model, .works, [.done]),
        ([place.xml, place.binary] + model, .works, [.done]),
      ]
    case "explain": return [([store, place.model], .works, [.done])]
    case "find-model": return [([store, place.model], .works, [.done])]
    case "plan":
      return [([store, "--to", place.model, "--from", place.model], .works, [.done])]
    case "migrate":
      let words = [store, "--to", place.model, "--from", place.model]
      return [(words, .refused, [.refused]), (words + out, .works, [.done])]
    case "rehearse":
      return [([store, "--to", place.model, "--from", place.model], .works, [.done])]
    case "verify": return [([store, store, "--from", place.model], .works, [.done])]
    case "convert": return [([store] + out + model, .works, [.done])]
    case "merge": return [([store, store, "--match", "key"] + out + model, .works, [.done])]
    case "rollback", "reset", "watch", "undelete":
      return [([store], .refused, [.refused])]
    case "repair":
      return [
        ([store] + model, .refused, [.refused]), ([store] + out + model, .refused, [.refused]),
        ([store, "--dry-run"] + model, .refused, [.refused]),
        ([store, "--fix", "primary-key"] + out + model, .refused, [.refused]),
        ([store, "--keep", "newest"] + out + model, .refused, [.refused]),
      ]
    case "edit":
      let words = [store, "Passport", "--where", "number != nil", "--set", "number=7"] + model
      return [
        (words, .refused, [.refused]), (words + ["--dry-run"], .works, [.done]),
        (words + out, .works, [.done]),
      ]
    case "salvage": return [([store] + out + model, .works, [.done])]
    case "keys", "demo", "help", "completions", "man": return nil
    default:
      Issue.record("what does \(name) do with an XML store? Add it here.")
      return nil
    }
  }

  @Test(
    "works on a private copy, or is refused in a sentence that names what helps",
    arguments: CommandTable.commands.map(\.name))
  func command(_ name: String) throws {
    let place = try AtomicFolder(objects: 60)
    let before = try Tree(place.folder.path(""))
    for store in [place.xml, place.binary] {
      let results = try TemporaryFolder()
      var number = 0
      func cases() -> [(words: [String], outcome: Outcome, status: Set<CommandStatus>)]? {
        Self.cases(of: name, store, place, output: results.path("result\(number)"))
      }
      let count = cases()?.count ?? 0
      while number < count {
        guard let one = cases()?[number] else { break }
        number += 1
        let run = Captured([name] + one.words)
        #expect(one.status.contains(run.status), "\(one.words): \(run.out)\(run.err)")
        #expect(!(run.out + run.err).contains("strata-copy."), "\(run.out)\(run.err)")
        switch one.outcome {
        case .works: break
        case .refused:
          #expect(run.err.contains("strata convert"), "\(one.words): \(run.err)")
          #expect(try FileSystem.list(results.path("")).isEmpty, "\(one.words)")
        case .noModel:
          #expect(
            run.err.contains("holds no model") || run.err.contains("no mapping")
              || run.err.contains("recipe"), "\(run.err)")
        }
      }
    }
    #expect(try Tree(place.folder.path("")) == before)
  }

  @Test("a store of two merged models is read, converted and migrated to two models")
  func merged() throws {
    let folder = try TemporaryFolder()
    func write(_ entity: String, _ names: [String]) throws -> Model {
      var made = Entity(entity)
      made.attributes = names.map { Attribute($0, .string, optional: true) }
      let model = try Model(entities: [made])
      let path = folder.path("models/\(entity)\(names.count).xcdatamodel")
      try FileSystem.makeDirectory(path)
      try FileSystem.write(Array(model.xcdatamodelContents().utf8), to: path + "/contents")
      return model
    }
    let models = [try write("Album", ["title"]), try write("Person", ["name"])]
    _ = [try write("Album", ["title", "year"]), try write("Person", ["age", "name"])]
    let sqlite = folder.path("Merged.sqlite")
    let writer = try StoreWriter(
      creating: sqlite, model: try Model(merging: models),
      uuid: "6B29FC40-CA47-4067-B31D-00DD010662DA")
    _ = try writer.insert("Album", attributes: ["title": .string("Blue")])
    _ = try writer.insert("Person", attributes: ["name": .string("Ann")])
    try writer.finish()
    let store = try Store(path: sqlite)
    let paths = [folder.path("M.xml"), folder.path("M.bin")]
    try AtomicSamples.writeXML(store, to: paths[0])
    try AtomicSamples.writeBinary(store, to: paths[1])
    let both = ["Album1", "Person1"].map { folder.path("models/\($0).xcdatamodel") }
    let next = ["Album2", "Person2"].map { folder.path("models/\($0).xcdatamodel") }
    // What no hash proves is not called the store's.
    let bare = folder.path("Bare.xml")
    let text = String(decoding: try FileSystem.read(paths[0]), as: UTF8.self)
    #expect(text.contains("NSStoreModelVersionHashes"))
    try FileSystem.write(
      Array(text.replacing("NSStoreModelVersionHashes", with: "Other").utf8), to: bare)
    #expect(Captured("info", paths[0]).flat.contains("made of the objects, ✓"))
    let told = Captured("info", bare).flat
    #expect(
      told.contains("made of the objects, with the store's version hashes for 0 of 2 entities"),
      "\(told)")
    for path in paths {
      let search = Captured("find-model", path, folder.path("models"))
      #expect(search.flat.contains("made of 2 models"), "\(search.out)")
      let given = both.flatMap { ["--model", $0] }
      let info = Captured(["info", path] + given)
      #expect(info.flat.contains("✓"), "\(info.out)")
      #expect(Captured(["rows", path, "Person"] + given).out.contains("Ann"))
      #expect(
        Captured(["convert", path, "--output", path + ".sqlite"] + given).status == .done)
      let migrated = Captured(
        ["migrate", path, "--output", path + "2.sqlite"] + both.flatMap { ["--from", $0] }
          + next.flatMap { ["--to", $0] })
      #expect(migrated.status == .done, "\(migrated.err)")
      #expect(Captured("rows", path + "2.sqlite", "Album").out.contains("Blue"))
      // One of the two alone is not the store's model.
      #expect(
        Captured("convert", path, "--output", path + "3.sqlite", "--model", both[0]).status != .done
      )
    }
  }
}

import Files
import ManagedModel
import ManagedStore
import Migration
import TestSupport
import Testing

@testable import Commands

@Suite("What --allow-loss names")
struct AllowedLossTests {
  private let place: StoreFolder
  private let store: String

  init() throws {
    place = try StoreFolder()
    store = try place.add("App.sqlite")
  }

  @Test("a mistyped entity or property is wrong usage, with the nearest name; nothing is written")
  func mistyped() throws {
    let before = try place.folder.contents()
    let destination = place.bundle + "@Recipes 3"
    for (name, hint) in [
      ("Drafft", "Did you mean Draft?"), ("Recipe.legacyCod", "Did you mean Recipe.legacyCode?"),
      ("Recpe.legacyCode", "Did you mean Recipe.legacyCode?"), ("Recipe.", "strata plan lists it"),
    ] {
      for command in ["plan", "migrate", "rehearse"] {
        let told = Captured(command, store, "--to", destination, "--allow-loss", name)
        #expect(told.status == .usage, "\(command) \(name): \(told.err)")
        #expect((told.err + told.out).contains(hint), "\(command) \(name): \(told.err)")
      }
    }
    #expect(try place.folder.contents() == before)
  }

  @Test("a right name that nothing is lost of is a warning")
  func unused() throws {
    let told = Captured("plan", store, "--to", place.bundle, "--allow-loss", "Recipe.legacyCode")
    #expect(told.status == .done)
    #expect(
      told.err.contains(
        "warning: --allow-loss Recipe.legacyCode allows nothing: nothing of it would be lost"))
    let rehearsed = Captured(
      "rehearse", store, "--to", place.bundle, "--allow-loss", "Recipe.legacyCode")
    #expect(rehearsed.status == .done && rehearsed.out.contains("allows nothing"))
  }

  @Test("a file of reviewed losses allows them, in both of its forms; what allows nothing is told")
  func file() throws {
    let destination = place.bundle + "@Recipes 3"
    let plain = Captured("plan", store, "--to", destination, "--json")
    #expect(plain.status == .refused)
    let names = try plain.decoded(Losses.self).losses.map { loss in
      loss.property.map { "\(loss.entity).\($0)" } ?? loss.entity
    }
    let list = place.folder.path("losses.txt")
    try FileSystem.write(
      Array(
        ("# reviewed\n\n" + names.map { "\($0)  # nobody reads it" }.joined(separator: "\n")
          + "\nRecipe.title\n").utf8), to: list)
    let told = Captured("plan", store, "--to", destination, "--allow-loss-file", list)
    #expect(told.status == .done, "\(told.out)\(told.err)")
    #expect(
      told.err.contains("warning: \(list):\(names.count + 3): Recipe.title allows nothing"),
      "\(told.err)")
    let json = Captured("plan", store, "--to", destination, "--allow-loss-file", list, "--json")
    #expect(
      try json.decoded(Losses.self).notes.contains { $0.contains("Recipe.title allows nothing") })
    let array = place.folder.path("losses.json5")
    try FileSystem.write(
      Array("// reviewed\n[\(names.map { "'\($0)'" }.joined(separator: ", ")),]".utf8), to: array)
    let rehearsed = Captured("rehearse", store, "--to", destination, "--allow-loss-file", array)
    #expect(rehearsed.status == .done, "\(rehearsed.err)")
    for (text, line) in [("Recipe.title\nRecipe title\n", 2), ("[1]", 1), ("\n[\"a\"\n", 2)] {
      try FileSystem.replace(array, with: Array(text.utf8), isPrivate: false)
      let wrong = Captured("plan", store, "--to", destination, "--allow-loss-file", array)
      #expect(wrong.status == .usage && wrong.err.contains("line \(line)"), "\(wrong.err)")
    }
    try FileSystem.replace(array, with: Array("Recpe\n".utf8), isPrivate: false)
    let mistyped = Captured("plan", store, "--to", destination, "--allow-loss-file", array)
    #expect(mistyped.status == .usage && mistyped.err.contains("Did you mean Recipe?"))
    #expect(mistyped.err.contains("\(array):1: Recpe"))
  }

  @Test("what would be lost is written to be reviewed, and read again as it stands")
  func written() throws {
    let words = ["plan", store, "--to", place.bundle + "@Recipes 3"]
    let list = place.folder.path("losses.txt")
    let plan = Captured(words + ["--write-losses", list])
    #expect(plan.status == .refused && plan.err.contains("wrote \(list)"), "\(plan.err)")
    let lines = String(decoding: try FileSystem.read(list), as: UTF8.self).split(separator: "\n")
    #expect(lines.first?.hasPrefix("# What \(store) would lose") == true)
    #expect(lines.contains { $0.hasPrefix("Draft ") && $0.contains("# ") }, "\(lines)")
    let allowed = Captured(words + ["--allow-loss-file", list])
    #expect(allowed.status == .done, "\(allowed.out)\(allowed.err)")
    let again = Captured(words + ["--write-losses", list])
    #expect(again.status == .usage && again.err.contains("there already"))
    let none = place.folder.path("none.txt")
    let nothing = Captured("plan", store, "--to", place.bundle, "--write-losses", none)
    #expect(nothing.status == .done && nothing.err.contains("was not written"))
    #expect(FileSystem.status(none) == nil)
  }

  @Test("a plan says which version it is to, and where that was taken from")
  func destination() throws {
    let current = Captured("plan", store, "--to", place.bundle).lines.first
    #expect(current == "to “Recipes 2”, the current version of \(place.bundle)")
    let named = Captured("plan", store, "--to", place.bundle + "@Recipes 2").lines.first
    #expect(named == "to “Recipes 2”, \(place.bundle)@Recipes 2")
    let rehearsed = Captured("rehearse", store, "--to", place.bundle).lines.first
    #expect(rehearsed == "to “Recipes 2”, the current version of \(place.bundle)")
  }

  private struct Losses: Decodable {
    struct Loss: Decodable {
      let entity: String
      let property: String?
    }
    let losses: [Loss]
    let notes: [String]
  }

  @Test("one that only another version of the bundle knows is no mistake")
  func otherVersion() throws {
    // Recipe.notes comes with version 3.
    let told = Captured("plan", store, "--to", place.bundle, "--allow-loss", "Recipe.notes")
    #expect(told.status == .done && told.err.contains("allows nothing"), "\(told.err)")
  }

  @Test("a property that is inherited is allowed by the name of the entity that declares it")
  func inherited() throws {
    var item = Entity("Item")
    item.attributes = [Attribute("code", .string, optional: true)]
    let book = Entity("Book", parent: "Item")
    let before = try Model(entities: [item, book])
    item.attributes = []
    let after = try Model(entities: [item, book])
    let path = place.folder.path("Items.sqlite")
    let writer = try StoreWriter(creating: path, model: before)
    try writer.insert("Book", attributes: ["code": .string("x")])
    try writer.finish()
    let plan = try Store(path: path).plan(to: after, names: (from: "1", to: "2"))
    #expect(plan.losses.map(\.name) == ["Item.code"])
    let notes = try plan.unusedAllowances(["Book.code"])
    #expect(notes.count == 1 && notes[0].hasSuffix("the loss is named Item.code"))
    #expect(try plan.unusedAllowances(["Item.code"]).isEmpty)
    #expect(try plan.unusedAllowances(["Item"]).isEmpty)
    #expect(throws: CoreDataError.self) { try plan.unusedAllowances(["Itm"]) }
    #expect(
      try plan.unusedAllowances(["Itm"], knownTo: [Model(entities: [Entity("Itm")])]).count == 1)
  }
}

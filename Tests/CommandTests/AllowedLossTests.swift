import ManagedModel
import ManagedStore
import Migration
import TestSupport
import Testing

@testable import strata

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

  @Test("a right name that nothing is lost of is a note")
  func unused() throws {
    let told = Captured("plan", store, "--to", place.bundle, "--allow-loss", "Recipe.legacyCode")
    #expect(told.status == .done)
    #expect(
      told.err.contains(
        "note: --allow-loss Recipe.legacyCode allows nothing: nothing of it would be lost"))
    let rehearsed = Captured(
      "rehearse", store, "--to", place.bundle, "--allow-loss", "Recipe.legacyCode")
    #expect(rehearsed.status == .done && rehearsed.out.contains("allows nothing"))
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
    #expect(notes.count == 1 && notes[0].hasSuffix("what would be is called Item.code"))
    #expect(try plan.unusedAllowances(["Item.code"]).isEmpty)
    #expect(try plan.unusedAllowances(["Item"]).isEmpty)
    #expect(throws: CoreDataError.self) { try plan.unusedAllowances(["Itm"]) }
    #expect(
      try plan.unusedAllowances(["Itm"], knownTo: [Model(entities: [Entity("Itm")])]).count == 1)
  }
}

import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

@Suite("A name that is not there is answered in one way, whoever was asked")
struct UnknownNameTests {
  private func error(_ body: () throws -> Void) -> CoreDataError? {
    #expect(throws: CoreDataError.self) { try body() }
  }

  @Test("an entity that is near", arguments: ["Recpe", "Recipes", "recipe"])
  func nearEntity(name: String) throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let writer = try StoreWriter(creating: folder.path("New.sqlite"), model: RecipeBox.model())
    let asked = [
      error { _ = try store.columns(of: name) },
      error { _ = try store.objectID("\(name)/p1") },
      error { _ = try RowFilter("entity == '\(name)'", entity: "Recipe", layout: store.layout) },
      error { try writer.insert(name) },
    ]
    for error in asked {
      #expect(error?.kind == .usage)
      #expect(error?.hint == "Did you mean Recipe?")
    }
  }

  @Test("an entity that is like none")
  func otherEntity() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let writer = try StoreWriter(creating: folder.path("New.sqlite"), model: RecipeBox.model())
    let asked = [
      error { _ = try store.columns(of: "Accommodation") },
      error { _ = try store.objectID("Accommodation/p1") },
      error { try writer.insert("Accommodation") },
    ]
    for error in asked {
      #expect(error?.hint?.hasPrefix("It has: ") == true)
      #expect(error?.hint?.contains("Menu") == true)
    }
  }

  @Test("a property that is near")
  func nearProperty() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let model = try RecipeBox.model()
    let writer = try StoreWriter(creating: folder.path("New.sqlite"), model: model)
    let asked = [
      error { _ = try RowFilter("titel == 'x'", entity: "Recipe", layout: store.layout) },
      error { _ = try store.frequencies(of: "titel", in: "Recipe") },
      error { try writer.insert("Recipe", attributes: ["titel": .string("x")]) },
      model.unknown(.attribute, "titel", of: "Recipe"),
    ]
    for error in asked { #expect(error?.hint == "Did you mean title?") }
  }

  @Test("a name that is there, and does not fit, is no suggestion")
  func sameName() {
    #expect(Nearest.question("title", in: ["title"]) == nil)
    #expect(Nearest.hint("title", in: ["title"]) == "It has: title")
    #expect(Nearest.hint("title", in: []) == nil)
    #expect(
      Nearest.question("tile", in: ["title"]) { "Recipe.\($0)" } == "Did you mean Recipe.title?")
  }

  @Test("a version that is not there: the nearest, and all there are")
  func versions() {
    let known = ["Recipes", "Recipes 3"]
    #expect(
      Nearest.hint(ofVersion: "Recipe 3", in: known)
        == "Did you mean “Recipes 3”? Its versions are “Recipes”, “Recipes 3”.")
    #expect(
      Nearest.hint(ofVersion: "1.0", in: known) == "Its versions are “Recipes”, “Recipes 3”.")
  }
}

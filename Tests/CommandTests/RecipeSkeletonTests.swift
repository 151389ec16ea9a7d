import Files
import ManagedModel
import ModelWriting
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import Mapping
@testable import Migration
@testable import strata

@Suite("The recipe that a refusal asks for")
struct RecipeSkeletonTests {
  private let folder: TemporaryFolder
  private let store: String
  private let bundle: String
  private let recipe: String

  init() throws {
    folder = try TemporaryFolder()
    _ = try DemoCommand.write(to: folder.path, objects: 60)
    store = folder.path("Recipes.sqlite")
    bundle = folder.path("Recipes.xcdatamodeld")
    recipe = folder.path("asked.json5")
  }

  private struct Written: Decodable {
    struct Recipe: Decodable {
      struct Gap: Decodable {
        let place, reason: String
        let guess: String?
      }
      let path: String
      let gaps: [Gap]
    }
    let recipe: Recipe
  }

  @Test("what cannot be inferred is written, commented, and read back by plan")
  func inferred() throws {
    let words = ["plan", store, "--to", bundle + "@Recipes 4"]
    #expect(Captured(words).status == .refused)
    let written = Captured(words + ["--write-recipe", recipe, "--json"])
    #expect(written.status == .done, "\(written.out)\(written.err)")
    let gaps = try written.decoded(Written.self).recipe.gaps
    #expect(gaps.map(\.place).contains("Recipe.rating") && gaps.allSatisfy { $0.guess != nil })
    let text = String(decoding: try FileSystem.read(recipe), as: UTF8.self)
    #expect(text.contains("// - Recipe.rating: ") && text.contains("CAST(rating AS TEXT)"))
    let planned = Captured(words + ["--mapping", recipe])
    #expect(
      planned.status == .done && planned.out.contains("recipe"), "\(planned.err)\(planned.out)")
    // A second run would overwrite what somebody wrote.
    let again = Captured(words + ["--write-recipe", recipe])
    #expect(again.status == .usage && again.err.contains("there already"))
    #expect(String(decoding: try FileSystem.read(recipe), as: UTF8.self) == text)
  }

  @Test("a folder that is not there is named before anything is planned")
  func noFolder() throws {
    let missing = folder.path("none")
    let written = Captured(
      "plan", store, "--to", bundle + "@Recipes 4", "--write-recipe", missing + "/r.json5")
    #expect(written.status == .usage)
    #expect(
      written.err.hasPrefix("strata: the folder for the recipe does not exist: \(missing)\n"),
      "\(written.err)")
  }

  @Test(
    "mandatory values that are made up are marked; where nothing is missing, nothing is written")
  func missing() throws {
    var before = Entity("User")
    before.attributes = [Attribute("name", .string, optional: true)]
    var after = Entity("User")
    after.attributes = [
      Attribute("name", .string, optional: true), Attribute("nick", .string),
      Attribute("age", .integer32),
    ]
    let store = folder.path("Users.sqlite")
    let writer = try StoreWriter(creating: store, model: try Model(entities: [before]))
    try writer.insert("User", attributes: ["name": .string("Ada")])
    try writer.finish()
    let folder = self.folder.path("Users.xcdatamodel")
    try FileSystem.makeDirectory(folder)
    try FileSystem.write(
      Array(try Model(entities: [after]).xcdatamodelContents().utf8), to: folder + "/contents")
    let words = ["plan", store, "--to", folder]
    #expect(Captured(words).status == .refused)
    let written = Captured(words + ["--write-recipe", recipe])
    #expect(written.status == .done, "\(written.err)")
    #expect(written.out.contains("User.nick") && written.out.contains("User.age"))
    let text = String(decoding: try FileSystem.read(recipe), as: UTF8.self)
    #expect(text.contains("\"FILL IN: an expression, such as ''\""), "\(text)")
    let marked = Captured(words + ["--mapping", recipe])
    #expect(marked.status == .usage && marked.err.contains("2 places are not filled in yet"))
    let filled = text.replacing("FILL IN: an expression, such as ", with: "")
    try FileSystem.write(Array(filled.utf8), to: recipe)
    #expect(Captured(words + ["--mapping", recipe]).status == .done)
    let none = Captured(
      "plan", self.store, "--to", bundle, "--write-recipe", self.folder.path("none.json5"))
    #expect(none.status == .done && none.err.contains("none was written"))
    #expect(FileSystem.status(self.folder.path("none.json5")) == nil)
  }
}

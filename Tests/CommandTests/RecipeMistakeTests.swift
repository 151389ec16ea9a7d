import TestSupport
import Testing

@testable import Commands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Mistakes in recipes that were once told wrongly, or not at all.
@Suite("What a recipe does not do is told")
struct RecipeMistakeTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    #expect(Captured("demo", folder.path, "--objects", "200", "--no-open").status == .done)
  }

  private func plan(_ mappings: String, _ words: String...) throws -> Captured {
    let recipe = folder.path("recipe.json5")
    let text = """
      { "from": "Recipes", "to": "Recipes 2", "entityMappings": [
        \(mappings)
      ] }
      """
    try Data(text.utf8).write(to: URL(filePath: recipe))
    return Captured(
      ["plan", folder.path("Recipes.sqlite"), "--mapping", recipe, "--to"]
        + [folder.path("Recipes.xcdatamodeld") + "@Recipes 2"] + words)
  }

  @Test("“self” without a mapping that makes what it leads to is wrong usage, with its place")
  func nowhere() throws {
    let plan = try plan(
      #"{ "source": "Recipe", "destination": "Recipe", "relationships": { "author": "self" } }"#)
    #expect(plan.status == .usage)
    #expect(plan.err.contains("no mapping makes a Person of Recipe"))
    #expect(plan.err.contains("(line 2, column "))
  }

  @Test("an “each” that is no JSON array is told with the first object")
  func each() throws {
    let plan = try plan(
      """
      { "source": "Tag", "destination": "Tag",
        "create": [ { "destination": "Recipe", "relationship": "recipes", "each": "name" } ] }
      """)
    #expect(plan.out.contains("is not a JSON array in 20 rows, the first Tag/p"), "\(plan)")
  }

  @Test("that “in place” is not for a recipe is told")
  func strategy() throws {
    let mapping = #"{ "source": "Tag", "destination": "Tag", "where": "name <> 'x'" }"#
    let note = "“In place” works for inferred steps only"
    #expect(try plan(mapping, "--strategy", "in-place", "--json").out.contains(note))
    #expect(try !plan(mapping, "--json").out.contains(note))
  }

  @Test("a rollback says how to take it back, and so does one that finds nothing more")
  func rollback() throws {
    let store = folder.path("Recipes.sqlite")
    let model = folder.path("Recipes.xcdatamodeld") + "@Recipes 2"
    #expect(Captured("migrate", store, "--to", model).status == .done)
    let undone = folder.path("Recipes.undone-1")
    #expect(Captured("rollback", store).out.contains("--from \(undone)"))
    let again = Captured("rollback", store)
    #expect(again.status == .unreadable)
    #expect(again.err.contains("--from \(undone) restores it"))
  }
}

import Files
import ManagedModel
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import strata

@Suite("plan's and migrate's arguments")
struct MigrationArgumentsTests {
  private let place: StoreFolder
  private let store: String

  init() throws {
    place = try StoreFolder()
    store = try place.add("App.sqlite")
  }

  private func request(_ words: String...) throws -> MigrationArguments {
    let command = try #require(CommandTable.command(named: "migrate"))
    return try MigrationArguments(Arguments(words, for: command))
  }

  @Test("every option reaches the request")
  func options() throws {
    let recipe = place.folder.path("a.recipe")
    try FileSystem.write(Array(#"{"policies": {"App.P": {"delete": true}}}"#.utf8), to: recipe)
    let request = try request(
      store, "--to", place.bundle + "@Recipes 3", "--from", place.bundle + "@Recipes", "--via",
      place.bundle, "--mapping", recipe, "--mapping", recipe, "--allow-loss", "Draft",
      "--allow-loss", "Recipe.legacyCode", "--no-backup", "--output", "out.sqlite")
    #expect(request.destination.name == "Recipes 3" && request.bundle == place.bundle)
    #expect(request.from == place.bundle + "@Recipes")
    #expect(
      request.request.versions?.versions.map(\.name) == [
        "Recipes", "Recipes 2", "Recipes 3", "Recipes 4",
      ])
    #expect(request.request.documents.recipes.map(\.path) == [recipe, recipe])
    #expect(request.options.allowedLosses == ["Draft", "Recipe.legacyCode"])
    #expect(request.options.output == "out.sqlite" && !request.options.keepsBackup)
  }

  @Test("what is missing is told before anything is opened")
  func missing() throws {
    #expect(throws: CoreDataError.self) { try request(store) }
    #expect(Captured("plan", store, "--to", place.bundle, "--via", "none").status == .unreadable)
    let mapping = Captured("plan", store, "--to", place.bundle, "--mapping", "none.cdm")
    #expect(mapping.status == .unreadable && mapping.err.contains("none.cdm"))
  }

  @Test("through its versions a store's way is straight, or ends in a gap that is named")
  func via() throws {
    let straight = Captured("plan", store, "--to", place.bundle, "--via", place.bundle)
    #expect(straight.status == .done && straight.out.contains("Recipes → Recipes 2  inferred"))
    let gap = Captured(
      "plan", store, "--to", place.bundle + "@Recipes 4", "--via", place.bundle, "--json")
    #expect(gap.status == .refused && gap.out.contains("134140"))
    #expect(gap.out.contains("it ends between “Recipes 3” and “Recipes 4”"), "\(gap.out)")
  }

  private struct Matrix: Decodable {
    struct Way: Decodable {
      struct Gap: Decodable {
        let from, to, message: String
        let entity: String?
      }
      let from, to, kind: String
      let via: [String]
      let gap: Gap?
    }
    let versions: [String]
    let ways: [Way]
  }

  @Test("a matrix shows all versions of a bundle, and why some cannot be reached")
  func matrix() throws {
    let text = Captured("plan", place.bundle, "--matrix")
    #expect(text.status == .done && text.out.contains("= same hashes"))
    #expect(text.lines[1].hasPrefix("Recipes"))
    let matrix = try Captured("plan", place.bundle, "--matrix", "--json").decoded(Matrix.self)
    #expect(matrix.versions == ["Recipes", "Recipes 2", "Recipes 3", "Recipes 4"])
    #expect(matrix.ways.count == 12)
    #expect(matrix.ways.first { $0.from == "Recipes" && $0.to == "Recipes 3" }?.kind == "inferred")
    let last = matrix.ways.first { $0.from == "Recipes 3" && $0.to == "Recipes 4" }
    #expect(last?.kind == "impossible" && last?.gap?.entity != nil)
    #expect(text.out.contains("✗ from “Recipes 3” to “Recipes 4” no mapping can be inferred"))
    #expect(text.lines.count { $0.hasPrefix("✗") } == 2, "each gap is told once")
    #expect(Captured("plan", place.bundle, "--matrix", "--to", place.bundle).status == .usage)
    #expect(Captured("plan", "none", "--matrix").status == .unreadable)
  }
}

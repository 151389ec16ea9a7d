import Files
import ManagedModel
import ModelSearch
import TestSupport
import Testing

@testable import Commands
@testable import Interface
@testable import ManagedStore
@testable import Mapping
@testable import Migration
@testable import strata

/// Changes of a mapping as the interface makes them, on the demo's store.
@Suite("A mapping changed by hand")
struct HandMadeMappingTests {
  private let folder: TemporaryFolder
  private let store: String
  private let bundle: String

  init() throws {
    folder = try TemporaryFolder()
    let demo = Captured("demo", folder.path("demo"), "--objects", "300", "--no-open")
    #expect(demo.status == .done)
    store = folder.path("demo/Recipes.sqlite")
    bundle = folder.path("demo/Recipes.xcdatamodeld")
  }

  private func version(_ name: String) throws -> ModelVersion {
    let loaded = try ModelReference(bundle + "@" + name).load()
    return ModelVersion(name: loaded.name, path: loaded.path, result: .success(loaded.model))
  }

  private func plan(_ name: String, _ edits: MappingEdits) async throws -> MigrationPlan {
    let session = StoreSession("test", source: StoreSource(path: store, model: nil))
    return try await session.plan(
      PlanRequest(
        from: "Recipes", to: try version(name), options: PlanOptions(), edits: edits))
  }

  @Test("its recipe, written and read again by strata plan, gives the same plan")
  func roundTrip() async throws {
    var edits = MappingEdits()
    edits.add(.rename(from: "Recipe.legacyCode", to: "Recipe.notes"))
    edits.add(.pair(from: "Draft", to: "Recipe"))
    edits.add(.value("Recipe.difficulty", "coalesce(difficulty, 'easy')"))
    edits.add(.value("Draft → Recipe.difficulty", "'easy'"))
    edits.add(.value("Draft → Recipe.identifier", "uuid()"))
    let plan = try await plan("Recipes 3", edits)
    #expect(plan.failures.isEmpty && plan.losses.isEmpty)
    let step = try #require(plan.steps.first)
    let path = folder.path("hand.json5")
    var file = RecipeFile(
      path: path, step: step, from: step.from, to: step.to, overwrites: false)
    try file.write()
    #expect(throws: CoreDataError.self, "a file that is there is not overwritten unasked") {
      try file.write()
    }
    file.overwrites = true
    try file.write()
    let arguments = try Arguments(
      [store, "--to", bundle + "@Recipes 3", "--mapping", path],
      for: try #require(CommandTable.command(named: "plan")))
    let again = try MigrationArguments(arguments).plan(for: store)
    #expect(again.steps.map(\.mapping.entityMappings) == plan.steps.map(\.mapping.entityMappings))
    #expect(again.steps.map(\.rows) == plan.steps.map(\.rows))
    #expect(again.losses == plan.losses && again.checks == plan.checks)
    #expect(again.strategy == plan.strategy)
    #expect(
      Captured("plan", store, "--to", bundle + "@Recipes 3", "--mapping", path).status == .done)
  }

  @Test("what the interface suggests for a refusal lets the plan be made")
  func fixes() async throws {
    let source = try version("Recipes").result.get()
    let destination = try version("Recipes 4").result.get()
    let refusals = MappingInference.remainder(from: source, to: destination).refusals
    #expect(refusals.map(\.entity) == ["Document", "Recipe"])
    var edits = MappingEdits()
    for refusal in refusals {
      for edit in MappingSuggestion.fixes(for: refusal, from: source, to: destination) {
        edits.add(edit)
      }
    }
    #expect(edits.values == ["Recipe.rating": "CAST(rating AS TEXT)"])
    #expect(edits.pairs == ["Draft": "Draft", "Recipe": "Recipe"])
    let plan = try await plan("Recipes 4", edits)
    #expect(plan.failures.isEmpty && plan.losses.isEmpty)
  }

  @Test("a mistake in an expression is told without a place in a text that nobody sees")
  func mistake() async throws {
    var edits = MappingEdits()
    edits.add(.value("Recipe.difficulty", "nonsense("))
    do {
      _ = try await plan("Recipes 3", edits)
      Issue.record("it was planned")
    } catch let error as CoreDataError {
      #expect(!error.message.contains("(line "))
      #expect(error.path == store)
    }
  }

  @Test("the statements are the engine's own, and asking for them changes nothing")
  func statements() async throws {
    let before = try FileSystem.sha256(store)
    let inPlace = try StoreMigration.statements(of: try await plan("Recipes 2", MappingEdits()))
    let sql = inPlace.map(\.sql)
    #expect(sql.contains { $0.hasPrefix("ALTER TABLE main.\"ZRECIPE\" RENAME COLUMN") })
    #expect(sql.contains("BEGIN EXCLUSIVE") && sql.last == "COMMIT")
    #expect(!sql.contains { $0.hasPrefix("SELECT") || $0.hasPrefix("PRAGMA table_info") })
    var edits = MappingEdits()
    edits.add(.value("Recipe.difficulty", "coalesce(difficulty, 'easy')"))
    let copying = try StoreMigration.statements(of: try await plan("Recipes 3", edits))
    #expect(copying.contains { $0.sql.contains("'easy'") })
    #expect(try FileSystem.sha256(store) == before)
  }

  @Test("the rows that changes touch are counted, also where no mapping can be inferred")
  func impacts() throws {
    let opened = try Store(path: store)
    let third = try StoreMigration.impacts(
      on: opened, to: try version("Recipes 3").result.get())
    let draft = try #require(third.first { $0.entity == "Draft" && $0.property == nil })
    #expect(draft.severity == .loss && draft.rows > 0 && !draft.samples.isEmpty)
    let difficulty = try #require(third.first { $0.property == "difficulty" })
    #expect(difficulty.code == 134110 && difficulty.severity == .failure)
    let fourth = try StoreMigration.impacts(
      on: opened, to: try version("Recipes 4").result.get())
    let rating = try #require(fourth.first { $0.entity == "Recipe" && $0.property == "rating" })
    #expect(rating.code == 134190 && rating.severity == .failure)
  }

  @Test("--to marks a version of the bundle, or brings another bundle's in")
  func destination() throws {
    var source = StoreSource(path: store, model: nil)
    source.destination = bundle + "@Recipes 3"
    let opened = try Store(path: store)
    let versions = source.versions(
      of: opened.model, hashes: opened.metadata.versionHashes)
    #expect(versions.first(where: \.isWanted)?.name == "Recipes 3")
    #expect(versions.destinationIndex == versions.firstIndex { $0.name == "Recipes 3" })
    let other = folder.path("Other.xcdatamodeld")
    try FileSystem.makeDirectory(other + "/Only.xcdatamodel")
    try FileSystem.write(
      FileSystem.read(bundle + "/Recipes 2.xcdatamodel/contents"),
      to: other + "/Only.xcdatamodel/contents")
    source.destination = other
    let more = source.versions(of: opened.model, hashes: opened.metadata.versionHashes)
    #expect(more.count == versions.count + 1)
    #expect(more.first(where: \.isWanted)?.name == "Only")
  }
}

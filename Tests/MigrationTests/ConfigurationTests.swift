import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("Stores of one configuration")
struct ConfigurationTests {
  /// Notes in one configuration, settings in another.
  private static func model(
    extra: Bool = false, configurations: [String: [String]] = defaults
  ) throws -> Model {
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    if extra { note.attributes.append(Attribute("rating", .integer16, optional: true)) }
    var setting = Entity("Setting")
    setting.attributes = [Attribute("value", .string, optional: true)]
    return try Model(
      entities: [note, setting, Entity("Draft", parent: "Note")], configurations: configurations)
  }

  private static let defaults = ["Content": ["Draft", "Note"], "Local": ["Setting"]]

  /// A store with the tables of one configuration, whose model cache is the whole model.
  private func store(in folder: TemporaryFolder, _ name: String = "Content") throws -> String {
    let path = folder.path("Notes.sqlite")
    let whole = try Self.model()
    let writer = try StoreWriter(creating: path, model: try #require(whole.restricted(to: name)))
    try writer.insert("Note", attributes: ["text": .string("one")])
    try writer.insert("Draft", attributes: ["text": .string("two")])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.run(
      "UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(try ModelCache.deflate(whole.archived()))])
    return path
  }

  @Test("it opens with the entities of its configuration, with no warning")
  func opens() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: store(in: folder))
    #expect(store.configuration == "Content")
    #expect(store.modelMatches)
    #expect(store.model.entities.map(\.name) == ["Draft", "Note"])
    #expect(store.warnings == [])
    #expect(try store.counts() == ["Note": 1, "Draft": 1])
    #expect(try Store(path: store.path, model: Self.model()).configuration == "Content")
  }

  @Test("a store of the whole model has no configuration")
  func whole() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Whole.sqlite")
    try StoreCreation.create(at: path, model: Self.model(), uuid: "X")
    let store = try Store(path: path)
    #expect(store.configuration == nil)
    #expect(store.modelMatches)
  }

  @Test("it migrates to the same configuration of the other model, which stays whole in the cache")
  func migrates() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let destination = try Self.model(extra: true)
    let plan = try Library.plan(path, to: destination)
    #expect(
      plan.notes.contains { $0.contains("configuration “Content”") && $0.contains("assumed") })
    #expect(plan.losses.isEmpty)
    _ = try StoreMigration.run(plan)
    let store = try Store(path: path)
    #expect(store.configuration == "Content")
    #expect(Set(store.metadata.versionHashes.keys) == ["Draft", "Note"])
    #expect(!store.database.contains("ZSETTING"))
    #expect(store.database.columns(of: "ZNOTE").contains("ZRATING"))
    let cached = try #require(store.connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob)
    #expect(
      try Model(archive: ModelCache.inflate(cached)).versionHashes == destination.versionHashes)
    #expect(try Library.plan(path, to: destination).isNothingToDo)
  }

  @Test("without a configuration of that name the whole model is taken, and said to be")
  func renamed() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let plan = try Library.plan(path, to: Self.model(extra: true, configurations: [:]))
    #expect(plan.notes.contains { $0.contains("no configuration of that name") })
    _ = try StoreMigration.run(plan)
    let store = try Store(path: path)
    #expect(store.configuration == nil)
    #expect(store.database.contains("ZSETTING"))
  }

  @Test("an app's own version of the model counts as the one that made the store")
  func given() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let plan = try StoreMigration.plan(
      Store(path: path), to: Self.model(extra: true), names: ("1", "2"), source: Self.model())
    #expect(plan.steps.first?.source.entities.map(\.name) == ["Draft", "Note"])
  }

  @Test("a configuration with an entity but not its parent fits no store")
  func orphan() throws {
    let model = try Self.model(configurations: [
      "Odd": ["Draft"], "All": ["Draft", "Note", "Setting"],
    ])
    #expect(model.restricted(to: "Odd") == nil)
    #expect(model.restricted(to: "None") == nil)
    let hashes = model.versionHashes
    #expect(model.configurations(matching: hashes.filter { $0.key == "Draft" }) == ["Odd"])
    #expect(model.configurations(matching: hashes) == [])
    #expect(model.configurations(matching: [:]) == [])
  }
}

import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Stores of one configuration")
struct StoreConfigurationTests {
  /// Notes in one configuration, settings in another.
  private static func model(
    extra: Bool = false, configurations: [String: [String]] = defaults
  ) throws -> Model {
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    if extra { note.attributes.append(Attribute("rating", .integer16, optional: true)) }
    var setting = Entity("Setting")
    setting.attributes = [Attribute("value", .string, optional: true)]
    if extra { setting.attributes.append(Attribute("unit", .string, optional: true)) }
    return try Model(
      entities: [note, setting, Entity("Draft", parent: "Note")], configurations: configurations)
  }

  private static let defaults = ["Content": ["Draft", "Note"], "Local": ["Setting"]]

  /// A store with the tables of one configuration, whose model cache is the whole model.
  private func store(in folder: TemporaryFolder, _ name: String = "Content") throws -> String {
    let path = folder.path("Notes.sqlite")
    let whole = try Self.model()
    let writer = try StoreWriter(creating: path, model: try #require(whole.restricted(to: name)))
    if name == "Local" {
      try writer.insert("Setting", attributes: ["value": .string("one")])
    } else {
      try writer.insert("Note", attributes: ["text": .string("one")])
      try writer.insert("Draft", attributes: ["text": .string("two")])
    }
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
    _ = try StoreMigration.runAndRead(plan)
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
    _ = try StoreMigration.runAndRead(plan)
    let store = try Store(path: path)
    #expect(store.configuration == nil)
    #expect(store.database.contains("ZSETTING"))
  }

  @Test("an app's own version of the model counts as the one that made the store")
  func given() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let plan = try Store(path: path).plan(
      to: Self.model(extra: true), names: ("1", "2"), source: Self.model())
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

  /// Every way in which a plan comes about: each keeps the store's configuration.
  enum Planning: String, CaseIterable, Sendable {
    case plain, copying, inPlace, via, mappingModel, recipe, recipeThroughVersions, steps, staged

    var isWritten: Bool {
      self == .mappingModel || self == .recipe || self == .recipeThroughVersions
    }

    func plan(_ store: Store, from: Model, to: Model, middle: Model) throws -> MigrationPlan {
      let names = (from: "Notes", to: "Notes 3")
      func plan(
        through versions: ModelVersions? = nil, _ documents: MappingDocuments = MappingDocuments(),
        _ strategy: MigrationPlan.Strategy? = nil
      ) throws -> MigrationPlan {
        try store.plan(
          to: to, names: names, source: from, through: versions, documents: documents,
          strategy: strategy)
      }
      let versions = ModelVersions([
        .init(name: "Notes", model: from), .init(name: "Notes 2", model: middle),
        .init(name: "Notes 3", model: to),
      ])
      var documents = MappingDocuments()
      switch self {
      case .plain: return try store.plan(to: to, names: names, source: from)
      case .copying: return try plan(through: nil, documents, .copy)
      case .inPlace: return try plan(through: nil, documents, .inPlace)
      case .via: return try plan(through: versions)
      case .mappingModel:
        let mappings = ["Note", "Draft", "Setting"].map { entity in
          var mapping = MappingSamples.Mapping(entity, source: entity, destination: entity)
          mapping.attributes =
            entity == "Setting"
            ? [("value", "$source.value"), ("unit", nil)]
            : [("text", "$source.text"), ("rating", nil)]
          return mapping
        }
        documents.add(
          try MappingModelDocument(
            bytes: MappingSamples.compiled(mappings, from: from, to: to), path: "Notes.cdm"))
        return try plan(through: nil, documents)
      case .recipe, .recipeThroughVersions:
        let to = self == .recipe ? "Notes 3" : "Notes 2"
        documents.add(
          try Recipe(
            text: """
              { "from": "Notes", "to": "\(to)", "entityMappings": [
                { "source": "Note", "destination": "Note", "attributes": { "text": "text" } },
                { "source": "Setting", "destination": "Setting" } ] }
              """, path: "r.json5"))
        return try plan(through: self == .recipe ? nil : versions, documents)
      case .steps:
        return try store.plan(steps: [
          MigrationStep(
            from: "1", to: "3", source: from, destination: to,
            mapping: try MappingInference.mapping(from: from, to: to))
        ])
      case .staged:
        let stages = try StagedMigration(stages: [
          .lightweight(to: [
            .model(from, name: "Notes"), .model(middle, name: "Notes 2"),
            .model(to, name: "Notes 3"),
          ])
        ])
        return try store.plan(stages: stages)
      }
    }
  }

  /// What a store of one configuration has before and after.
  struct Part: Sendable, CustomTestStringConvertible {
    var configuration: String
    var counts: [String: Int]
    var table: String
    var column: String
    var otherTable: String
    var testDescription: String { configuration }
  }

  static let parts = [
    Part(
      configuration: "Content", counts: ["Note": 1, "Draft": 1], table: "ZNOTE",
      column: "ZRATING", otherTable: "ZSETTING"),
    Part(
      configuration: "Local", counts: ["Setting": 1], table: "ZSETTING", column: "ZUNIT",
      otherTable: "ZNOTE"),
  ]

  @Test(
    "every way of planning keeps each configuration", arguments: Planning.allCases, parts)
  func everyWay(_ planning: Planning, _ part: Part) throws {
    for writesElsewhere in [false, true] {
      try keeps(part, planning, writesElsewhere: writesElsewhere)
    }
  }

  private func keeps(_ part: Part, _ planning: Planning, writesElsewhere: Bool) throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder, part.configuration)
    let entities = part.counts.keys.sorted()
    let destination = try Self.model(extra: true)
    // Between them only what is in the other configuration changes, and could not be inferred.
    let plan = try planning.plan(
      Store(path: path), from: Self.model(), to: destination, middle: Self.middle())
    #expect(
      plan.notes.contains {
        $0.contains("configuration “\(part.configuration)”") && $0.contains("assumed")
      })
    #expect(plan.losses == [] && plan.failures == [])
    #expect(plan.steps.last?.destination.entities.map(\.name) == entities)
    if planning.isWritten {
      #expect(plan.steps.contains { $0.mapping.kind == .recipe || $0.mapping.kind == .mapping })
    }
    var options = MigrationOptions()
    if writesElsewhere { options.output = folder.path("Result.sqlite") }
    _ = try StoreMigration.runAndRead(plan, options: options)
    let store = try Store(path: options.output ?? path)
    #expect(store.configuration == part.configuration)
    #expect(store.warnings == [])
    #expect(store.metadata.versionHashes.keys.sorted() == entities)
    #expect(!store.database.contains(part.otherTable))
    #expect(store.database.columns(of: part.table).contains(part.column))
    #expect(try store.counts() == part.counts)
    let cached = try #require(store.connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob)
    #expect(
      try Model(archive: ModelCache.inflate(cached)).versionHashes == destination.versionHashes)
    // What became of the store is compared in the same part.
    if writesElsewhere {
      let before = try Store(path: path)
      let path = try StoreMigration.path(
        of: before,
        before.request(to: destination, names: ("Notes", "Notes 3"), source: Self.model()))
      #expect(
        try StoreVerification.compare(
          before: before, after: store, mapping: #require(path.wholeMapping)
        ).isEqual)
    }
  }

  /// A version in which a note has more, and a setting is something else.
  private static func middle() throws -> Model {
    var note = Entity("Note")
    note.attributes = [
      Attribute("text", .string, optional: true), Attribute("rating", .integer16, optional: true),
      Attribute("mood", .string, optional: true),
    ]
    var setting = Entity("Setting")
    setting.attributes = [Attribute("value", .string, optional: true)]
    setting.versionHashModifier = "2"
    return try Model(
      entities: [note, setting, Entity("Draft", parent: "Note")], configurations: defaults)
  }

  @Test("what cannot be inferred in another configuration stands in nobody's way")
  func otherConfiguration() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let model = try Self.model(extra: true)
    let destination = try Model(
      entities: model.entities.map { entity in
        var entity = entity
        if entity.name == "Setting" { entity.attributes[0].type = .date }
        return entity
      }, configurations: Self.defaults)
    #expect(throws: CoreDataError.self) {
      _ = try MappingInference.mapping(from: Self.model(), to: destination)
    }
    for strategy in [MigrationPlan.Strategy?.none, .copy, .inPlace] {
      let plan = try Store(path: path).plan(
        to: destination, names: ("1", "2"), source: Self.model(),
        strategy: strategy)
      #expect(plan.failures == [])
    }
    #expect(
      try StoreMigration.impacts(on: Store(path: path), to: destination).allSatisfy {
        $0.severity == .harmless
      })
  }

  @Test("objects that a mapping takes out of the configuration are a loss")
  func leaving() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    var (note, draft) = (
      MappingSamples.Mapping("Note", source: "Note", destination: "Note"),
      MappingSamples.Mapping("Draft", source: "Draft", destination: "Setting")
    )
    note.attributes = [("text", "$source.text")]
    draft.attributes = [("value", "$source.text")]
    var documents = MappingDocuments()
    documents.add(
      try MappingModelDocument(
        bytes: MappingSamples.compiled(
          [note, draft], from: Self.model(), to: Self.model(extra: true)), path: "Notes.cdm"))
    let plan = try Store(path: path).plan(
      to: Self.model(extra: true), names: ("1", "2"),
      documents: documents)
    #expect(plan.losses.map { "\($0.name) \($0.values)" } == ["Draft 1"])
  }
}

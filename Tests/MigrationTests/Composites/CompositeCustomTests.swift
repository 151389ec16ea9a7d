import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Composite attributes in mapping models, policies, stages and chains")
struct CompositeCustomTests {
  private static func renamed() throws -> Model {
    try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.edit(element: "person") {
          $0.name = "name"
          $0.renamingIdentifier = "person"
        }
      }
      entities["Item"]?.attributes.append(Attribute("byline", .string, optional: true))
    }
  }

  private static func mappings() -> [MappingSamples.Mapping] {
    var item = MappingSamples.Mapping("ItemToItem", source: "Item", destination: "Item")
    item.attributes = [
      ("author", "$source.author"), ("byline", "$source.author.person"), ("id", "$source.id"),
      ("title", "$source.title"), ("kind", "$source.kind"), ("back", "$source.front"),
      ("front", nil),
    ]
    item.relationships = [("shelf", MappingSamples.objects("ShelfToShelf", "$source.shelf"))]
    var magazine = MappingSamples.Mapping(
      "MagazineToMagazine", source: "Magazine", destination: "Magazine")
    magazine.attributes = item.attributes + [("editor", "$source.editor")]
    magazine.relationships = item.relationships
    var shelf = MappingSamples.Mapping("ShelfToShelf", source: "Shelf", destination: "Shelf")
    shelf.attributes = [("name", "$source.name")]
    return [item, magazine, shelf]
  }

  private static func plan(
    _ path: String, _ mappings: [MappingSamples.Mapping], to model: Model
  ) throws -> MigrationPlan {
    var documents = MappingDocuments()
    documents.add(
      try MappingModelDocument(
        bytes: MappingSamples.compiled(mappings, from: CompositeSamples.library(), to: model),
        path: "m.cdm"))
    return try Store(path: path).plan(to: model, names: ("1", "2"), documents: documents)
  }

  @Test("$source.author carries all elements, $source.author.person one of them")
  func mappingModel() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.edit(element: "person") {
          $0.name = "name"
          $0.renamingIdentifier = "person"
        }
      }
      // Left empty by the mapping.
      entities["Item"]?.edit("front") { $0.isOptional = true }
      entities["Item"]?.attributes.append(Attribute("byline", .string, optional: true))
    }
    let plan = try Self.plan(path, Self.mappings(), to: model)
    #expect(plan.steps.map(\.mapping.kind) == [.mapping])
    // The colour behind is the former one in front; that behind is read by nothing.
    #expect(plan.losses.map(\.name).sorted().first == "Item.back.linearBlue")
    var options = MigrationOptions()
    options.allowedLosses = ["Item.back"]
    _ = try StoreMigration.runAndRead(plan, options: options)
    let after = try CompositeCase.values(at: path)
    #expect(after["Item/p1"]?["author.name"] == "Ann")
    #expect(after["Item/p1"]?["author.id"] == "7")
    #expect(after["Item/p1"]?["byline"] == "Ann")
    #expect(after["Item/p1"]?["back.opacity"] == "0.5")
    #expect(after["Item/p1"]?["front.opacity"] == "∅")
    #expect(after["Magazine/p3"]?["editor.isChief"] == "true")
    #expect(after["Magazine/p3"]?["shelf"] == "Shelf/p1")
  }

  @Test("a value that is no composite is refused by its property")
  func wrongMappingModel() throws {
    let model = try Self.renamed()
    for wrong in ["$source.title", "$source.author.person", "1 + 1"] {
      var mappings = Self.mappings()
      mappings[0].attributes[0].expression = wrong
      let bytes = try MappingSamples.compiled(
        mappings, from: CompositeSamples.library(), to: model)
      let error = #expect(throws: CoreDataError.self) {
        try MappingModelDocument(bytes: bytes).mapping(
          from: CompositeSamples.library(), to: model)
      }
      #expect(error?.code == 134110, "\(wrong)")
      #expect(error?.property == "author")
    }
  }

  /// Turns authors round and looks at what is read.
  final class Authors: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let made = try manager.makeInstance(of: source, in: mapping)
      let author = try source.composite("author")
      #expect(try made.composite("author")?["id"] == author?["id"])
      guard case .string(let name)? = author?["person"] else {
        #expect(author == nil)
        #expect(try made.composite("author") == nil)
        return
      }
      #expect(try source.value("author.person") == .string(name))
      try made.set(
        elements: ["name": .string(String(name.reversed())), "id": .integer(1)], for: "author")
      try made.set(.string("by-\(name)"), for: "byline")
      for (elements, element) in [
        (["nome": AttributeValue.null], "author.nome"), (["id": .boolean(true)], "author.id"),
      ] {
        let error = #expect(throws: CoreDataError.self) {
          try made.set(elements: elements, for: "author")
        }
        #expect(error?.property == element)
      }
      #expect(throws: CoreDataError.self) { try made.composite("byline") }
      #expect(throws: CoreDataError.self) { try made.value("author") }
      #expect(throws: CoreDataError.self) { try source.value("author") }
    }
  }

  @Test("a policy reads and sets a composite by its elements")
  func policy() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let before = try CompositeCase.values(at: path)
    var documents = MappingDocuments()
    documents.add(
      try Recipe(
        text: """
          { from: '1', to: '2', entityMappings: [
            { source: 'Item', destination: 'Item', policy: 'App.Authors' } ] }
          """, path: "r"))
    var bindings = PolicyBindings()
    bindings["App.Authors"] = Authors.self
    let plan = try Store(path: path).plan(
      to: Self.renamed(), names: ("1", "2"),
      documents: documents, policies: bindings)
    _ = try StoreMigration.runAndRead(plan)
    let after = try CompositeCase.values(at: path)
    #expect(after["Item/p1"]?["author.name"] == "nnA")
    #expect(after["Item/p1"]?["author.id"] == "1")
    // Elements that were not named are empty.
    #expect(after["Item/p1"]?["author.born"] == "∅")
    #expect(after["Item/p1"]?["byline"] == "by-Ann")
    #expect(after["Item/p2"]?["author.name"] == "∅")
    #expect(after["Item/p1"]?["id"] == before["Item/p1"]?["id"])
    #expect(after["Item/p1"]?["front.opacity"] == "0.5")
    #expect(after["Magazine/p3"]?["author.name"] == "Zoë")
  }

  @Test("a stage reads, filters by and sets elements")
  func stage() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let stages = try StagedMigration(stages: [
      .custom(
        from: .model(CompositeSamples.library(), name: "1"), to: .model(Self.renamed(), name: "2"),
        willMigrate: { context in
          for item in try context.objects(of: "Item", where: "author.id == 7") {
            try item.set(.string("Anna"), for: "author.person")
          }
        },
        didMigrate: { context in
          try context.forEach("Item") { item in
            guard case .string(let name)? = try item.composite("author")?["name"] else { return }
            try item.set(.string(name), for: "byline")
          }
        })
    ])
    let plan = try Store(path: path).plan(stages: stages)
    _ = try StoreMigration.runAndRead(plan)
    let after = try CompositeCase.values(at: path)
    #expect(after["Item/p1"]?["author.name"] == "Anna")
    #expect(after["Item/p1"]?["byline"] == "Anna")
    #expect(after["Magazine/p3"]?["byline"] == "Zoë")
    #expect(after["Item/p2"]?["byline"] == "∅")
    #expect(after["Item/p1"]?["author.id"] == "7")
  }

  @Test("a chain carries what is renamed twice, and adds what comes later")
  func chain() throws {
    let middle = try Self.renamed()
    let last = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.name = "writer"
        $0.renamingIdentifier = "author"
        $0.edit(element: "person") {
          $0.name = "fullName"
          $0.renamingIdentifier = "name"
        }
        $0.elements.append(
          Attribute("rank", .integer16, optional: true).defaulting(to: .integer(3)))
      }
    }
    let first = try CompositeSamples.library()
    let steps = try [(first, middle), (middle, last)].map {
      try MappingInference.mapping(from: $0, to: $1)
    }
    let whole = try #require(MappingModel.composed(steps[0], steps[1]))
    let item = try #require(whole.mapping(toDestination: "Item"))
    #expect(item.attribute(named: "writer.fullName")?.source == "author.person")
    #expect(item.attribute(named: "writer.rank")?.defaultValue == .integer(3))
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let plan = try Store(path: path).plan(
      to: last, names: ("1", "3"), source: first,
      through: ModelVersions([
        .init(name: "1", model: first), .init(name: "2", model: middle),
        .init(name: "3", model: last),
      ]))
    #expect(plan.steps.map(\.to) == ["2", "3"])
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    _ = try StoreMigration.runAndRead(plan, options: options)
    let after = try CompositeCase.values(at: path)
    #expect(after["Item/p1"]?["writer.fullName"] == "Ann")
    #expect(after["Item/p1"]?["writer.rank"] == "3")
    #expect(after["Item/p1"]?["id"] == "100")
  }

  @Test("a mapping of the whole attribute, made by a program, maps its elements")
  func byHand() throws {
    let model = try Self.renamed()
    let source = try CompositeSamples.library()
    var mapping = try MappingInference.mapping(from: source, to: model)
    for index in mapping.entityMappings.indices {
      mapping.entityMappings[index].attributes.removeAll { $0.name.hasPrefix("author.") }
      guard mapping.entityMappings[index].destination != "Shelf" else { continue }
      mapping.entityMappings[index].attributes.append(
        AttributeMapping(name: "author", source: "author"))
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let step = MigrationStep(
      from: "1", to: "2", source: source, destination: model, mapping: mapping)
    let plan = try Store(path: path).plan(steps: [step])
    #expect(plan.losses == [])
    _ = try StoreMigration.runAndRead(plan)
    let after = try CompositeCase.values(at: path)
    #expect(after["Item/p1"]?["author.name"] == "Ann")
    #expect(after["Item/p1"]?["author.id"] == "7")
    var wrong = step
    wrong.mapping.entityMappings[0].attributes.append(
      AttributeMapping(name: "author", source: "title"))
    wrong.mapping.entityMappings[0].attributes.removeAll { $0.source == "author" }
    let error = #expect(throws: CoreDataError.self) {
      try Store(path: path).plan(steps: [wrong])
    }
    #expect(error?.property == "author")
  }

  @Test("verification finds one changed element, and tells which")
  func verification() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.name = "writer"
        $0.renamingIdentifier = "author"
      }
    }
    let plan = try Way.inPlace.plan(Store(path: path), to: model)
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    _ = try StoreMigration.runAndRead(plan, options: options)
    func report() throws -> VerificationReport {
      try StoreVerification.compare(
        before: Store(path: path), after: Store(path: folder.path("out.sqlite")),
        mapping: plan.steps[0].mapping)
    }
    #expect(try report().differences == [])
    let connection = try Connection(path: folder.path("out.sqlite"), mode: .readWrite)
    try connection.execute("UPDATE ZITEM SET ZID1 = 8 WHERE Z_PK = 1")
    connection.close()
    let differences = try report().differences
    #expect(differences.map(\.property) == ["writer.id"])
    #expect(differences.first?.first == [ObjectID(entity: "Item", key: 1)])
  }

  @Test(
    "a SwiftData store takes a composite attribute, and all else stays",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"), arguments: Way.allCases)
  func swiftData(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let source = try Store(path: Fixtures.path("cartkit/CartKitSwiftData_v1.sqlite"))
    let model = try Model(
      entities: source.model.entities.map { entity in
        var entity = entity
        guard entity.name == "CartItemModel" else { return entity }
        entity.attributes.append(
          CompositeSamples.composite(
            "audit", optional: true,
            [
              Attribute("id", .string, optional: true),
              Attribute("rank", .integer64, optional: true).defaulting(to: .integer(2)),
            ]))
        entity.attributes.append(Attribute("note", .string, optional: true))
        return entity
      })
    let plan = try way.plan(source, to: model)
    #expect(plan.losses == [])
    #expect(plan.failures == [])
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    _ = try StoreMigration.runAndRead(plan, options: options)
    let result = try Store(path: folder.path("out.sqlite"))
    #expect(result.modelSource == .store)
    #expect(result.model.versionHashes == model.versionHashes)
    #expect(result.metadata.versionHashes == model.versionHashes)
    let before = try StoreDump.lines(source)
    let after = try StoreDump.lines(result)
    #expect(before.count == after.count)
    for (old, new) in zip(before, after) {
      let rest = new.replacing(" audit.id=∅", with: "").replacing(" audit.rank=2", with: "")
        .replacing(" note=∅", with: "")
      #expect(rest == old)
      #expect((rest != new) == new.hasPrefix("CartItemModel/"))
    }
    // What nothing changed is the same text.
    for (name, sql) in source.database.sql where !sql.contains("ZCARTITEMMODEL") {
      #expect(result.database.sql[name] == sql, "\(name)")
    }
  }
}

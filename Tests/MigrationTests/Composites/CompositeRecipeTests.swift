import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Composite attributes in recipes")
struct CompositeRecipeTests {
  private static func plan(
    _ path: String, to model: Model, _ recipe: String
  ) throws -> MigrationPlan {
    var documents = MappingDocuments()
    documents.add(try Recipe(text: "{ from: '1', to: '2', \(recipe) }", path: "recipe.json5"))
    return try Store(path: path).plan(to: model, names: ("1", "2"), documents: documents)
  }

  private func migrate(to model: Model, _ recipe: String) throws -> CompositeCase.Result {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let before = try CompositeCase.values(at: path)
    let plan = try Self.plan(path, to: model, recipe)
    // Reading what the recipe's writer makes of it says the same.
    let step = try #require(plan.steps.first)
    let text = Recipe.text(
      of: step.mapping, from: "1", to: "2", source: step.source, destination: step.destination)
    #expect(!text.contains("Not everything"))
    let read = try Recipe(text: text, path: "r").mapping(
      from: step.source, to: step.destination, names: ("1", "2"))
    #expect(read?.entityMappings == step.mapping.entityMappings, "\(text)")
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    return try CompositeCase.look(at: path, model, before, plan, receipt)
  }

  private func refusal(_ model: Model, _ recipe: String) throws -> CoreDataError? {
    do {
      _ = try Recipe(text: "{ from: '1', to: '2', \(recipe) }", path: "r").mapping(
        from: CompositeSamples.library(), to: model, names: ("1", "2"))
      return nil
    } catch { return error as? CoreDataError }
  }

  @Test("an element takes an expression over elements, the others are carried")
  func element() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.attributes.append(Attribute("byline", .string, optional: true))
    }
    let result = try migrate(
      to: model,
      """
      entityMappings: [ { source: "Item", destination: "Item", attributes: {
        "author.person": "upper(author.person) || ' ' || author.id",
        byline: "author.person" } } ]
      """)
    #expect(result.after["Item/p1"]?["author.person"] == "ANN")
    #expect(result.after["Item/p1"]?["author.id"] == "7")
    #expect(result.after["Item/p1"]?["author.born"] == "0.0")
    #expect(result.after["Item/p1"]?["byline"] == "Ann")
    #expect(result.after["Item/p1"]?["id"] == "100")
    #expect(result.after["Magazine/p3"]?["author.person"] == "Zoë")
    #expect(result.plan.losses == [])
    let item = result.plan.steps[0].mapping.mapping(toDestination: "Item")
    #expect(
      item?.attribute(named: "byline") == AttributeMapping(name: "byline", source: "author.person"))
    let preview = try #require(result.plan.steps[0].previews.first)
    #expect(preview.before.contains { $0.name == "author.person" && $0.value == "Ann" })
    #expect(preview.after.contains { $0.name == "author.person" && $0.value == "ANN 7" })
  }

  @Test("an attribute becomes an element, and an element an attribute")
  func shapes() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("title") {
        $0.type = .composite
        $0.isOptional = true
        $0.elements = [
          Attribute("main", .string, optional: true), Attribute("sub", .string, optional: true),
        ]
      }
      entities["Item"]?.edit("kind") {
        $0.type = .string
        $0.elements = []
      }
    }
    let attributes = #"{ "title.main": "title", kind: "kind.kind" }"#
    let result = try migrate(
      to: model,
      """
      entityMappings: [
        { source: "Item", destination: "Item", attributes: \(attributes) },
        { source: "Magazine", destination: "Magazine", attributes: \(attributes) } ]
      """)
    #expect(result.after["Item/p1"]?["title.main"] == "Soup")
    #expect(result.after["Item/p1"]?["title.sub"] == "∅")
    #expect(result.after["Magazine/p3"]?["kind"] == "weekly")
    #expect(result.plan.losses == [])
  }

  @Test("a whole composite is copied from another one, or begins empty")
  func whole() throws {
    let model = try CompositeCase.model { entities in
      entities["Magazine"]?.attributes.append(
        CompositeSamples.composite(
          "deputy", optional: true,
          [
            Attribute("person", .string, optional: true),
            Attribute("since", .date, optional: true),
          ]))
    }
    let result = try migrate(
      to: model,
      """
      entityMappings: [ { source: "Magazine", destination: "Magazine", attributes: {
        deputy: "editor", author: null, "author.id": "5" } } ]
      """)
    #expect(result.after["Magazine/p3"]?["deputy.person"] == "Bea")
    #expect(result.after["Magazine/p3"]?["deputy.since"] == "∅")
    #expect(result.after["Magazine/p3"]?["editor.person"] == "Bea")
    #expect(result.after["Magazine/p3"]?["author.person"] == "∅")
    #expect(result.after["Magazine/p3"]?["author.id"] == "5")
    #expect(result.after["Item/p1"]?["author.person"] == "Ann")
    #expect(result.plan.losses.map(\.name) == ["Item.author.person"])
  }

  @Test("elements and composites are renamed by a recipe where the model forgot it")
  func renames() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.name = "writer"
        $0.edit(element: "person") { $0.name = "name" }
      }
    }
    let result = try migrate(
      to: model,
      #"rename: { "Item.author.person": "Item.writer.name", "Item.author": "Item.writer" }"#)
    #expect(result.after["Item/p1"]?["writer.name"] == "Ann")
    #expect(result.after["Item/p1"]?["writer.id"] == "7")
    #expect(result.plan.losses == [])
  }

  @Test("objects that hang on others are made with elements")
  func children() throws {
    let model = try CompositeCase.model { entities in
      var copy = Entity("Copy")
      copy.attributes = [
        CompositeSamples.composite(
          "holder", optional: true,
          [
            Attribute("person", .string, optional: true),
            Attribute("id", .integer64, optional: true),
          ])
      ]
      copy.relationships = [Relationship("item", to: "Item", inverse: "copies", optional: true)]
      entities["Copy"] = copy
      entities["Item"]?.relationships.append(
        Relationship("copies", to: "Copy", inverse: "item", toMany: true, optional: true))
    }
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let plan = try Self.plan(
      path, to: model,
      """
      entityMappings: [ { source: "Item", destination: "Item", create: [ {
        destination: "Copy", relationship: "copies",
        attributes: { holder: "author", "holder.id": "author.id + 1" } } ] } ]
      """)
    _ = try StoreMigration.runAndRead(plan)
    let after = try CompositeCase.values(at: path)
    #expect(after["Copy/p1"] == ["holder.id": "8", "holder.person": "Ann", "item": "Item/p1"])
    #expect(after["Copy/p2"]?["holder.person"] == "∅")
  }

  @Test("what cannot be said is refused with the place and the elements")
  func mistakes() throws {
    let model = try CompositeCase.model { entities in
      entities["Item"]?.attributes.append(Attribute("byline", .string, optional: true))
    }
    func item(_ attributes: String) -> String {
      "entityMappings: [ { source: 'Item', destination: 'Item', attributes: { \(attributes) } } ]"
    }
    let whole = try refusal(model, item("author: \"title\""))
    #expect(whole?.kind == .usage)
    #expect(whole?.message.contains("“author” is made of elements") == true)
    #expect(whole?.hint?.contains("\"author.person\"") == true)
    let value = try refusal(model, item("byline: \"upper(author)\""))
    #expect(value?.message.contains("“author” is made of elements") == true)
    #expect(value?.hint?.contains("author.person") == true)
    let unknown = try refusal(model, item("byline: \"author.persn\""))
    #expect(unknown?.message.contains("“author.persn”") == true)
    #expect(unknown?.hint == "Did you mean author.person?")
    let name = try refusal(model, item("\"author.persn\": \"title\""))
    #expect(name?.message.contains("“author.persn”") == true)
    #expect(name?.hint == "Did you mean author.person?")
    let beyond = try refusal(model, item("byline: \"author.person.length\""))
    #expect(beyond?.kind == .usage)
    let types = try refusal(
      CompositeCase.model { entities in
        entities["Item"]?.edit("author") { $0.edit(element: "person") { $0.type = .boolean } }
      }, item("author: \"author\""))
    #expect(
      types?.message.contains("“author.person” is Boolean, and “author.person” String") == true)
    let alone = try refusal(
      CompositeCase.model { entities in
        entities["Item"]?.edit("author") {
          $0.name = "writer"
          $0.edit(element: "person") { $0.name = "name" }
        }
      }, #"rename: { "Item.author.person": "Item.writer.name" }"#)
    #expect(alone?.message.contains("“writer” is not the former “author”") == true)
    let plain = try refusal(
      CompositeCase.model { entities in
        entities["Item"]?.edit("author") { $0.remove(element: "person") }
        entities["Item"]?.attributes.append(Attribute("penName", .string, optional: true))
      }, #"rename: { "Item.author.person": "Item.penName" }"#)
    #expect(plain?.hint?.contains("\"penName\": \"author.person\"") == true)
  }

  @Test("every mapping of elements is a recipe, and reads back the same")
  func written() throws {
    let source = try CompositeSamples.library()
    let renamed = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") {
        $0.name = "writer"
        $0.renamingIdentifier = "author"
        $0.edit(element: "person") {
          $0.name = "name"
          $0.renamingIdentifier = "person"
        }
        $0.elements.append(
          Attribute("email", .string, optional: true).defaulting(to: .string("none")))
      }
    }
    let mapping = try MappingInference.mapping(from: source, to: renamed)
    // The same without the identifiers in the model: they come to be in the recipe.
    let bare = try CompositeCase.model { entities in
      entities["Item"]?.attributes = renamed.entity(named: "Item")?.attributes ?? []
      entities["Item"]?.edit("writer") {
        $0.renamingIdentifier = nil
        $0.edit(element: "name") { $0.renamingIdentifier = nil }
      }
    }
    for model in [renamed, bare] {
      let text = Recipe.text(of: mapping, from: "1", to: "2", source: source, destination: model)
      let read = try Recipe(text: text, path: "r").mapping(
        from: source, to: model, names: ("1", "2"))
      #expect(read?.entityMappings == mapping.entityMappings, "\(text)")
      #expect(!text.contains("Not everything"))
      #expect(text.contains("\"Item.author\": \"Item.writer\"") == (model == bare))
    }
  }

  @Test("changes made by hand name elements")
  func edits() throws {
    let source = try CompositeSamples.library()
    let model = try CompositeCase.model { entities in
      entities["Item"]?.edit("author") { $0.edit(element: "person") { $0.name = "name" } }
      entities["Item"]?.attributes.append(Attribute("byline", .string, optional: true))
    }
    var edits = MappingEdits()
    edits.add(.rename(from: "Item.author.person", to: "Item.author.name"))
    edits.add(.value("Item.byline", "author.person"))
    let mapping = try edits.recipe(from: source, to: model).mapping(from: source, to: model)
    let item = try #require(mapping?.mapping(toDestination: "Item"))
    #expect(item.attribute(named: "author.name")?.source == "author.person")
    #expect(item.attribute(named: "byline")?.source == "author.person")
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let plan = try Way.inPlace.plan(Store(path: path), to: model)
    let suggestions = MappingSuggestion.forLoss(
      entity: "Item", property: "author.person", in: plan.steps[0])
    #expect(
      suggestions.map(\.edit).contains(
        .rename(from: "Item.author.person", to: "Item.author.name")))
    #expect(suggestions.map(\.edit).contains(.value("Item.byline", "author.person")))
  }
}

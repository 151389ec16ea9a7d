import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// Properties that change their names in ways that no version hash shows.
@Suite("Names that change under one hash")
struct EqualHashTests {
  private static let text = ["author", "editor"].map { name in
    CompositeSamples.composite(name, optional: true, [Attribute("person", .string, optional: true)])
  }

  /// A book of two equal composites and two equal strings.
  ///
  /// - Parameter first: the name of the composite that was `author`.
  private static func model(
    first: String = "author", identifiers: [String: String] = [:], isNext: Bool = false
  ) throws -> Model {
    var book = Entity("Book")
    book.attributes = text + ["name", "title"].map { Attribute($0, .string, optional: true) }
    book.edit("author") { $0.name = first }
    for (name, identifier) in identifiers {
      book.edit(name) { $0.renamingIdentifier = identifier }
    }
    var other = Entity("Other")
    other.attributes = ["a"].map { Attribute($0, .string, optional: true) }
    if isNext { other.attributes.append(Attribute("b", .string, optional: true)) }
    return try Model(entities: [book, other])
  }

  private static func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Books.sqlite")
    let writer = try StoreWriter(
      creating: path, model: model(), uuid: "11111111-2222-4333-8444-555555555555")
    try writer.insert(
      "Book",
      attributes: [
        "author.person": .string("AUTHOR"), "editor.person": .string("EDITOR"),
        "name": .string("NAME"), "title": .string("TITLE"),
      ])
    try writer.finish()
    return path
  }

  private static func migrate(
    to model: Model, recipe: String? = nil
  ) throws -> (plan: MigrationPlan, values: [String: String]) {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    var documents = MappingDocuments()
    if let recipe {
      documents.add(try Recipe(text: "{ from: '1', to: '2', \(recipe) }", path: "r.json5"))
    }
    let plan = try Store(path: path).plan(to: model, names: ("1", "2"), documents: documents)
    try StoreMigration.runAndRead(plan)
    return (plan, try CompositeCase.values(at: path)["Book/p1"] ?? [:])
  }

  @Test("a recipe renames a composite whose columns would be another’s")
  func composite() throws {
    let (plan, values) = try Self.migrate(
      to: Self.model(first: "first", isNext: true),
      recipe: "rename: { 'Book.author': 'Book.first' }")
    #expect(values["first.person"] == "AUTHOR")
    #expect(values["editor.person"] == "EDITOR")
    #expect(plan.losses == [])
  }

  @Test("a recipe exchanges the names of two attributes")
  func exchange() throws {
    let (_, values) = try Self.migrate(
      to: Self.model(isNext: true),
      recipe: "rename: { 'Book.name': 'Book.title', 'Book.title': 'Book.name' }")
    #expect(values["title"] == "NAME")
    #expect(values["name"] == "TITLE")
    #expect(values["author.person"] == "AUTHOR")
  }

  @Test("an identifier that Core Data does not look at is told, where it would lead elsewhere")
  func identifiers() throws {
    let exchanged = try Self.model(identifiers: ["name": "title", "title": "name"], isNext: true)
    let (plan, values) = try Self.migrate(to: exchanged)
    #expect(values["title"] == "TITLE")
    let told = plan.notes.filter { $0.contains("has the renaming identifier") }
    #expect(told.count == 2)
    #expect(told.contains { $0.contains("Book.title") && $0.contains("values of “title”") })
    let renamed = try Self.migrate(
      to: Self.model(first: "first", identifiers: ["first": "author"], isNext: true))
    #expect(renamed.values["first.person"] == "EDITOR")
    #expect(
      renamed.plan.notes.contains { $0.contains("Book.first") && $0.contains("values of “editor”") }
    )
    let plain = try Self.migrate(to: Self.model(isNext: true))
    #expect(!plain.plan.notes.contains { $0.contains("has the renaming identifier") })
  }

  @Test("so it is where nothing else changes and there is nothing to do")
  func nothing() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let plan = try Store(path: path).plan(
      to: Self.model(identifiers: ["name": "title", "title": "name"]),
      names: ("1", "2"))
    #expect(plan.isNothingToDo)
    #expect(plan.notes.count { $0.contains("has the renaming identifier") } == 2)
  }
}

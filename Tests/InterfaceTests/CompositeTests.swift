import Migration
import ModelWriting
import Testing

@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("Composite attributes on the screens")
struct CompositeTests {
  private static let columns = [
    RowColumn(
      name: "author.id", kind: .attribute(.integer64), path: ["author", "id"]),
    RowColumn(name: "author.person", kind: .attribute(.string), path: ["author", "person"]),
    RowColumn(name: "title", kind: .attribute(.string)),
    RowColumn(name: "shelf", kind: .toOne(destination: "Shelf")),
  ]

  private func inspection(_ values: [PropertyValue]) -> Inspection {
    Inspection(
      StoredObject(id: ObjectID(entity: "Item", key: 1), columns: Self.columns, values: values))
  }

  @Test("the inspector shows a composite as a tree of its elements")
  func tree() {
    let lines = inspection([
      .value(.integer(7)), .value(.string("Ann")), .value(.string("Soup")), .toOne(nil),
    ]).lines
    #expect(lines.map(\.label) == ["author", "id", "person", "title", "shelf"])
    #expect(lines.map(\.depth) == [0, 1, 1, 0, 0])
    #expect(lines[0].isExpandable)
    #expect(lines[0].value.text == "id 7 · person Ann")
    #expect(lines[2].attribute == "author.person")
  }

  @Test("a composite without a value is one line")
  func null() {
    let lines = inspection([
      .value(.null), .value(.null), .value(.string("Soup")), .toOne(nil),
    ]).lines
    #expect(lines.map(\.label) == ["author", "title", "shelf"])
    #expect(lines[0].isExpandable == false)
  }

  @Test("a filter is completed through the names of elements")
  func completion() throws {
    var item = Entity("Item")
    var author = Attribute("author", .composite)
    author.elements = [Attribute("id", .integer64), Attribute("person", .string)]
    item.attributes = [author, Attribute("title", .string)]
    item.relationships = [Relationship("next", to: "Item", optional: true)]
    let store = StoreSummary(
      path: "A", fileName: "A", model: try Model(entities: [item]), modelMatches: true, uuid: "A",
      walFrames: 0,
      columns: [
        "Item": Array(Self.columns.prefix(3)) + [
          RowColumn(name: "next", kind: .toOne(destination: "Item"))
        ]
      ], tables: [])
    func offered(_ text: String) -> [String] {
      Completion(text, cursor: text.count, entity: "Item", store: store).candidates.map(
        \.text)
    }
    #expect(offered("au") == ["author"])
    #expect(offered("author.") == ["id ", "person "])
    #expect(offered("author.p") == ["person "])
    #expect(offered("next.author.i") == ["id "])
    #expect(offered("author.person ").first == "CONTAINS[cd] \"")
    #expect(offered("author.id ").first == "== ")
    #expect(offered("author.title.").isEmpty)
  }

  @Test("the comparison has a line for each element")
  func diff() throws {
    func model(_ elements: [Attribute]) throws -> Model {
      var entity = Entity("A")
      var author = Attribute("author", .composite, optional: true)
      author.elements = elements
      entity.attributes = [author, Attribute("title", .string)]
      return try Model(entities: [entity])
    }
    var name = Attribute("name", .string)
    name.renamingIdentifier = "person"
    let difference = ModelDifference(
      from: try model([Attribute("id", .integer16), Attribute("person", .string)]),
      to: try model([Attribute("id", .integer32), name, Attribute("mail", .string)]))
    let lines = DiffLine.lines(of: difference)
    #expect(
      lines.map { "\($0.sign.rawValue) \($0.property ?? $0.entity)" } == [
        "  A", "  author", "~ author.id", "~ author.name", "+ author.mail", "  title",
      ])
  }
}

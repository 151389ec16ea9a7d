import ManagedModel
import Terminal
import Testing

@testable import Editing
@testable import Interface
@testable import ManagedStore
@testable import StoreTables

@Suite("Prepared changes of ordered relationships and of composite attributes")
struct PreparedShapeTests {
  private static let shelf = ObjectID(entity: "Shelf", key: 1)
  private static func item(_ key: Int64) -> ObjectID { ObjectID(entity: "Item", key: key) }

  private static func model() throws -> Model {
    var item = Entity("Item")
    var author = Attribute("author", .composite, optional: true)
    author.elements = [
      Attribute("born", .date, optional: true), Attribute("id", .integer64, optional: true),
      Attribute("person", .string, optional: true),
    ]
    item.attributes = [author, Attribute("title", .string)]
    item.relationships = [Relationship("shelf", to: "Shelf", inverse: "items", optional: true)]
    var shelf = Entity("Shelf")
    shelf.attributes = [Attribute("name", .string)]
    shelf.relationships = [
      Relationship(
        "items", to: "Item", inverse: "shelf", toMany: true, ordered: true, optional: true)
    ]
    return try Model(entities: [item, shelf])
  }

  private static let columns: [String: [RowColumn]] = [
    "Item": [
      RowColumn(name: "author.born", kind: .attribute(.date), path: ["author", "born"]),
      RowColumn(name: "author.id", kind: .attribute(.integer64), path: ["author", "id"]),
      RowColumn(name: "author.person", kind: .attribute(.string), path: ["author", "person"]),
      RowColumn(name: "title", kind: .attribute(.string)),
      RowColumn(name: "shelf", kind: .toOne(destination: "Shelf")),
    ],
    "Shelf": [
      RowColumn(name: "name", kind: .attribute(.string)),
      RowColumn(name: "items", kind: .toMany(destination: "Item")),
    ],
  ]

  /// Items 1 to 4 stand on the shelf; the second one has no author.
  private static func values(_ id: ObjectID) -> [PropertyValue] {
    guard id.entity == "Item" else {
      return [.value(.string("Top")), .toMany(ToMany(count: 4, first: (1...4).map(item)))]
    }
    return
      (id.key == 2
      ? [.value(.null), .value(.null), .value(.null)]
      : [.value(.date(0)), .value(.integer(7)), .value(.string("Ann"))])
      + [.value(.string("Book \(id.key)")), .toOne(id.key > 4 ? nil : shelf)]
  }

  private static func rows(_ entity: String) -> RowPage {
    RowPage(
      entity: entity, columns: columns[entity] ?? [],
      rows: (1...(entity == "Item" ? 6 : 1)).map {
        let id = ObjectID(entity: entity, key: Int64($0))
        return RowPage.Row(id: id, values: values(id))
      })
  }

  /// The rows of an entity are in sight, the first of them selected.
  private static func session(
    _ entity: String, width: Int = 80, height: Int = 24
  ) throws -> Session {
    let model = try model()
    var session = try Session(Size(width: width, height: height)) { effect in
      switch effect {
      case .open(let id):
        let summary = StoreSummary(
          path: "Library.sqlite", fileName: "Library.sqlite", model: model, modelMatches: true,
          uuid: "L", columns: columns,
          tables: model.entitiesInStoreOrder.compactMap {
            StoreSchema(model: model).entityTable(of: $0.name)
          })
        return [.answer(id, .opened(summary))]
      case .versions(let id): return [.answer(id, .versions([]))]
      case .names(let id, let request):
        var names = ObjectNames()
        for object in request.objects { names.names[object] = "Book \(object.key)" }
        return [.answer(id, .names(names))]
      case .ask(let id, let request):
        switch request {
        case .count: return [.answer(id, .counted(["Item": 6, "Shelf": 1]))]
        case .rows(let query): return [.answer(id, .rows(rows(query.entity)))]
        case .object(let object):
          let stored = StoredObject(
            id: object, columns: columns[object.entity] ?? [], values: values(object))
          return [.answer(id, .object(Inspection(stored)))]
        case .value(let object, let name):
          let place = columns[object.entity]?.firstIndex { $0.name == name }
          return [.answer(id, .value(place.map { values(object)[$0] }))]
        case .values(let object, let names):
          return [
            .answer(
              id,
              .values(
                names.map { name in
                  columns[object.entity]?.firstIndex { $0.name == name }.map { values(object)[$0] }
                }))
          ]
        default: return []
        }
      default: return nil
      }
    }
    for _ in 0..<3 where session.state.browse.focus != .entities { try session.send("Tab") }
    for _ in 0..<4 where session.state.browse.table?.entity != entity { try session.send("j") }
    for _ in 0..<3 where session.state.browse.focus != .rows { try session.send("Tab") }
    try #require(session.state.browse.table?.entity == entity)
    return session
  }

  /// The list of the shelf's items.
  private static func list(width: Int = 80, height: Int = 24) throws -> Session {
    var session = try session("Shelf", width: width, height: height)
    for _ in 0..<4 where session.state.browse.table?.property?.name != "items" {
      try session.send("l")
    }
    try session.send("E")
    try #require(session.state.layers.last?.content is LinksLayer)
    return session
  }

  private static func assignments(_ session: Session) -> [StoreEdit.Assignment]? {
    session.state.known.prepared.edit.objects.first?.assignments
  }

  @Test("objects of an ordered relationship move up and down, past those that are taken out")
  func order() throws {
    var session = try Self.list()
    #expect(session.screen().description.contains("in this order"))
    try session.send(">", "J")
    #expect(session.screen().description.contains("~ 3  Item/p1  Book 1  was 1"))
    try session.send("⏎")
    #expect(
      Self.assignments(session) == [.toMany("items", .set, [2, 3, 1, 4].map(Self.item))])
    #expect(session.screen().description.contains("*reor"))
    // It goes on from there: without the third one the others stand as they did.
    try session.send("E", "j", "x", "k", ">", "⏎")
    #expect(Self.assignments(session) == [.toMany("items", .remove, [Self.item(3)])])
    try session.send("E", ">", "⏎")
    #expect(Self.assignments(session) == [.toMany("items", .set, [2, 1, 4].map(Self.item))])
    try session.send("E")
    let text = session.screen().description
    #expect(text.contains("−1 reordered") && text.contains("−    Item/p3"), "\(text)")
    try session.send("Esc", "C")
    #expect(session.screen().description.contains("items: −Item/p3 reordered"))
  }

  @Test("the former order again is no change, and only what comes and goes is no order")
  func former() throws {
    var session = try Self.list()
    try session.send(">", "<", "⏎")
    #expect(session.state.known.prepared.isEmpty)
    try session.send("E", "x", "a", "p", "6", "⏎", "⏎")
    #expect(
      Self.assignments(session) == [
        .toMany("items", .remove, [Self.item(1)]), .toMany("items", .add, [Self.item(6)]),
      ])
  }

  @Test("an object that comes in may stand before others, which keep their order")
  func coming() throws {
    var session = try Self.list()
    try session.send("a", "p", "6", "⏎", "K", "K", "⏎")
    #expect(
      Self.assignments(session) == [.toMany("items", .set, [1, 2, 6, 3, 4].map(Self.item))])
    let screen = session.screen().description
    #expect(screen.contains("*   +1") && !screen.contains("reordered"), "\(screen)")
    #expect(
      session.state.known.prepared.arguments?.contains(
        "items=Item/p1,Item/p2,Item/p6,Item/p3,Item/p4") == true)
  }

  @Test("a relationship without an order says so")
  func unordered() throws {
    var session = try Session(width: 80, height: 24)
    try session.send("Tab", "Tab", "k", "Esc", "l", "l", "l", "E", "K")
    #expect(session.state.notice?.text.contains("the relationship has no order") == true)
  }

  /// The line of the composite attribute of an item is selected in the inspector.
  private static func composite(_ key: Int, width: Int = 80, height: Int = 24) throws -> Session {
    var session = try session("Item", width: width, height: height)
    for _ in 1..<key { try session.send("j") }
    for _ in 0..<3 where session.state.browse.focus != .inspector { try session.send("Tab") }
    try #require(session.state.browse.inspector.selectedLine?.label == "author")
    return session
  }

  @Test("the elements of a composite attribute are changed one by one, each by its type")
  func elements() throws {
    var session = try Self.composite(1)
    try session.send("E")
    let text = session.screen().description
    #expect(text.contains("Item/p1 “Book 1” author") && text.contains("person  String"), "\(text)")
    try session.send("j", "⏎")
    for key in "x" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    #expect(session.state.notice?.text.contains("is no Integer 64") == true)
    try session.send("⌫")
    for key in "8" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    #expect(session.state.layers.count == 1)
    #expect(session.screen().description.contains("* 7 → 8"))
    #expect(Self.assignments(session) == [.attribute("author.id", .integer(8))])
    try session.send("Esc")
    #expect(session.screen().description.contains("→ id 8"))
  }

  @Test("a composite attribute without a value gets one, and one with a value loses it")
  func none() throws {
    var session = try Self.composite(2)
    try session.send("E", "j", "j", "⏎")
    for key in "Bea" { try session.send(.key(.character(key))) }
    try session.send("⏎", "q")
    #expect(Self.assignments(session) == [.attribute("author.person", .string("Bea"))])
    let screen = session.screen().description
    #expect(screen.contains("→ person Bea"), "\(screen)")
    session = try Self.composite(1)
    try session.send("E", "x")
    #expect(session.state.layers.isEmpty)
    #expect(
      Self.assignments(session) == [
        .attribute("author.born", .null), .attribute("author.id", .null),
        .attribute("author.person", .null),
      ])
  }

  @Test("a date that is typed as a number is shown as one, or what it is where no calendar has it")
  func dates() throws {
    var session = try Self.composite(1)
    try session.send("E", "⏎")
    for key in "730944000" { try session.send(.key(.character(key))) }
    #expect(session.screen().description.contains("✓ 2024-03-01T00:00:00Z"))
    try session.send("^U")
    for key in "1709251200000" { try session.send(.key(.character(key))) }
    let text = session.screen().description
    #expect(text.contains("! 1709251200000.0 seconds, about 54,164 years after 2001"), "\(text)")
    #expect(text.contains("2024-03-01T00:00:00Z"), "\(text)")
    try session.send("⏎")
    #expect(Self.assignments(session) == [.attribute("author.born", .date(1_709_251_200_000))])
  }

  @Test("looks as it was", arguments: [(120, 36), (80, 24)])
  func look(width: Int, height: Int) throws {
    let size = "\(width)x\(height)"
    var session = try Self.list(width: width, height: height)
    try session.send(">", ">", "G", "x", "a", "p", "6", "⏎")
    try Snapshot.expect(session.screen(), named: "edit-order-\(size)")
    session = try Self.composite(1, width: width, height: height)
    try session.send("E", "j", "⏎")
    for key in "8" { try session.send(.key(.character(key))) }
    try session.send("⏎")
    try Snapshot.expect(session.screen(), named: "edit-elements-\(size)")
  }
}

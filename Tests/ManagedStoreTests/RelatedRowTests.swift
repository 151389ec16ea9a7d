import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Rows that a relationship leads to, and places in a query")
struct RelatedRowTests {
  private func keys(
    _ store: Store, _ object: ObjectID, _ relationship: String, taking text: String? = nil
  ) throws -> [Int64] {
    let filter = try RowFilter(
      relatedTo: object, by: relationship, taking: text, layout: store.layout)
    let query = RowQuery(entity: filter.entity, limit: 2, filter: filter)
    let keys = try RowPageTests.all(store, query)
    #expect(try store.count(of: filter.entity, filter: filter) == keys.count)
    var backwards = query
    backwards.anchor = .end
    backwards.limit = 100
    #expect(try store.rows(backwards).rows.map(\.id.key) == keys)
    return keys
  }

  @Test(
    "they are those that the object itself tells, whichever way they are kept",
    arguments: [
      (ObjectID(entity: "Person", key: 1), "recipes"),
      (ObjectID(entity: "Author", key: 2), "recipes"),
      (ObjectID(entity: "Recipe", key: 1), "tags"), (ObjectID(entity: "Tag", key: 2), "recipes"),
      (ObjectID(entity: "Recipe", key: 1), "goesWith"),
      (ObjectID(entity: "Recipe", key: 2), "goesWith"),
      (ObjectID(entity: "Menu", key: 1), "others"), (ObjectID(entity: "Menu", key: 1), "main"),
      (ObjectID(entity: "Recipe", key: 2), "author"),
      (ObjectID(entity: "Recipe", key: 3), "author"),
    ])
  func kinds(object: ObjectID, relationship: String) throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let whole = try #require(try store.object(object))
    let index = try #require(whole.columns.firstIndex { $0.name == relationship })
    let expected: [Int64] =
      switch whole.values[index] {
      case .toMany(let many): many.first.map(\.key)
      case .toOne(let id): id.map { [$0.key] } ?? []
      default: []
      }
    #expect(try keys(store, object, relationship) == expected.sorted())
  }

  @Test("a predicate takes some of them")
  func taking() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let author = ObjectID(entity: "Author", key: 2)
    #expect(try keys(store, author, "recipes") == [2, 5])
    #expect(try keys(store, author, "recipes", taking: "serves > 2") == [5])
    #expect(throws: CoreDataError.self) {
      try keys(store, author, "recipes", taking: "nothing > 2")
    }
    #expect(throws: CoreDataError.self) { try keys(store, author, "nothing") }
  }

  @Test("an ordered relationship keeps its order, with and without an inverse")
  func ordered() throws {
    var list = Entity("List")
    var items = Relationship("items", to: "Item", inverse: "list", toMany: true, optional: true)
    items.isOrdered = true
    var tags = Relationship("tags", to: "Item", inverse: "tagged", toMany: true, optional: true)
    tags.isOrdered = true
    list.relationships = [items, tags]
    var item = Entity("Item")
    item.relationships = [
      Relationship("list", to: "List", inverse: "items", optional: true),
      Relationship("tagged", to: "List", inverse: "tags", toMany: true, optional: true),
    ]
    let folder = try TemporaryFolder()
    let path = folder.path("Lists.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [list, item]))
    let owner = ObjectID(entity: "List", key: 1)
    let ids = try (1...9).map { _ in try writer.insert("Item", toOne: ["list": owner]) }
    let order = [4, 0, 8, 2, 6, 1, 7, 3, 5]
    let id = try writer.insert("List", toMany: ["tags": order.map { ids[$0] }])
    try writer.finish()
    let store = try Store(path: path)
    let expected = order.map { Int64($0 + 1) }
    #expect(try keys(store, id, "tags") == expected)
    let first = try #require(try store.object(id))
    let index = try #require(first.columns.firstIndex { $0.name == "items" })
    guard case .toMany(let many) = first.values[index] else { return }
    #expect(try keys(store, id, "items") == many.first.map(\.key))
  }

  @Test("the place of a row by number and by key is the same, and so many rows come before it")
  func places() throws {
    let folder = try TemporaryFolder()
    let store = try RowPageTests.store(in: folder)
    for entity in ["Animal", "Dog", "Cat"] {
      for sort in [
        RowQuery.Sort(), .init(descending: true), .init(property: "weight"),
        .init(property: "weight", descending: true), .init(property: "name"),
      ] {
        for filter in [nil, "weight > 2"] {
          var query = RowQuery(entity: entity, sort: sort, limit: 7)
          query.filter = try filter.map { try RowFilter($0, entity: entity, store: store) }
          let all = try RowPageTests.all(store, query)
          for (ordinal, key) in all.enumerated() {
            let cursor = try #require(try store.cursor(at: ordinal, in: query))
            #expect(cursor.key == key)
            #expect(try store.cursor(of: key, in: query) == cursor)
            #expect(try store.count(before: cursor, in: query) == ordinal)
          }
          #expect(try store.cursor(at: all.count, in: query) == nil)
        }
      }
    }
    let query = RowQuery(
      entity: "Animal", filter: try RowFilter("weight > 2", entity: "Animal", store: store))
    #expect(try store.cursor(of: 5, in: query) == nil)
    #expect(try store.cursor(of: 99, in: query) == nil)
  }

  @Test("rows sorted by texts of megabytes page on, their cursors small")
  func longTexts() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Long.sqlite")
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    let writer = try StoreWriter(creating: path, model: Model(entities: [note]))
    for index in [3, 1, 2, 1] {
      let text = String(repeating: "a", count: 1_000_000) + String(index)
      try writer.insert("Note", attributes: ["text": .string(text)])
    }
    try writer.insert("Note")
    try writer.insert("Note", attributes: ["text": .string("b")])
    try writer.finish()
    let store = try Store(path: path)
    var query = RowQuery(entity: "Note", sort: .init(property: "text"), limit: 1)
    query.longestText = 10
    #expect(try RowPageTests.all(store, query) == [5, 2, 4, 3, 1, 6])
    query.sort.isDescending = true
    #expect(try RowPageTests.all(store, query) == [6, 1, 3, 4, 2, 5])
    query.limit = 10
    let page = try store.rows(query)
    #expect(page.rows[1].values == [.value(.string("aaaaaaaaaa"))])
    #expect(page.rows[1].cursor.sortValue == .stored)
    query.longestText = nil
    guard case .value(.string(let text)) = try store.rows(query).rows[1].values[0] else { return }
    #expect(text.utf8.count == 1_000_001)
  }
}

import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Rows with composite attributes")
struct CompositeRowTests {
  private func store(_ folder: TemporaryFolder) throws -> Store {
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    return try Store(path: path)
  }

  static let cases: [(String, [Int64])] = [
    ("author.person == \"Ann\"", [1]), ("author.person BEGINSWITH[cd] \"zo\"", [3]),
    ("author.id == 7", [1]), ("id == 7", []), ("id >= 101", [2, 3]),
    ("author == nil", [2]), ("author != nil", [1, 3]), ("NOT author == nil", [1, 3]),
    ("author.person == nil AND author == nil", [2]), ("kind.kind == \"book\"", [1, 2]),
    ("kind != nil", [1, 2, 3]), ("back.linearRed < front.linearRed", [1]),
    ("front.opacity == 0.5", [1]), ("author.person.length == 3", [1, 3]),
    ("author.score > 1.4", [1]), ("author.born <= \"2001-01-01\"", [1]),
    ("author.id IN {7, 8}", [1]), ("author.person IN {\"Ann\", \"Zoë\"}", [1, 3]),
    ("#author.#person == 'Ann'", [1]),
  ]

  @Test("elements and whole composites in a filter", arguments: cases)
  func filter(_ text: String, _ keys: [Int64]) throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    let filter = try RowFilter(text, entity: "Item", store: store)
    let page = try store.rows(RowQuery(entity: "Item", filter: filter))
    #expect(page.rows.map(\.id.key) == keys)
  }

  @Test("composites of a subentity and through relationships")
  func related() throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    func keys(_ text: String, _ entity: String) throws -> [Int64] {
      let filter = try RowFilter(text, entity: entity, store: store)
      return try store.rows(RowQuery(entity: entity, filter: filter)).rows.map(\.id.key)
    }
    #expect(try keys("editor.person == \"Bea\" AND author.person == \"Zoë\"", "Magazine") == [3])
    #expect(try keys("editor.id == 9 AND editor.isChief == YES", "Magazine") == [3])
    #expect(try keys("ANY items.author.person == \"Ann\"", "Shelf") == [1])
    #expect(try keys("ANY items.author != nil", "Shelf") == [1])
    #expect(try keys("items.author.id.@max == 7 OR items.@max.author.id == 7", "Shelf") == [1])
  }

  static let mistakes: [(String, String, String)] = [
    ("author.persn == \"Ann\"", "has no element “persn”", "author.person"),
    ("author == \"Ann\"", "can only be compared with nil", "author.person"),
    ("author CONTAINS \"Ann\"", "can only be compared with nil", "author.person"),
    ("author == back", "can only be compared with nil", "author.person"),
    ("author IN {1}", "can only be compared with nil", "author.person"),
    ("author.person.x == 1", "nothing can follow it", ""),
  ]

  @Test("a mistake in an element's name is told by name", arguments: mistakes)
  func mistaken(_ text: String, _ message: String, _ hint: String) throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    let error = #expect(throws: CoreDataError.self) {
      try RowFilter(text, entity: "Item", store: store)
    }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(hint.isEmpty || error?.hint?.contains(hint) == true, "\(error?.hint ?? "")")
  }

  @Test("rows are sorted by an element, and a whole composite is told to have no order")
  func sort() throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    let query = RowQuery(entity: "Item", sort: .init(property: "author.person", descending: true))
    #expect(try store.rows(query).rows.map(\.id.key) == [3, 1, 2])
    for name in ["author", "author.persn"] {
      let error = #expect(throws: CoreDataError.self) {
        try store.rows(RowQuery(entity: "Item", sort: .init(property: name)))
      }
      let told = "\(error?.message ?? "") \(error?.hint ?? "")"
      #expect(told.contains("author.person"))
    }
  }

  @Test("a composite among the columns stands for its elements")
  func columns() throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    let page = try store.rows(RowQuery(entity: "Item", properties: ["title", "author", "id"]))
    #expect(
      page.columns.map(\.name) == [
        "title", "author.born", "author.id", "author.person", "author.score", "id",
      ])
    #expect(page.columns.allSatisfy { !$0.isPart })
    let part = try store.rows(RowQuery(entity: "Item", properties: ["author.person"]))
    #expect(part.columns.map(\.isPart) == [true])
  }

  @Test("frequencies of an element and of having a composite")
  func frequencies() throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    let kinds = try store.frequencies(of: "kind.kind", in: "Item")
    #expect(kinds.entries.map(\.value) == [.value(.string("book")), .value(.string("weekly"))])
    #expect(kinds.entries.map(\.count) == [2, 1])
    let authors = try store.frequencies(of: "author", in: "Item")
    #expect(authors.kind == .presence)
    #expect((authors.total, authors.nulls) == (3, 1))
    let ids = try store.frequencies(of: "author.id", in: "Item")
    #expect(ids.maximum == .integer(7))
  }

  @Test("a search finds an element under its path")
  func search() throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    var hits: [String] = []
    try store.search(for: "Bea") { progress in
      hits += progress.hits.map { "\($0.object) \($0.property)" }
    }
    #expect(hits == ["Magazine/p3 editor.person"])
  }

  @Test("values stand as a tree, null where every element is")
  func tree() throws {
    let tree = PropertyTree([["a"], ["b", "x"], ["b", "c", "y"], ["d"], ["b", "c", "z"]])
    #expect(
      tree.nodes == [
        .column(name: "a", index: 0),
        .composite(
          name: "b",
          nodes: [
            .column(name: "x", index: 1),
            .composite(
              name: "c", nodes: [.column(name: "y", index: 2), .column(name: "z", index: 4)]),
          ]),
        .column(name: "d", index: 3),
      ])
    let null = PropertyValue.value(.null)
    let values = [null, null, null, null, .value(.integer(1))]
    #expect(tree.nodes.map { $0.isNull(in: values) } == [true, false, true])
    #expect(
      tree.nodes.map { $0.isNull(in: [null, null, null, null, null]) } == [true, true, true])
  }
}

import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Pages of rows")
struct RowPageTests {
  static let contents = """
    <model>
    <entity name="Animal"><attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="weight" optional="YES" attributeType="Double"/></entity>
    <entity name="Cat" parentEntity="Animal"/><entity name="Dog" parentEntity="Animal"/>
    <entity name="Puppy" parentEntity="Dog"/>
    </model>
    """

  /// Forty animals of four kinds in turn; weights repeat, and every fifth has none.
  static func store(in folder: TemporaryFolder) throws -> Store {
    let path = folder.path("Animals.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(contents: Array(contents.utf8)))
    for index in 1...40 {
      let kind = ["Animal", "Cat", "Dog", "Puppy"][index % 4]
      var attributes: [String: AttributeValue] = ["name": .string("n\(index)")]
      if index % 5 != 0 { attributes["weight"] = .double(Double(index % 7)) }
      try writer.insert(kind, attributes: attributes)
    }
    try writer.finish()
    return try Store(path: path)
  }

  static func all(_ store: Store, _ query: RowQuery) throws -> [Int64] {
    var query = query
    var keys: [Int64] = []
    while true {
      let page = try store.rows(query)
      keys += page.rows.map(\.id.key)
      guard let last = page.rows.last, keys.count < 1000 else { return keys }
      query.anchor = .after(last.cursor)
    }
  }

  @Test("pages by key join to all rows of the entity and those below it")
  func byKey() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    for (entity, kinds) in [
      ("Animal", [0, 1, 2, 3]), ("Dog", [2, 3]), ("Cat", [1]), ("Puppy", [3]),
    ] {
      let expected = (1...40).filter { kinds.contains($0 % 4) }.map(Int64.init)
      #expect(try Self.all(store, RowQuery(entity: entity, limit: 7)) == expected)
      let down = RowQuery(entity: entity, sort: .init(descending: true), limit: 7)
      #expect(try Self.all(store, down) == expected.reversed())
    }
  }

  @Test("pages in the order of an attribute, NULLs first, ties by key")
  func sorted() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    func weight(_ index: Int) -> Int { index % 5 == 0 ? -1 : index % 7 }
    for (entity, kinds) in [("Animal", [0, 1, 2, 3]), ("Dog", [2, 3]), ("Cat", [1])] {
      let expected = (1...40).filter { kinds.contains($0 % 4) }
        .sorted { (weight($0), $0) < (weight($1), $1) }.map(Int64.init)
      let up = RowQuery(entity: entity, sort: .init(property: "weight"), limit: 3)
      #expect(try Self.all(store, up) == expected)
      let down = RowQuery(
        entity: entity, sort: .init(property: "weight", descending: true), limit: 3)
      #expect(try Self.all(store, down) == expected.reversed())
    }
  }

  @Test("the last page, and the page before it, come in order")
  func backwards() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    let last = try store.rows(RowQuery(entity: "Animal", anchor: .end, limit: 5))
    #expect(last.rows.map(\.id.key) == [36, 37, 38, 39, 40])
    let before = try store.rows(
      RowQuery(entity: "Animal", anchor: .before(#require(last.rows.first).cursor), limit: 5))
    #expect(before.rows.map(\.id.key) == [31, 32, 33, 34, 35])
    #expect(before.rows.map(\.id.entity) == ["Puppy", "Animal", "Cat", "Dog", "Puppy"])
  }

  @Test("an unknown entity or property is an error that lists what there is")
  func unknown() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    for query in [
      RowQuery(entity: "Bird"), RowQuery(entity: "Cat", sort: .init(property: "age")),
      RowQuery(entity: "Cat", properties: ["age"]),
    ] {
      do {
        _ = try store.rows(query)
        Issue.record("rows came")
      } catch let error as CoreDataError {
        #expect(error.kind == .usage)
        #expect(error.hint?.contains(query.entity == "Bird" ? "Cat" : "weight") == true)
      }
    }
  }

  @Test("a value is read by the name of its property, in a page and of an object")
  func named() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    let page = try store.rows(RowQuery(entity: "Animal", limit: 5, properties: ["weight", "name"]))
    #expect(page.rows.map { $0.string("name") } == (1...5).map { "n\($0)" })
    #expect(page.rows.map { $0.double("weight") } == [1, 2, 3, 4, nil])
    #expect(page.rows.first?.string("weight") == nil && page.rows.first?["nothing"] == nil)
    #expect(page.rows.last?.value("weight") == .null)
    let object = try store.object(ObjectID(entity: "Dog", key: 2))
    #expect(object?.string("name") == "n2" && object?.double("weight") == 2)
  }
}

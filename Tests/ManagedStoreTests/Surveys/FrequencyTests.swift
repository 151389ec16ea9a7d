import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Frequencies")
struct FrequencyTests {
  private static func lines(_ frequencies: Frequencies) -> [String] {
    frequencies.entries.map { entry in
      let value =
        switch entry.value {
        case .value(let plain): "\(plain)"
        case .toOne(let id): "\(id.map { "\($0)" } ?? "nil") \(entry.label ?? "")"
        case .toMany(let many): "\(many.count)"
        case .data(let data): "\(data.count) bytes"
        }
      return "\(value) ×\(entry.count)"
    }
  }

  @Test("a number's values, most frequent first, with least, greatest and mean")
  func numbers() throws {
    let folder = try TemporaryFolder()
    let found = try RecipeBox.store(in: folder).frequencies(of: "serves", in: "Recipe")
    #expect(
      Self.lines(found) == [
        "integer(4) ×2", "integer(0) ×1", "integer(2) ×1", "integer(6) ×1", "integer(8) ×1",
      ])
    #expect((found.total, found.nulls, found.distinct) == (7, 1, 5))
    #expect(found.minimum == .integer(0))
    #expect(found.maximum == .integer(8))
    #expect(found.mean == 4)
    #expect(found.share(of: 2) == 2.0 / 7)
  }

  @Test("a to-one by the object it leads to, with what a person calls that")
  func toOne() throws {
    let folder = try TemporaryFolder()
    let found = try RecipeBox.store(in: folder).frequencies(of: "author", in: "Recipe")
    #expect(found.kind == .toOne(destination: "Person"))
    #expect(Self.lines(found) == ["Person/p1 Ann ×2", "Author/p2 Julia ×2", "Person/p3 Zoë ×1"])
    #expect((found.nulls, found.distinct) == (2, 3))
  }

  @Test("a to-many by how many objects it has")
  func toMany() throws {
    let folder = try TemporaryFolder()
    let found = try RecipeBox.store(in: folder).frequencies(of: "tags", in: "Recipe")
    #expect(found.kind == .toManyCount)
    #expect(Self.lines(found) == ["1 ×3", "0 ×2", "2 ×1", "3 ×1"])
    #expect(found.maximum == .integer(3))
  }

  @Test("a path of to-ones, a filter, a limit")
  func path() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let filter = try RowFilter("serves > 0", entity: "Recipe", store: store)
    let found = try store.frequencies(of: "author.name", in: "Recipe", where: filter, limit: 1)
    #expect(Self.lines(found) == [#"string("Julia") ×2"#])
    #expect((found.total, found.nulls, found.distinct) == (5, 2, 2))
  }

  @Test(
    "every kind of property",
    arguments: [
      ("isDone", "boolean(false) ×2"), ("price", #"decimal("-5") ×1"#),
      ("rating", "double(-2.0) ×1"),
      (
        "identifier",
        "uuid([18, 52, 86, 120, 154, 188, 77, 239, 129, 35, 69, 103, 137, 171, 205, 239]) ×1"
      ),
      ("page", #"uri("https://example.com/soup") ×1"#), ("photo", "boolean(true) ×1"),
      ("extra", "boolean(true) ×1"), ("title", #"string("") ×1"#),
    ])
  func kinds(property: String, first: String) throws {
    let folder = try TemporaryFolder()
    let found = try RecipeBox.store(in: folder).frequencies(of: property, in: "Recipe")
    #expect(Self.lines(found).first == first)
  }

  @Test("subentities are counted with their parent")
  func subentities() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    #expect(try store.frequencies(of: "age", in: "Person").total == 3)
    #expect(try store.frequencies(of: "age", in: "Author").total == 1)
    #expect(
      Self.lines(try store.frequencies(of: "entity", in: "Person")).first?.hasSuffix("×2") == true)
  }

  @Test("long text is cut and says so")
  func longText() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Long.sqlite")
    let writer = try StoreWriter(creating: path, model: RecipeBox.model())
    let text = String(repeating: "x", count: 3_000)
    try writer.insert("Tag", attributes: ["name": .string(text)])
    try writer.finish()
    let found = try Store(path: path).frequencies(of: "name", in: "Tag")
    #expect(found.entries.first?.isCut == true)
    #expect(found.entries.first?.value == .value(.string(String(text.prefix(2_000)))))
  }

  @Test("unknown properties and many values are refused with a hint")
  func refused() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    func error(_ path: String) -> CoreDataError? {
      do {
        _ = try store.frequencies(of: path, in: "Recipe")
        return nil
      } catch { return error as? CoreDataError }
    }
    #expect(error("titel")?.hint == "Did you mean title?")
    #expect(error("tags.name")?.message.contains("many values") == true)
    #expect(error("")?.kind == .usage)
  }

  @Test(
    "the predicate of a value finds the objects that were counted",
    arguments: [
      "title", "serves", "rating", "price", "isDone", "createdAt", "identifier", "page", "extra",
      "photo", "author", "author.name", "author.age", "tags", "goesWith",
    ])
  func predicates(property: String) throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let found = try store.frequencies(of: property, in: "Recipe")
    for entry in found.entries {
      guard let text = found.predicate(for: entry) else {
        #expect(entry.value == .value(.date(.infinity)))
        continue
      }
      let filter = try RowFilter(text, entity: "Recipe", store: store)
      #expect(try store.count(of: "Recipe", filter: filter) == entry.count, "\(text)")
    }
    let none = try RowFilter(
      property == "tags" || property == "goesWith"
        ? "\(property).@count == nil" : found.predicateForNull, entity: "Recipe", store: store)
    #expect(try store.count(of: "Recipe", filter: none) == found.nulls)
  }

  @Test("odd texts, dates and names are named exactly or not at all")
  func oddPredicates() throws {
    func text(_ value: AttributeValue, path: String = "p", isCut: Bool = false) -> String? {
      Frequencies(
        entity: "E", path: path, kind: .attribute(.string), total: 1, nulls: 0, distinct: 1,
        entries: []
      ).predicate(for: .init(value: .value(value), isCut: isCut, count: 1))
    }
    #expect(text(.string("a \"b\" \\ c\nd\te")) == #"p == "a \"b\" \\ c\nd\te""#)
    #expect(text(.date(0)) == #"p == "2001-01-01T00:00:00Z""#)
    #expect(text(.date(0.123456789)) == #"p == CAST("0.123456789", "NSDate")"#)
    #expect(text(.double(.nan)) == nil)
    #expect(text(.string("x"), isCut: true) == nil)
    #expect(text(.integer(-3), path: "author.size") == "author.#size == -3")
    #expect(text(.boolean(false)) == "p == NO")
  }
}

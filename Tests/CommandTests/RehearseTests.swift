import Files
import ManagedModel
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import Mapping
@testable import Migration
@testable import StoreTables

@Suite("rehearse")
struct RehearseTests {
  private let place: StoreFolder
  private let store: String

  init() throws {
    place = try StoreFolder()
    store = try place.add("App.sqlite")
  }

  private func rehearse(_ expectations: String? = nil, _ more: String...) throws -> Captured {
    var words = ["rehearse", store, "--to", place.bundle] + more
    if let expectations {
      let file = place.folder.path("expect.json5")
      try FileSystem.write(Array(expectations.utf8), to: file)
      words += ["--expect", file]
    }
    return Captured(words)
  }

  @Test("the store is migrated on a copy and stays as it was, with its folder")
  func untouched() throws {
    let before = try FileSystem.read(store)
    let names = try FileSystem.list(place.stores)
    let fingerprint = StoreFingerprint(of: store)
    let run = try rehearse()
    #expect(run.status == .done, "\(run.err)")
    #expect(run.out.contains("✓ rehearsed “Recipes” → “Recipes 2” in "))
    #expect(run.out.contains("the store is unchanged"))
    #expect(try FileSystem.read(store) == before)
    #expect(StoreFingerprint(of: store) == fingerprint)
    #expect(try FileSystem.list(place.stores) == names)
    #expect(!run.out.contains("strata-copy"))
  }

  @Test("rows that only the -wal holds are migrated too")
  func log() throws {
    guard Fixtures.isAvailable else {
      print("skipped: fixtures are absent")
      return
    }
    let store = try place.folder.copy(
      fixture: "wibosco/CoreDataMigration_Example_WAL.sqlite", as: "stores/WAL.sqlite")
    let before = try FileSystem.read(store + "-wal")
    let bundle = Fixtures.path("wibosco/CoreDataMigration_Example.xcdatamodeld")
    let objects = try Store(path: store).counts().values.reduce(0, +)
    #expect(objects > 0)
    let run = Captured(
      "rehearse", store, "--to", bundle + "@CoreDataMigration_Example 2", "--json")
    #expect(run.status == .done || run.status == .refused, "\(run.err)")
    #expect(run.out.contains("\"sourceUnchanged\":true") || run.out.contains("would lose"))
    #expect(try FileSystem.read(store + "-wal") == before)
  }

  @Test("what is expected is looked at in the result: counts, values, one store's own")
  func expectations() throws {
    let recipes = try Store(path: store).counts()["Recipe"] ?? 0
    let run = try rehearse(
      """
      { // JSON5
        counts: { Recipe: \(recipes) },
        values: [
          { entity: 'Recipe', where: 'title == nil', count: 0, },
          { entity: 'Recipe', where: 'SELF == "Recipe/p1"', count: 1 },
        ],
        stores: { 'App.sqlite': { counts: { Rating: 0 } } },
      }
      """)
    #expect(run.status == .done, "\(run.out) \(run.err)")
    #expect(run.out.contains("expectations: 4 of 4 hold"))
    let no = try rehearse(
      """
      { counts: { Recipe: \(recipes + 1), Nothing: 1 }, values: [
        { entity: 'Recipe', key: 'title', equals: 'x' },
        { entity: 'Recipe', where: 'title == "none"', key: 'title', equals: 'none' },
        { entity: 'Recipe', where: 'colour == 1', count: 1 },
        { entity: 'Recipe', key: 'colour', equals: null } ] }
      """)
    #expect(no.status == .no)
    for text in [
      "✗ Recipe: \(recipes) objects, expected \(recipes + 1)",
      "✗ Nothing: the result has no such entity", "✗ Recipe: title of Recipe/p1 is ",
      "there is no such object", "colour", "expectations: 0 of 6 hold",
    ] {
      #expect(no.out.contains(text), "\(text)")
    }
    #expect(no.out.contains("6 expectations failed"))
  }

  @Test(
    "an expectation that means nothing is refused",
    arguments: [
      ("{", CommandStatus.unreadable), ("[]", .usage), ("{ count: {} }", .usage),
      ("{ counts: { Recipe: -1 } }", .usage), ("{ counts: { Recipe: 1.5 } }", .usage),
      ("{ counts: [] }", .usage), ("{ values: {} }", .usage),
      ("{ values: [ { where: 'a' } ] }", .usage),
      ("{ values: [ { entity: 'A' } ] }", .usage),
      ("{ values: [ { entity: 'A', key: 'b' } ] }", .usage),
      ("{ values: [ { entity: 'A', key: 'b', equals: 1, count: 1 } ] }", .usage),
      ("{ values: [ { entity: 'A', count: 1, wher: 'x' } ] }", .usage),
      ("{ stores: { 'Other.sqlite': {} } }", .usage),
      ("{ stores: { 'App.sqlite': { stores: {} } } }", .usage),
    ])
  func wrong(text: String, status: CommandStatus) throws {
    let run = try rehearse(text)
    #expect(run.status == status, "\(run.out) \(run.err)")
    #expect(run.err.contains("expect.json5"))
  }

  @Test("values are compared as dump prints them")
  func values() {
    func holds(_ wanted: ExpectedValue, _ stored: AttributeValue) -> Bool {
      wanted.matches(.value(stored))
    }
    #expect(holds(.null, .null) && !holds(.null, .integer(0)) && !holds(.integer(0), .null))
    #expect(holds(.boolean(true), .boolean(true)) && holds(.integer(1), .boolean(true)))
    #expect(holds(.integer(3), .integer(3)) && !holds(.string("3"), .integer(3)))
    #expect(holds(.string("1.50"), .decimal("1.50")) && holds(.number(1.5), .decimal("1.50")))
    #expect(holds(.string("2001-01-01T00:00:01Z"), .date(1)) && holds(.integer(1), .date(1)))
    #expect(holds(.number(0.5), .double(0.5)) && !holds(.number(.infinity), .double(0.5)))
    let uuid = [UInt8](repeating: 0xAB, count: 16)
    #expect(holds(.string("abababab-abab-abab-abab-abababababab"), .uuid(uuid)))
    let data = DataValue(location: .row, count: 7, bytes: [])
    #expect(ExpectedValue.object(["bytes": .integer(7)]).matches(.data(data)))
    #expect(!ExpectedValue.object(["bytes": .integer(8)]).matches(.data(data)))
    let person = ObjectID(entity: "Person", key: 3)
    #expect(ExpectedValue.string("Person/p3").matches(.toOne(person)))
    #expect(ExpectedValue.null.matches(.toOne(nil)))
    #expect(ExpectedValue.integer(2).matches(.toMany(ToMany(count: 2))))
  }

  @Test("a refusal is 3, a store that cannot be read 4; one that is done already is rehearsed")
  func statuses() throws {
    #expect(
      Captured("rehearse", store, "--to", place.bundle + "@Recipes 3").status == .refused)
    #expect(Captured("rehearse", "none", "--to", place.bundle).status == .unreadable)
    #expect(Captured("rehearse", store).status == .usage)
    let same = Captured("rehearse", store, "--to", place.bundle + "@Recipes", "--json")
    #expect(same.status == .done && same.out.contains("\"receipt\":null"))
  }
}

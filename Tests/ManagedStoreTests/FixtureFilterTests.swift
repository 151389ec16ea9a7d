import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

/// All objects of an entity as names to values, read without any filter.
struct LooseObjects {
  struct Object {
    let key: Int64
    let values: [String: PropertyValue]
    let related: [String: [ObjectID]]

    func text(_ name: String) -> String? {
      if case .value(.string(let text)) = values[name] { text } else { nil }
    }

    func number(_ name: String) -> Double? {
      switch values[name] {
      case .value(.integer(let number)): Double(number)
      case .value(.double(let number)), .value(.date(let number)): number
      case .value(.boolean(let flag)): flag ? 1 : 0
      default: nil
      }
    }

    func many(_ name: String) -> [ObjectID] { related[name] ?? [] }
  }

  private var objects: [ObjectID: Object] = [:]

  init(_ store: Store) throws {
    for table in store.entityTables {
      let cursor = try ObjectCursor(store, entity: table.entity)
      while let object = try cursor.next() {
        var values: [String: PropertyValue] = [:]
        var related: [String: [ObjectID]] = [:]
        for (entry, value) in zip(cursor.table.attributes, object.attributes) {
          values[entry.attribute.name] = value
        }
        for (entry, value) in zip(cursor.table.relationships, object.relationships) {
          switch value {
          case .toOne(let id): related[entry.relationship.name] = id.map { [$0] } ?? []
          case .toMany(let ids): related[entry.relationship.name] = ids
          }
        }
        objects[ObjectID(entity: table.entity, key: object.key)] = Object(
          key: object.key, values: values, related: related)
      }
    }
  }

  subscript(_ id: ObjectID?) -> Object? { id.flatMap { objects[$0] } }

  func keys(_ entity: String, where isTaken: (Object) -> Bool) -> [Int64] {
    objects.filter { $0.key.entity == entity && isTaken($0.value) }.map(\.key.key).sorted()
  }
}

/// A predicate, and the same question asked in Swift.
struct LooseCase: Sendable, CustomTestStringConvertible {
  let entity: String
  let text: String
  let isTaken: @Sendable (LooseObjects.Object, LooseObjects) -> Bool

  init(
    _ entity: String, _ text: String,
    _ isTaken: @escaping @Sendable (LooseObjects.Object, LooseObjects) -> Bool
  ) {
    self.entity = entity
    self.text = text
    self.isTaken = isTaken
  }

  var testDescription: String { "\(entity): \(text)" }
}

@Suite(
  "Filtering stores that Apple wrote", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureFilterTests {
  static let wire = [
    LooseCase("User", "name CONTAINS[c] \"jacob\"") { object, _ in
      object.text("name")?.lowercased().contains("jacob") == true
    },
    LooseCase("User", "emailAddress == nil") { object, _ in object.text("emailAddress") == nil },
    LooseCase("User", "accentColorValue > 4 AND emailAddress != nil") { object, _ in
      object.number("accentColorValue") ?? 0 > 4 && object.text("emailAddress") != nil
    },
    LooseCase("User", "emailAddress MATCHES \"\\\\d{3}@example\\\\.com\"") { object, _ in
      object.text("emailAddress")?.count == 15
    },
    LooseCase("User", "clients.@count > 0") { object, _ in !object.many("clients").isEmpty },
    LooseCase("User", "ANY conversationsCreated.conversationType == 4") { object, all in
      object.many("conversationsCreated").contains { all[$0]?.number("conversationType") == 4 }
    },
    LooseCase("User", "ALL conversationsCreated.conversationType == 2") { object, all in
      object.many("conversationsCreated").allSatisfy { all[$0]?.number("conversationType") == 2 }
    },
    LooseCase("Conversation", "creator.name BEGINSWITH \"Jacob\"") { object, all in
      all[object.many("creator").first]?.text("name")?.hasPrefix("Jacob") == true
    },
    LooseCase("Conversation", "creator == \"User/p1\" AND userDefinedName == nil") { object, _ in
      object.many("creator") == [ObjectID(entity: "User", key: 1)]
        && object.text("userDefinedName") == nil
    },
    LooseCase("Conversation", "lastModifiedDate > \"2016-01-01\"") { object, _ in
      object.number("lastModifiedDate") ?? 0 > 473_299_200
    },
    LooseCase("Conversation", "userDefinedName LIKE \"*🐇*\"") { object, _ in
      object.text("userDefinedName")?.contains("🐇") == true
    },
    LooseCase("Conversation", "allMessages.@count BETWEEN {2, 9}") { object, _ in
      (2...9).contains(object.many("allMessages").count)
    },
    LooseCase("Conversation", "ANY lastServerSyncedActiveParticipants.name == \"Mike\"") {
      object, all in
      object.many("lastServerSyncedActiveParticipants").contains {
        all[$0]?.text("name") == "Mike"
      }
    },
    LooseCase("Conversation", "NOT conversationType IN {2, 3}") { object, _ in
      ![2, 3].contains(object.number("conversationType") ?? 0)
    },
    LooseCase("Conversation", "internalIsArchived == YES OR needsToBeUpdatedFromBackend == YES") {
      object, _ in
      object.number("internalIsArchived") == 1 || object.number("needsToBeUpdatedFromBackend") == 1
    },
  ]

  static let bookmarks = [
    LooseCase("BookmarkEntity", "isFolder == YES AND parent == nil") { object, _ in
      object.number("isFolder") == 1 && object.many("parent").isEmpty
    },
    LooseCase("BookmarkEntity", "parent.title == \"bookmarks_root\"") { object, all in
      all[object.many("parent").first]?.text("title") == "bookmarks_root"
    },
    LooseCase("BookmarkEntity", "ANY children.isFolder == YES") { object, all in
      object.many("children").contains { all[$0]?.number("isFolder") == 1 }
    },
    LooseCase("BookmarkEntity", "ANY favoriteFolders.title ENDSWITH \"root\"") { object, all in
      object.many("favoriteFolders").contains { all[$0]?.text("title")?.hasSuffix("root") == true }
    },
    LooseCase("BookmarkEntity", "SUBQUERY(children, $c, $c.url != nil).@count >= 2") {
      object, all in
      object.many("children").filter { all[$0]?.text("url") != nil }.count >= 2
    },
    LooseCase("BookmarkEntity", "parent.parent.title != nil") { object, all in
      all[all[object.many("parent").first]?.many("parent").first]?.text("title") != nil
    },
  ]

  private func check(_ example: LooseCase, _ fixture: String, someRows: Bool = true) throws {
    let store = try Store(path: Fixtures.path(fixture))
    let all = try LooseObjects(store)
    let expected = all.keys(example.entity) { example.isTaken($0, all) }
    let filter = try RowFilter(example.text, entity: example.entity, store: store)
    let query = RowQuery(entity: example.entity, limit: 4, filter: filter)
    #expect(try RowPageTests.all(store, query) == expected)
    #expect(!expected.isEmpty, "a case that finds nothing shows nothing")
  }

  @Test("wire: the rows are those that Swift picks", arguments: wire)
  func wireRows(_ example: LooseCase) throws {
    try check(example, "wire/store2-95-0.wiredatabase")
  }

  @Test("bookmarks: the rows are those that Swift picks", arguments: bookmarks)
  func bookmarkRows(_ example: LooseCase) throws {
    try check(example, "bookmarks/Bookmarks_V5.sqlite")
  }

  @Test(
    "what an object is referenced by is what all others' relationships say",
    arguments: [
      "wire/store2-95-0.wiredatabase", "bookmarks/Bookmarks_V5.sqlite",
      "cartkit/CartStorage_v1.sqlite", "system/Photos-10.15.7.sqlite",
    ])
  func references(path: String) throws {
    let store = try Store(path: Fixtures.path(path))
    var pointing: [ObjectID: Set<String>] = [:]
    for table in store.entityTables {
      let cursor = try ObjectCursor(store, entity: table.entity)
      while let object = try cursor.next() {
        for (entry, value) in zip(cursor.table.relationships, object.relationships) {
          let own = ObjectID(entity: table.entity, key: object.key)
          let ids: [ObjectID] =
            switch value {
            case .toOne(let id): id.map { [$0] } ?? []
            case .toMany(let ids): ids
            }
          for id in ids { pointing[id, default: []].insert("\(entry.relationship.name) \(own)") }
        }
      }
    }
    for (id, expected) in pointing.sorted(by: { $0.key.key < $1.key.key }).prefix(300)
    where try store.object(id) != nil {
      let found = try store.references(to: id, limit: 100_000)
      let lines = found.flatMap { reference in
        reference.first.map { "\(reference.relationship.name) \($0)" }
      }
      #expect(Set(lines) == expected, "\(id)")
      #expect(found.allSatisfy { $0.count == $0.first.count })
    }
  }
}

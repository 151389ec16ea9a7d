import Comparison
import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables
@testable import Watching

/// A store of books that a test writes to through a connection of its own, as an app does.
final class Library {
  let folder: TemporaryFolder
  let path: String
  let book: EntityTable
  let tags: RelationshipStorage
  private(set) var connection: Connection

  static func model() throws -> Model {
    var book = Entity("Book")
    book.attributes = [
      Attribute("title", .string, optional: true), Attribute("pages", .integer32, optional: true),
      Attribute("cover", .binary, optional: true),
    ]
    book.relationships = [
      Relationship("author", to: "Person", inverse: "books", optional: true),
      Relationship("tags", to: "Tag", inverse: "books", toMany: true, optional: true),
    ]
    let novel = Entity("Novel", parent: "Book")
    var person = Entity("Person")
    person.attributes = [Attribute("name", .string, optional: true)]
    person.relationships = [
      Relationship("books", to: "Book", inverse: "author", toMany: true, optional: true)
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.relationships = [
      Relationship("books", to: "Book", inverse: "tags", toMany: true, optional: true)
    ]
    return try Model(entities: [book, novel, person, tag])
  }

  /// - Parameter books: how many books there are at first.
  init(books: Int = 40, mode: String = "WAL") throws {
    folder = try TemporaryFolder()
    path = folder.path("Library.sqlite")
    try Self.write(path, books: books)
    let store = try Store(path: path)
    book = try #require(store.table(of: "Book"))
    tags = try #require(book.storage(of: "tags"))
    connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = \(mode)")
  }

  static func write(_ path: String, books: Int, title: String = "Book") throws {
    let writer = try StoreWriter(
      creating: path, model: model(), uuid: "5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C")
    let people = try (1...4).map {
      try writer.insert("Person", attributes: ["name": .string("Person \($0)")])
    }
    let tags = try (1...5).map {
      try writer.insert("Tag", attributes: ["name": .string("Tag \($0)")])
    }
    for number in 1...max(1, books) {
      try writer.insert(
        number % 3 == 0 ? "Novel" : "Book",
        attributes: [
          "title": .string("\(title) \(number)"), "pages": .integer(Int64(100 + number)),
        ], toOne: ["author": people[number % 4]], toMany: ["tags": [tags[number % 5]]])
    }
    try writer.finish()
  }

  /// Changes the store in one transaction.
  func save(_ sql: String) throws {
    try connection.execute("BEGIN IMMEDIATE; \(sql); COMMIT")
  }

  func execute(_ sql: String) throws { try connection.execute(sql) }

  /// Closes the connection, as the app does when it ends.
  func close() { connection.close() }

  /// Opens it again.
  func open() throws { connection = try Connection(path: path, mode: .readWrite) }

  /// A watch that reports everything.
  func watch(_ change: (inout WatchRequest) -> Void = { _ in }) throws -> StoreWatch {
    var request = WatchRequest()
    request.limit = .max
    change(&request)
    return try StoreWatch(path: path, request: request)
  }

  /// A transaction that changes a few things at random.
  ///
  /// - Parameter meanwhile: called before its end.
  func randomSave(
    _ generator: inout SeededGenerator, end: String = "COMMIT", meanwhile: () throws -> Void = {}
  ) throws {
    var statements: [String] = []
    let last = try connection.value("SELECT max(Z_PK) FROM ZBOOK")?.integer ?? 0
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let key = Int64.random(in: 1...max(1, last), using: &generator)
      let other = Int64.random(in: 1...5, using: &generator)
      let size = [10, 300, 5000, 20_000].randomElement(using: &generator) ?? 10
      let (owner, tag) = (quoted(tags.owner), quoted(tags.destination))
      let statement =
        switch Int.random(in: 0..<9, using: &generator) {
        case 0:
          "UPDATE ZBOOK SET ZTITLE = 'Title ' || abs(random() % 1000), Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)"
        case 1:
          "UPDATE ZBOOK SET ZPAGES = abs(random() % 1000) WHERE Z_PK BETWEEN \(key) AND \(key + 3)"
        case 2: "UPDATE ZBOOK SET ZCOVER = randomblob(\(size)) WHERE Z_PK = \(key)"
        case 3:
          """
          INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) SELECT max(Z_PK) + 1,
          (SELECT Z_ENT FROM ZBOOK WHERE Z_PK = \(key) UNION ALL SELECT \(book.entityID) LIMIT 1), 1,
          'New', abs(random() % 4) + 1 FROM ZBOOK
          """
        case 4:
          """
          DELETE FROM \(quoted(tags.table)) WHERE \(owner) = \(key); DELETE FROM ZBOOK WHERE Z_PK = \(key)
          """
        case 5: "UPDATE ZBOOK SET ZAUTHOR = abs(random() % 4) + 1 WHERE Z_PK = \(key)"
        case 6:
          """
          INSERT OR IGNORE INTO \(quoted(tags.table)) (\(owner), \(tag))
          SELECT Z_PK, \(other) FROM ZBOOK WHERE Z_PK = \(key)
          """
        case 7: "DELETE FROM \(quoted(tags.table)) WHERE \(owner) = \(key) AND \(tag) = \(other)"
        default: "UPDATE ZTAG SET ZNAME = 'Tag ' || abs(random() % 1000) WHERE Z_PK = \(other)"
        }
      statements.append(statement)
    }
    try execute("BEGIN IMMEDIATE; " + statements.joined(separator: ";\n"))
    try meanwhile()
    try execute(end)
  }
}

/// What a store holds, kept up to date by reported changes alone: a change that does not go on from what is known
/// is a change that was missed or reported twice.
struct Mirror: Equatable {
  struct Entry: Equatable {
    var values: [String: PropertyValue] = [:]
    var links: [String: Set<ObjectID>] = [:]
  }

  private(set) var objects: [ObjectID: Entry] = [:]

  /// Reads a store, from a copy of its files.
  init(_ path: String) throws {
    let folder = try TemporaryFolder()
    let copy = folder.path("Copy.sqlite")
    for suffix in ["", "-wal"] where FileSystem.isFile(path + suffix) {
      try FileSystem.copyOver(path + suffix, to: copy + suffix)
    }
    let store = try Store(path: copy)
    for entity in store.model.entities {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        var entry = Entry()
        for (attribute, value) in zip(cursor.table.attributes, object.attributes)
        where value != .value(.null) {
          entry.values[attribute.attribute.name] = value
        }
        for (relationship, related) in zip(cursor.table.relationships, object.relationships) {
          let ids: [ObjectID] =
            switch related {
            case .toOne(let id): id.map { [$0] } ?? []
            case .toMany(let ids): ids
            }
          if !ids.isEmpty { entry.links[relationship.relationship.name] = Set(ids) }
        }
        objects[ObjectID(entity: entity.name, key: object.key)] = entry
      }
    }
  }

  /// Takes in what was reported.
  ///
  /// - Returns: what does not go on from what is known.
  mutating func apply(_ saves: [ObservedSave]) -> [String] {
    saves.flatMap { save -> [String] in
      var problems = save.rest == 0 ? [] : ["\(save.rest) left out"]
      for change in save.changes { problems += apply(change) }
      return problems
    }
  }

  private mutating func apply(_ change: ObjectChange) -> [String] {
    var problems: [String] = []
    let former = change.a.flatMap { objects[$0] }
    if change.kind == .insert, let id = change.b, objects[id] != nil {
      problems.append("\(id) inserted twice")
    }
    if change.kind != .insert, former == nil {
      problems.append("\(change.a.map(\.description) ?? "?") unknown")
    }
    var entry = former ?? Entry()
    for attribute in change.attributes {
      let name = attribute.path.joined(separator: ".")
      let (old, new) = (Self.filled(attribute.old), Self.filled(attribute.new))
      if entry.values[name] != old { problems.append("\(change.entity).\(name) was not so before") }
      entry.values[name] = new
    }
    for related in change.relationships {
      var ids = entry.links[related.name] ?? []
      if !ids.isSuperset(of: related.removed) || !ids.isDisjoint(with: related.added) {
        problems.append("\(change.entity).\(related.name) was not so before")
      }
      ids.subtract(related.removed)
      ids.formUnion(related.added)
      entry.links[related.name] = ids.isEmpty ? nil : ids
    }
    if change.kind == .delete {
      if entry != Entry() { problems.append("not all of \(change.entity) was reported") }
      if let id = change.a { objects[id] = nil }
    } else if let id = change.b {
      objects[id] = entry
    }
    return problems
  }

  private static func filled(_ value: ObjectChange.Value?) -> PropertyValue? {
    guard let value = value?.value, value != .value(.null) else { return nil }
    return value
  }
}

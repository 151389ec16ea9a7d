import Files
import ManagedModel
import ManagedStore
import Rescue
import SQLite
import TestSupport
import Testing

@testable import Merging

/// Two stores of things on shelves that come from one, which tests make and change.
struct Library {
  let folder: TemporaryFolder
  let (base, old, new, output): (String, String, String, String)

  static let uuid = "5E9B9B4C-6A59-4B37-9D4F-0C5A3E1F2D3C"
  static let content = [UInt8](repeating: 7, count: 200)

  static func model(extra: Bool = false) throws -> Model {
    var thing = Entity("Thing")
    thing.isAbstract = true
    thing.attributes = [
      Attribute("title", .string, optional: true), Attribute("rating", .integer32, optional: true),
      Attribute("edited", .date, optional: true), Attribute("code", .string, optional: true),
      {
        var cover = Attribute("cover", .binary, optional: true)
        cover.allowsExternalBinaryDataStorage = true
        return cover
      }(),
      {
        var place = Attribute("place", .composite, optional: true)
        place.elements = [
          Attribute("x", .double, optional: true), Attribute("y", .double, optional: true),
        ]
        return place
      }(),
    ]
    if extra { thing.attributes.append(Attribute("more", .string, optional: true)) }
    thing.uniquenessConstraints = [["code"]]
    thing.relationships = [
      Relationship("shelf", to: "Shelf", inverse: "things", optional: true),
      Relationship(
        "likes", to: "Thing", inverse: "likedBy", toMany: true, ordered: true, optional: true),
      Relationship(
        "likedBy", to: "Thing", inverse: "likes", toMany: true, ordered: true, optional: true),
      Relationship("tags", to: "Tag", inverse: "things", toMany: true, optional: true),
      Relationship("pass", to: "Pass", inverse: "owner", optional: true),
    ]
    var book = Entity("Book")
    book.parent = "Thing"
    book.attributes = [Attribute("pages", .integer32, optional: true)]
    var film = Entity("Film")
    film.parent = "Thing"
    film.attributes = [Attribute("minutes", .integer32, optional: true)]
    var shelf = Entity("Shelf")
    shelf.attributes = [
      Attribute("name", .string, optional: true),
      {
        var count = Attribute("count", .integer64, optional: true)
        count.derivation = .init(expression: "things.@count")
        return count
      }(),
    ]
    shelf.relationships = [
      Relationship(
        "things", to: "Thing", inverse: "shelf", toMany: true, ordered: true, optional: true),
      Relationship("notes", to: "Note", toMany: true, optional: true),
      Relationship("sign", to: "Note", inverse: "board", optional: true),
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.uniquenessConstraints = [["name"]]
    tag.relationships = [
      Relationship("things", to: "Thing", inverse: "tags", toMany: true, optional: true)
    ]
    var pass = Entity("Pass")
    pass.attributes = [Attribute("number", .integer32, optional: true)]
    pass.relationships = [Relationship("owner", to: "Thing", inverse: "pass")]
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    note.relationships = [Relationship("board", to: "Shelf", inverse: "sign", optional: true)]
    return try Model(entities: [thing, book, film, shelf, tag, pass, note])
  }

  /// Three copies of one store of 20 things on 4 shelves.
  init() throws {
    folder = try TemporaryFolder()
    base = folder.path("Base.sqlite")
    (old, new) = (folder.path("Old.sqlite"), folder.path("New.sqlite"))
    output = folder.path("Both.sqlite")
    try Self.write(to: base, model: Self.model())
    for path in [old, new] {
      try FileSystem.copyOver(base, to: path)
      let (from, to) = (StoreFiles(path: base), StoreFiles(path: path))
      try FileSystem.makeDirectory(to.externalDataFolder)
      for name in try FileSystem.list(from.externalDataFolder) {
        try FileSystem.copyOver(
          from.externalDataFolder + "/" + name, to: to.externalDataFolder + "/" + name)
      }
    }
  }

  static func write(to path: String, model: Model) throws {
    let writer = try StoreWriter(creating: path, model: model, uuid: uuid)
    let tags = try ["quick", "cold"].map {
      try writer.insert("Tag", attributes: ["name": .string($0)])
    }
    let shelves = try (0..<4).map {
      try writer.insert("Shelf", attributes: ["name": .string("Shelf \($0)")])
    }
    for number in 0..<4 {
      try writer.insert("Note", attributes: ["text": .string("Note \(number)")])
    }
    var things: [ObjectID] = []
    for number in 0..<20 {
      var values: [String: AttributeValue] = [
        "title": .string("Thing \(number)"), "rating": .integer(Int64(number)),
        "edited": .date(Double(1000 + number)), "code": .string("C\(number)"),
        "place.x": .double(Double(number) / 2),
      ]
      if number == 3 { values["cover"] = .bytes([1, 2, 3]) }
      values[number.isMultiple(of: 2) ? "pages" : "minutes"] = .integer(Int64(100 + number))
      things.append(
        try writer.insert(
          number.isMultiple(of: 2) ? "Book" : "Film", attributes: values,
          toOne: ["shelf": shelves[number % 4]], positions: ["shelf": number / 4],
          toMany: [
            "tags": number < 10 ? [tags[number % 2]] : [],
            "likes": Array(things.suffix(2).reversed()),
          ]))
    }
    for number in 0..<5 {
      try writer.insert(
        "Pass", attributes: ["number": .integer(Int64(number))], toOne: ["owner": things[number]])
    }
    try writer.finish()
    try hang(path, [1: 1, 2: 2])
    try change(
      path,
      "UPDATE ZTHING SET ZPASS = (SELECT Z_PK FROM ZPASS p WHERE p.ZOWNER = ZTHING.Z_PK)")
    let data = StoreFiles(path: path).externalDataFolder
    try FileSystem.makeDirectory(data)
    for number in 1...3 {
      let name = "00000000-2222-4333-8444-00000000000\(number)"
      try FileSystem.create(data + "/" + name, holding: content + [UInt8(number)])
      let column = ByteText.hex(MarkedBytes.file(name: name).column)
      try change(path, "UPDATE ZTHING SET ZCOVER = x'\(column)' WHERE Z_PK = \(number)")
    }
  }

  static func change(_ path: String, _ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    connection.fireTriggers(false)
    try StoreFunctions.define(on: connection)
    try connection.execute(sql)
    try connection.execute(
      "UPDATE ZSHELF SET ZCOUNT = (SELECT count(*) FROM ZTHING t WHERE t.ZSHELF = ZSHELF.Z_PK)")
    try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL")
    connection.close()
  }

  /// Inserts a thing under the next key, as an app does.
  @discardableResult
  func add(
    _ path: String, _ title: String, code: String? = nil, shelf: Int = 1, entity: String = "Book"
  ) throws -> Int64 {
    let number = try #require(try Store(path: path).table(of: entity)).entityID
    let root = try #require(try Store(path: path).table(of: "Thing")).entityID
    try Self.change(
      path,
      """
      INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZRATING, ZCODE, ZSHELF, Z_FOK_SHELF)
      SELECT Z_MAX + 1, \(number), 1, '\(title)', 1, \(code.map { "'\($0)'" } ?? "NULL"), \(shelf), 900000 + Z_MAX
      FROM Z_PRIMARYKEY WHERE Z_ENT = \(root);
      UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = \(root)
      """)
    return try rows("SELECT max(Z_PK) FROM ZTHING", path).first?.first?.integer ?? 0
  }

  /// Gives shelves their signs, and takes away those that others have.
  static func hang(_ path: String, _ signs: [Int: Int]) throws {
    let sets = signs.sorted { $0.key < $1.key }.map { shelf, note in
      "UPDATE ZSHELF SET ZSIGN = \(note) WHERE Z_PK = \(shelf); UPDATE ZNOTE SET ZBOARD = \(shelf) WHERE Z_PK = \(note);"
    }
    try change(
      path, "UPDATE ZSHELF SET ZSIGN = NULL; UPDATE ZNOTE SET ZBOARD = NULL; " + sets.joined())
  }

  /// The shelves with their signs; both sides must say the same.
  func signs(_ path: String? = nil) throws -> [String] {
    let (one, other) = (
      try texts("SELECT Z_PK, ZSIGN FROM ZSHELF WHERE ZSIGN IS NOT NULL ORDER BY 1", path),
      try texts("SELECT ZBOARD, Z_PK FROM ZNOTE WHERE ZBOARD IS NOT NULL ORDER BY 1", path)
    )
    return one == other ? one : one + ["but"] + other
  }

  /// Deletes things as an app does: with their passes and links.
  func delete(_ keys: [Int64], in path: String) throws {
    let store = try Store(path: path)
    var sql = """
      DELETE FROM ZPASS WHERE ZOWNER IN (\(keys.list)); DELETE FROM ZTHING WHERE Z_PK IN (\(keys.list));
      """
    for join in store.schema.joins {
      for (column, entity) in [(join.first, join.entity), (join.second, join.inverseEntity)] {
        let table = try #require(store.table(of: entity)).table
        sql += "DELETE FROM \(join.name) WHERE \(column) NOT IN (SELECT Z_PK FROM \(table));"
      }
    }
    try Self.change(path, sql)
  }

  /// The join table of a relationship, with its columns of owners, objects and places.
  func join(_ relationship: String) throws -> RelationshipStorage {
    try #require(try Store(path: base).table(of: "Book")?.storage(of: relationship))
  }

  func rows(_ sql: String, _ path: String? = nil) throws -> [[Value]] {
    let connection = try Connection(path: path ?? output, mode: .immutable)
    try StoreFunctions.define(on: connection)
    return try connection.rows(sql)
  }

  func texts(_ sql: String, _ path: String? = nil) throws -> [String] {
    try rows(sql, path).map { row in
      row.map { value in
        switch value {
        case .null: "–"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let bytes): ByteText.hex(bytes)
        }
      }.joined(separator: " ")
    }
  }

  @discardableResult
  func merge(
    withBase: Bool = true, to place: String? = nil, isRehearsal: Bool = false,
    _ change: (inout MergeOptions) -> Void = { _ in }
  ) throws -> MergeReport {
    var options = MergeOptions()
    change(&options)
    return try StoreMerge.run(
      Store(path: old), Store(path: new), base: withBase ? Store(path: base) : nil,
      options: options, to: isRehearsal ? nil : place ?? output)
  }

  /// That nothing is wrong with the result, and nothing is left beside it.
  func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let findings = try Diagnosis(of: output).findings.filter { $0.severity != .note }
    #expect(findings.isEmpty, "\(findings.map(\.sentence))", sourceLocation: sourceLocation)
    #expect(
      try texts("PRAGMA integrity_check") == ["ok"], sourceLocation: sourceLocation)
    #expect(
      try rows(
        "SELECT Z_PK FROM ZSHELF s WHERE ZCOUNT IS NOT (SELECT count(*) FROM ZTHING WHERE ZSHELF = s.Z_PK)"
      )
      .isEmpty, sourceLocation: sourceLocation)
    #expect(
      try FileSystem.list(folder.path).allSatisfy { !$0.hasPrefix(".strata") },
      sourceLocation: sourceLocation)
  }

  /// The title of each object of an ordered relationship, in its order.
  func likes(of title: String) throws -> [String] {
    try names(of: title, "likes")
  }

  func names(of title: String, _ relationship: String, in path: String? = nil) throws -> [String] {
    let store = try Store(path: path ?? output)
    for entity in ["Book", "Film"] {
      let cursor = try ObjectCursor(store, entity: entity)
      let name = try #require(cursor.table.attributes.firstIndex { $0.path == ["title"] })
      let place = try #require(
        cursor.table.relationships.firstIndex { $0.relationship.name == relationship })
      while let object = try cursor.next() {
        guard object.attributes[name] == .value(.string(title)) else { continue }
        return try object.relationships[place].objects.map { id in
          try texts("SELECT ZTITLE FROM ZTHING WHERE Z_PK = \(id.key)", path).first ?? ""
        }
      }
    }
    return []
  }
}

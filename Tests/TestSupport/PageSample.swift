import Files
import ManagedModel
import ManagedStore
import SQLite

/// Sound stores of a few pages, of each shape that a file can have.
struct PageSample {
  /// What the pages are like, and what stands beside them.
  struct Shape {
    var pageSize: Int
    /// As SQLite counts: 0 none, 1 full, 2 incremental.
    var autoVacuum: Int
    var kind: PageInput.Companion?
    /// How many of the objects are deleted, so that there are freed blocks and free pages.
    var deleted: Int
  }

  let bytes: [UInt8]

  private static let shapes = [
    Shape(pageSize: 512, autoVacuum: 2, kind: nil, deleted: 0),
    Shape(pageSize: 512, autoVacuum: 0, kind: nil, deleted: 12),
    Shape(pageSize: 1024, autoVacuum: 1, kind: nil, deleted: 5),
    Shape(pageSize: 1024, autoVacuum: 0, kind: .log, deleted: 8),
    Shape(pageSize: 512, autoVacuum: 2, kind: .log, deleted: 0),
    Shape(pageSize: 512, autoVacuum: 0, kind: .journal, deleted: 4),
    Shape(pageSize: 1024, autoVacuum: 2, kind: .journal, deleted: 0),
  ]

  /// One store of each shape.
  static func all(in folder: TemporaryFolder) throws -> [PageSample] {
    let made = folder.path("made.sqlite")
    try writeStore(to: made)
    defer { StoreSuffix.removeAll(of: made) }
    return try shapes.map { try PageSample($0, of: made, folder.path("shape.sqlite")) }
  }

  /// Items with long notes, a subentity of them, and tags in a table of links.
  static func model() throws -> Model {
    var item = Entity("Item")
    item.attributes = [
      Attribute("title", .string, optional: true), Attribute("note", .string, optional: true),
      Attribute("data", .binary, optional: true), Attribute("at", .date, optional: true),
    ]
    item.relationships = [
      Relationship("tags", to: "Tag", inverse: "items", toMany: true, optional: true),
      Relationship("folder", to: "Tag", inverse: "contents", optional: true),
    ]
    var photo = Entity("Photo", parent: "Item")
    photo.attributes = [Attribute("width", .integer32, optional: true)]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.relationships = [
      Relationship("items", to: "Item", inverse: "tags", toMany: true, optional: true),
      Relationship("contents", to: "Item", inverse: "folder", toMany: true, optional: true),
    ]
    return try Model(entities: [item, photo, tag])
  }

  private static func writeStore(to path: String) throws {
    let writer = try StoreWriter(creating: path, model: model())
    let tags = try ["red", "green", "blué"].map {
      try writer.insert("Tag", attributes: ["name": .string($0)])
    }
    for number in 1...24 {
      var attributes: [String: AttributeValue] = [
        "title": .string("Item \(number)"), "at": .date(Double(number) * 1.25),
      ]
      if number % 5 == 0 {
        attributes["note"] = .string(String(repeating: "note \(number) ", count: 40 * number / 5))
      }
      if number % 7 == 0 {
        attributes["data"] = .bytes([UInt8](repeating: UInt8(number), count: 700))
      }
      if number % 3 == 0 { attributes["width"] = .integer(Int64(number)) }
      try writer.insert(
        number % 3 == 0 ? "Photo" : "Item", attributes: attributes,
        toOne: number % 2 == 0 ? ["folder": tags[number % 3]] : [:],
        toMany: ["tags": Array(tags.prefix(number % 4))])
    }
    try writer.finish()
  }

  private init(_ shape: Shape, of store: String, _ path: String) throws {
    StoreSuffix.removeAll(of: path)
    defer { StoreSuffix.removeAll(of: path) }
    let source = try Connection(path: store, mode: .readWrite)
    try source.execute(
      """
      PRAGMA page_size = \(shape.pageSize); PRAGMA auto_vacuum = \(shape.autoVacuum);
      VACUUM INTO '\(path)'
      """)
    source.close()
    let connection = try Connection(path: path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA secure_delete = OFF;
      CREATE TABLE word (k TEXT, n INTEGER, rest TEXT, PRIMARY KEY (k, n)) WITHOUT ROWID;
      WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20)
      INSERT INTO word SELECT 'word ' || n % 7, n, printf('%.*c', n * 20, 'x') FROM c;
      DELETE FROM ZITEM WHERE Z_PK % 24 < \(shape.deleted);
      """)
    func change() throws {
      try connection.execute(
        """
        UPDATE ZITEM SET Z_OPT = Z_OPT + 1, ZTITLE = ZTITLE || ' again' WHERE Z_PK % 2 = 1;
        DELETE FROM ZITEM WHERE Z_PK = 20;
        """)
    }
    var input = PageInput(main: try FileSystem.read(path), kind: shape.kind)
    switch shape.kind {
    case nil: connection.close()
    case .log:
      try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try change()
      try change()
      (input.main, input.companion) = (
        try FileSystem.read(path), try FileSystem.read(path + "-wal")
      )
      connection.close()
    case .journal:
      let before = input.main
      try change()
      connection.close()
      input.main = try FileSystem.read(path)
      input.companion = Self.journal(of: before, now: input.main, shape.pageSize)
    }
    bytes = input.bytes
  }

  /// What a save leaves that was stopped after its pages were written: the pages as they were before.
  private static func journal(of before: [UInt8], now: [UInt8], _ size: Int) -> [UInt8] {
    func page(_ number: Int, of file: [UInt8]) -> ArraySlice<UInt8> {
      file[min(file.count, (number - 1) * size)..<min(file.count, number * size)]
    }
    let pages = before.count / size
    let changed = (1...max(1, pages)).filter { page($0, of: before) != page($0, of: now) }
    let nonce: UInt32 = 20_240_501
    var journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    for value in [changed.count, Int(nonce), pages, 512, size] {
      journal += PageInput.bytes(of: value)
    }
    journal += [UInt8](repeating: 0, count: 512 - journal.count)
    for number in changed {
      let page = page(number, of: before)
      journal += PageInput.bytes(of: number) + page
      journal += PageInput.bytes(of: Int(PageInput.checksum(page, nonce)))
    }
    return journal
  }
}

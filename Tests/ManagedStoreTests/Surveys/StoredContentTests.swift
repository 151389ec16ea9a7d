import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Parts of a value")
struct StoredContentTests {
  private static func store(in folder: TemporaryFolder) throws -> Store {
    let path = try RecipeBox.store(in: folder).path
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.run(
      "UPDATE ZRECIPE SET ZPHOTO = ? WHERE Z_PK = 2", [.blob([2] + Array("BIG".utf8) + [0])])
    try connection.run(
      "UPDATE ZRECIPE SET ZPHOTO = ? WHERE Z_PK = 3", [.blob([2] + Array("GONE".utf8) + [0])])
    connection.close()
    let place = folder.path(".Recipes_SUPPORT/_EXTERNAL_DATA")
    try FileSystem.makeDirectory(place)
    try FileSystem.write(
      (0..<9_000_000).map { UInt8(truncatingIfNeeded: $0) } + Array("Needle".utf8),
      to: place + "/BIG")
    return try Store(path: path)
  }

  private func recipe(_ key: Int64) -> ObjectID { ObjectID(entity: "Recipe", key: key) }

  @Test("text, bytes in the row and bytes in a file, from anywhere")
  func parts() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    #expect(
      try store.content(of: "title", in: recipe(3), from: 2, count: 3)
        == StoredContent(total: 15, offset: 2, bytes: [0xC3, 0xA8, 0x6D], isText: true))
    // Without the mark that says that the bytes are in the row.
    #expect(
      try store.content(of: "photo", in: recipe(1), count: 100)
        == StoredContent(total: 4, offset: 0, bytes: [0xFF, 0xD8, 0xFF, 0xE0], isText: false))
    #expect(
      try store.content(of: "photo", in: recipe(2), from: 256, count: 2)
        == StoredContent(
          total: 9_000_006, offset: 256, bytes: [0, 1], isText: false,
          location: .file(name: "BIG")))
    #expect(
      try store.content(of: "photo", in: recipe(3), count: 9)?.location == .missing(name: "GONE"))
    #expect(try store.content(of: "photo", in: recipe(4), count: 9) == nil)
    #expect(try store.content(of: "title", in: recipe(99), count: 9) == nil)
    #expect(try store.content(of: "title", in: recipe(1), from: 99, count: 9)?.bytes == [])
    #expect(throws: CoreDataError.self) { try store.content(of: "nope", in: recipe(1), count: 1) }
  }

  @Test("a text is found forwards and backwards, also past the first megabytes")
  func finding() throws {
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    #expect(try store.find("BRÛLÉE", in: "title", of: recipe(3), from: 0) == nil)
    #expect(try store.find("BRûLéE", in: "title", of: recipe(3), from: 0) == 7)
    #expect(try store.find("e", in: "title", of: recipe(3), from: 5) == 5)
    #expect(try store.find("e", in: "title", of: recipe(3), from: 14, backwards: true) == 5)
    #expect(try store.find("e", in: "title", of: recipe(3), from: 5, backwards: true) == nil)
    #expect(try store.find("needle", in: "photo", of: recipe(2), from: 0) == 9_000_000)
    #expect(throws: CoreDataError.self) {
      try store.find("x", in: "photo", of: recipe(2), from: 0, isCancelled: { true })
    }
  }
}

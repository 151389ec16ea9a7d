import Files
import ManagedStore
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Commands
@testable import Interface
@testable import strata

@Suite("Looking into folders")
struct FolderReadingTests {
  @Test("stores, databases, folders and the rest are told apart, and nothing is left behind")
  func kinds() async throws {
    let folder = try TemporaryFolder()
    _ = try DemoCommand.write(to: folder.path("demo"), objects: 50)
    do {
      let database = try Connection(path: folder.path("demo/other.db"), mode: .create)
      try database.execute("CREATE TABLE a (b)")
    }
    try FileSystem.write(Array("no".utf8), to: folder.path("demo/notes.txt"))
    try FileSystem.write(
      Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 500),
      to: folder.path("demo/broken.sqlite"))
    try FileSystem.makeDirectory(folder.path("demo/inner/App.momd"))
    let before = try FileSystem.list(folder.path("demo"))
    let listing = try FolderReading.list(folder.path("demo"))
    let found = Mutex<[String: StorePeek]>([:])
    try await FolderReading.peek(into: listing) { peeks in
      found.withLock { $0.merge(peeks) { $1 } }
    }
    let peeks = Dictionary(
      uniqueKeysWithValues: found.withLock { $0 }.map { (FileSystem.name(of: $0.key), $0.value) })
    guard case .store(let entities)? = peeks["Recipes.sqlite"] else {
      Issue.record("\(peeks)")
      return
    }
    #expect(entities > 5)
    #expect(peeks["other.db"] == .database)
    #expect(peeks["notes.txt"] == .nothing)
    #expect(peeks["broken.sqlite"] == .damaged("damaged"))
    #expect(peeks["inner"] == .folder(stores: 0, models: 1))
    #expect(!listing.entries.contains { $0.name == "Recipes.xcdatamodeld" })
    #expect(try FileSystem.list(folder.path("demo")) == before)
  }

  @Test("other stores in the folder of a store are its siblings, whatever their names are")
  func siblings() throws {
    let folder = try TemporaryFolder()
    _ = try DemoCommand.write(to: folder.path("demo"), objects: 50)
    let path = folder.path("demo/Recipes.sqlite")
    for name in ["Before.sqlite", "yesterday.bak"] {
      try FileSystem.copyOver(path, to: folder.path("demo/" + name))
    }
    try FileSystem.write(Array("no".utf8), to: folder.path("demo/notes.txt"))
    #expect(symbolicLink(folder.path("Link.sqlite"), to: path))
    for path in [path, folder.path("Link.sqlite")] {
      #expect(
        try FolderReading.siblings(of: path).map(\.name) == ["Before.sqlite", "yesterday.bak"])
    }
    #expect(try FolderReading.siblings(of: "/nonexistent/Recipes.sqlite").isEmpty)
  }

  @Test("a folder that is none says so")
  func none() {
    #expect(throws: (any Error).self) { try FolderReading.list("/nonexistent") }
  }
}

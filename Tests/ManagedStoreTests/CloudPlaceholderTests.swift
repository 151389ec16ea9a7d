import Files
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Placeholders of iCloud Drive")
struct CloudPlaceholderTests {
  @Test(
    "a name is told from that of its file",
    arguments: [
      (".store.sqlite.icloud", "store.sqlite"),
      ("a/.store.sqlite-wal.icloud", "a/store.sqlite-wal"),
      ("store.sqlite.icloud", nil), (".icloud", nil), ("..icloud", nil), (".store.sqlite", nil),
    ] as [(String, String?)])
  func names(name: String, file: String?) {
    #expect(CloudPlaceholder.file(ofPlaceholder: name) == file)
  }

  @Test("one counts in place of a file that is absent or empty, with the size that it states")
  func places() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("store.sqlite")
    #expect(CloudPlaceholder(for: path) == nil)
    try FileSystem.write([UInt8](repeating: 1, count: 500), to: path)
    try FileSystem.evict(path)
    let found = try #require(CloudPlaceholder(for: path))
    #expect(found.bytes == 500 && found.name == ".store.sqlite.icloud")
    try FileSystem.write([], to: path)
    #expect(CloudPlaceholder(for: path) == found)
    try FileSystem.write([1], to: path)
    #expect(CloudPlaceholder(for: path) == nil)
  }

  @Test("one that is damaged counts, without a size; a -wal of a header alone lacks nothing")
  func odd() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("store.sqlite")
    try FileSystem.write(
      [UInt8](repeating: 0xFF, count: 40), to: folder.path(".store.sqlite.icloud"))
    let found = try #require(CloudPlaceholder(for: path))
    #expect(found.bytes == nil)
    try FileSystem.write([UInt8](repeating: 0, count: 32), to: path + "-wal")
    try FileSystem.evict(path + "-wal")
    #expect(CloudPlaceholder.companions(ofStore: path).isEmpty)
    try FileSystem.write([UInt8](repeating: 0, count: 33), to: path + "-journal")
    try FileSystem.evict(path + "-journal")
    #expect(CloudPlaceholder.companions(ofStore: path).map(\.isLog) == [false])
  }
}

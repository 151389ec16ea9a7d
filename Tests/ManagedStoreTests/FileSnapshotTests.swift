import Files
import TestSupport
import Testing

@testable import ManagedStore

@Suite("A file that is the one that was looked at")
struct FileSnapshotTests {
  @Test("is equal under each of its names, and to no copy")
  func names() throws {
    let folder = try TemporaryFolder()
    try FileSystem.write(Array("abc".utf8), to: folder.path("a"))
    let before = FileSnapshot(of: folder.path("a"))
    #expect(before?.size == 3)
    #expect(FileSystem.link(folder.path("a"), to: folder.path("b")))
    try FileSystem.write(Array("abc".utf8), to: folder.path("c"))
    #expect(FileSnapshot(of: folder.path("b")) == before)
    #expect(FileSnapshot(of: folder.path("c")) != before)
    #expect(FileSnapshot(of: folder.path("none")) == nil)
  }

  @Test("is another once it was written to, for whoever asks")
  func written() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a")
    try FileSystem.write(Array("abc".utf8), to: path)
    let sum = EarlySum(of: path)
    _ = try? sum.wait()
    let (snapshot, store) = (FileSnapshot(of: path), StoreFingerprint(of: path))
    let file = try WritableFile(path)
    try file.write([1, 2, 3, 4], at: 0)
    #expect(FileSnapshot(of: path) != snapshot)
    #expect(FileSnapshot(of: path)?.identity == snapshot?.identity)
    #expect(StoreFingerprint(of: path) != store)
    #expect(StoreFingerprint(of: path).isSameFile(as: store))
    #expect(StoreFingerprint(of: path).isWritten(since: store))
    #expect(sum.sum(of: path) == nil)
  }

  @Test("is a link or what it leads to, as asked; an empty -wal is none")
  func links() throws {
    let folder = try TemporaryFolder()
    let (path, link) = (folder.path("a"), folder.path("link"))
    try FileSystem.write(Array("abc".utf8), to: path)
    #expect(symlink(path, link) == 0)
    #expect(FileSnapshot(of: link, followsLinks: true) == FileSnapshot(of: path))
    #expect(FileSnapshot(of: link) != FileSnapshot(of: path))
    let store = StoreFingerprint(of: path)
    try FileSystem.write([], to: path + "-wal")
    #expect(StoreFingerprint(of: path) == store)
  }
}

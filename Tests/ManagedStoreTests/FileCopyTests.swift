import Files
import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("Copying a file")
struct FileCopyTests {
  @Test("holes stay holes, at both ends and in between, and the bytes are the same")
  func holes() throws {
    let folder = try TemporaryFolder()
    let (from, to) = (folder.path("from"), folder.path("to"))
    let descriptor = open(from, O_RDWR | O_CREAT, 0o600)
    defer { close(descriptor) }
    #expect(pwrite(descriptor, "one", 3, 64 << 20) == 3)
    #expect(pwrite(descriptor, "two", 3, 128 << 20) == 3)
    #expect(ftruncate(descriptor, 200 << 20) == 0)
    try FileSystem.copyOver(from, to: to)
    #expect(FileSystem.status(to)?.size == 200 << 20)
    #expect(try FileSystem.sha256(to) == FileSystem.sha256(from))
    #expect(FileSystem.allocated(to) < 1 << 20)
  }

  @Test("a file of a terabyte of holes takes no time and no space")
  func terabyte() throws {
    let folder = try TemporaryFolder()
    try FileSystem.write([], to: folder.path("from"))
    #expect(truncate(folder.path("from"), 1 << 40) == 0)
    let took = try ProcessorTime.seconds {
      try FileSystem.copyOver(folder.path("from"), to: folder.path("to"))
    }
    #expect(FileSystem.status(folder.path("to"))?.size == 1 << 40)
    #expect(FileSystem.allocated(folder.path("to")) < 1 << 20)
    #expect(took < 5)
  }

  @Test("a -journal of zeros is finished: however large it is, it is not copied for a look")
  func finishedJournal() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: path, model: Model(contents: Array(OpeningTests.model.utf8)),
      uuid: "9F2C41D0-0000-4000-8000-000000000001")
    try FileSystem.write([], to: path + "-journal")
    #expect(truncate(path + "-journal", 1 << 40) == 0)
    let store = try Store(path: path)
    #expect(store.access == .immutable)
    #expect(try store.counts() == ["Note": 0])
  }
}

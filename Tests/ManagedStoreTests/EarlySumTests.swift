import Files
import ManagedModel
import TestSupport
import Testing

@Suite("The sum of a file that is read ahead")
struct EarlySumTests {
  @Test("is that of the file, under another name too")
  func renamed() throws {
    let folder = try TemporaryFolder()
    try FileSystem.write(Array("abc".utf8), to: folder.path("a"))
    let sum = EarlySum(of: folder.path("a"))
    _ = try? sum.wait()
    #expect(FileSystem.link(folder.path("a"), to: folder.path("b")))
    FileSystem.remove(folder.path("a"))
    #expect(try sum.sum(of: folder.path("b")) == FileSystem.sha256(folder.path("b")))
    #expect(sum.sum(of: folder.path("a")) == nil)
  }

  @Test("is not told of a file that was written to, or of another")
  func changed() throws {
    let folder = try TemporaryFolder()
    try FileSystem.write(Array("abc".utf8), to: folder.path("a"))
    try FileSystem.write(Array("abc".utf8), to: folder.path("b"))
    let sum = EarlySum(of: folder.path("a"))
    _ = try? sum.wait()
    #expect(sum.sum(of: folder.path("b")) == nil)
    let file = try WritableFile(folder.path("a"))
    try file.write([1, 2, 3, 4], at: 0)
    #expect(sum.sum(of: folder.path("a")) == nil)
  }

  @Test("is not told where it was stopped")
  func stopped() throws {
    let folder = try TemporaryFolder()
    try FileSystem.write(Array("abc".utf8), to: folder.path("a"))
    #expect(throws: CancellationError.self) {
      try FileSystem.sha256(folder.path("a"), unless: { true })
    }
    let sum = EarlySum(of: folder.path("a"))
    sum.stop()
    _ = try? sum.wait()
    let told = sum.sum(of: folder.path("a"))
    #expect(try told == nil || told == FileSystem.sha256(folder.path("a")))
  }

  @Test("is none of a file that is not there")
  func missing() throws {
    let folder = try TemporaryFolder()
    let sum = EarlySum(of: folder.path("a"))
    _ = try? sum.wait()
    #expect(sum.sum(of: folder.path("a")) == nil)
  }

  @Test("an error is thrown to everyone who waits for the result")
  func failed() throws {
    let folder = try TemporaryFolder()
    let sync = EarlySync(of: folder.path("a"))
    for _ in 0..<2 { #expect(throws: CoreDataError.self) { try sync.wait() } }
    try FileSystem.write([1], to: folder.path("a"))
    #expect(throws: Never.self) { try EarlySync(of: folder.path("a")).wait() }
  }
}

import Files
import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import Watching

@Suite("Being woken by a change")
struct ChangeSignalTests {
  @Test("a change wakes who waits, and is told at once")
  func wakes() throws {
    let library = try Library(mode: "DELETE")
    let signal = ChangeSignal(path: library.path)
    // The first wait begins with a rest.
    signal.wait(milliseconds: 10, noticing: nil)
    try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    var count = 0
    let start = ContinuousClock.now
    signal.wait(milliseconds: 60_000) { count += 1 }
    #expect(count > 0)
    #expect(ContinuousClock.now - start < .seconds(30))
    try library.save("UPDATE ZBOOK SET ZPAGES = 2 WHERE Z_PK = 1")
    signal.wait(milliseconds: 60_000, noticing: nil)
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test(
    "each wait notices a change since the one before, in every journal mode, also of a new -wal")
  func again() throws {
    let library = try Library(mode: "DELETE")
    let signal = ChangeSignal(path: library.path)
    let start = ContinuousClock.now
    for mode in ["DELETE", "TRUNCATE", "WAL", "PERSIST", "WAL", "DELETE"] {
      try library.execute("PRAGMA journal_mode = \(mode)")
      // Not each of these modes is written down in the file.
      signal.wait(milliseconds: 300, noticing: nil)
      for pages in 1...3 {
        try library.save("UPDATE ZBOOK SET ZPAGES = \(pages) WHERE Z_PK = 1")
        signal.wait(milliseconds: 60_000, noticing: nil)
      }
    }
    // Missing one would take a minute.
    #expect(ContinuousClock.now - start < .seconds(50))
  }

  @Test("another file of the folder wakes nobody, and does not keep the store's from waking")
  func others() throws {
    let library = try Library(mode: "DELETE")
    let signal = ChangeSignal(path: library.path)
    signal.wait(milliseconds: 10, noticing: nil)
    try FileSystem.write([1], to: library.folder.path("other.txt"))
    let start = ContinuousClock.now
    signal.wait(milliseconds: 300, noticing: nil)
    #expect(ContinuousClock.now - start >= .milliseconds(295))
    try FileSystem.write([1], to: library.folder.path("another.txt"))
    try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    signal.wait(milliseconds: 60_000, noticing: nil)
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  #if os(Linux)
    /// How many watches of inotify this process has for a file; proc(5) lists them by inode.
    private func watches(of path: String) throws -> Int {
      var info = stat()
      try #require(stat(path, &info) == 0)
      let mark = "inotify wd:"
      let inode = " ino:" + String(info.st_ino, radix: 16) + " "
      return try FileSystem.list("/proc/self/fdinfo").reduce(0) { sum, name in
        guard let file = try? OpenFile("/proc/self/fdinfo/" + name),
          let bytes = try? file.read(at: 0, count: 64 << 10)
        else { return sum }
        return sum
          + String(decoding: bytes, as: UTF8.self).split(separator: "\n").count {
            $0.hasPrefix(mark) && $0.contains(inode)
          }
      }
    }

    @Test("a program that saves pays for one event of each file until the next look")
    func cost() throws {
      let library = try Library(mode: "WAL")
      try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
      let signal = ChangeSignal(path: library.path)
      let log = library.path + "-wal"
      signal.wait(milliseconds: 10, noticing: nil)
      #expect(try watches(of: log) == 1)
      try library.save("UPDATE ZBOOK SET ZPAGES = 2 WHERE Z_PK = 1")
      #expect(try watches(of: log) == 0)
      signal.wait(milliseconds: 60_000, noticing: nil)
      #expect(try watches(of: log) == 1)
    }
  #endif
}

@Suite("Copying a store to watch it")
struct CopyLimitTests {
  @Test("a store larger than may be copied is refused, where its file system cannot share blocks")
  func limit() throws {
    let library = try Library()
    let main = try OpenFile(library.path)
    let clone = library.folder.path("clone")
    guard !FileSystem.clone(main, to: clone) else {
      #expect(try FileSystem.read(clone) == FileSystem.read(library.path))
      _ = try library.watch { $0.mostCopied = 1 }
      return
    }
    #expect(FileSystem.status(clone) == nil)
    let error = #expect(throws: CoreDataError.self) {
      _ = try library.watch { $0.mostCopied = main.bytes - 1 }
    }
    #expect(error?.kind == .refused)
    _ = try library.watch { $0.mostCopied = main.bytes }
  }
}

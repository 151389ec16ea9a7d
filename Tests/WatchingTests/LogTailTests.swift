import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Salvage
@testable import Watching

@Suite("The parts of following: frames, pages, rows")
struct LogTailTests {
  @Test("a log is read on from where it was read to, a transaction at a time")
  func tail() throws {
    let library = try Library()
    try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    let file = try OpenFile(library.path + "-wal")
    var tail = try #require(try LogTail(file, mainBytes: 1 << 20))
    let first = try #require(try tail.next(file))
    #expect(!first.pages.isEmpty && first.pageCount > 0 && first.frames.lowerBound == 0)
    while try tail.next(file) != nil {}
    #expect(try !tail.hasMore(file))
    try library.save("UPDATE ZBOOK SET ZPAGES = 2 WHERE Z_PK = 1")
    #expect(try tail.hasMore(file) && tail.count(file) == 1)
    let position = tail.position
    let next = try #require(try tail.next(file))
    #expect(next.frames.lowerBound == position)
    #expect(try tail.isIntact(file) && !tail.isRestarted(file))
  }

  @Test("a log that was begun again is noticed, and what stood behind in the former is still read")
  func restarted() throws {
    let library = try Library()
    for pages in 1...30 { try library.save("UPDATE ZBOOK SET ZPAGES = \(pages) WHERE Z_PK = 1") }
    let file = try OpenFile(library.path + "-wal")
    var tail = try #require(try LogTail(file, mainBytes: 1 << 20))
    for _ in 0..<25 { _ = try tail.next(file) }
    _ = try library.connection.rows("PRAGMA wal_checkpoint(RESTART)")
    try library.save("UPDATE ZBOOK SET ZPAGES = 99 WHERE Z_PK = 1")
    #expect(try tail.isRestarted(file) && tail.isIntact(file))
    #expect(try tail.next(file) != nil)
    let next = try #require(try LogTail(file, mainBytes: 1 << 20))
    #expect(next.follows(tail) && !tail.follows(next))
    #expect(try next.count(file) == 1)
  }

  @Test("pages that are written name the rows that differ, and no others")
  func rows() throws {
    let library = try Library(books: 500)
    let root = Int(
      try #require(
        try library.connection.value(
          "SELECT rootpage FROM sqlite_master WHERE name = 'ZBOOK'")?.integer))
    _ = try library.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    let main = try FileSystem.read(library.path)
    func old(_ page: Int) -> [UInt8]? {
      page > 0 && page * 4096 <= main.count ? Array(main[(page - 1) * 4096..<page * 4096]) : nil
    }
    var trees = try #require(
      try TableTrees(roots: [root], pageCount: main.count / 4096, page: old))
    try library.save(
      "UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK IN (3, 300); DELETE FROM ZBOOK WHERE Z_PK = 77")
    let file = try OpenFile(library.path + "-wal")
    var tail = try #require(try LogTail(file, mainBytes: 1 << 20))
    let transaction = try #require(try tail.next(file))
    let rows = try trees.rows(
      writing: transaction.pages, pageCount: transaction.pageCount, old: old)
    #expect(rows == [root: [3, 77, 300]])
  }
}

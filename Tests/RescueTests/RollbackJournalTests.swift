import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage

@Suite("A rollback journal is read as SQLite rolls it back")
struct RollbackJournalTests {
  private static func image(of path: String) throws -> [UInt8] {
    let main = try MainFile(path, journal: path + "-journal")
    return try main.read(at: 0, count: main.size)
  }

  @Test("the main file is as before the save", arguments: InterruptedSave.Journal.allCases)
  func whole(kind: InterruptedSave.Journal) throws {
    let save = try InterruptedSave(kind)
    let image = try Self.image(of: save.path)
    #expect(try image == save.recovered())
    if kind != .persist { #expect(image == save.saved) }
    let main = try MainFile(save.path, journal: save.journalPath)
    let journal = try #require(main.journal)
    #expect(journal.state == .hot && journal.end == .whole && journal.missing == 0)
    #expect(!journal.isOfAnotherTime && journal.pages > 10)
    let headers = try FileSystem.read(save.journalPath).count { $0 == JournalHeader.magic[0] }
    #expect(kind != .full || headers > 1)
  }

  @Test("pages are the same however they are asked for")
  func pieces() throws {
    let save = try InterruptedSave()
    let main = try MainFile(save.path, journal: save.journalPath)
    let whole = try main.read(at: 0, count: main.size)
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      let offset = Int.random(in: 0..<main.size + 100, using: &generator)
      let count = Int.random(in: 1...20_000, using: &generator)
      let piece = try main.read(at: offset, count: count)
      #expect(piece == Array(whole.dropFirst(offset).prefix(count)), "\(offset), \(count)")
    }
    #expect(try main.read(at: main.size, count: 1).isEmpty)
    #expect(try main.read(at: -1, count: 1).isEmpty)
  }

  @Test("a journal of a finished save counts for nothing")
  func finished() throws {
    let save = try InterruptedSave()
    let half = try FileSystem.read(save.path)
    // TRUNCATE, PERSIST, and a header that was never synced.
    let journal = try FileSystem.read(save.journalPath)
    let zeroed: [UInt8] = Array(repeating: 0, count: 28) + journal.dropFirst(28)
    for bytes: [UInt8] in [[], zeroed, [0]] {
      try FileSystem.write(bytes, to: save.journalPath)
      let main = try MainFile(save.path, journal: save.journalPath)
      #expect(main.journal?.state == .finished)
      #expect(try Self.image(of: save.path) == half)
      #expect(try save.recovered() == half)
      #expect(try StoreFiles(path: save.path).hasHotJournal() == false)
    }
  }

  @Test("a journal ends where SQLite ends")
  func ends() throws {
    let save = try InterruptedSave(.off)
    try save.countRecords()
    let journal = try FileSystem.read(save.journalPath)
    let record = 4096 + 8
    let spoils: [(RollbackJournal.End, (inout [UInt8]) -> Void)] = [
      (.cutOff, { $0.removeLast($0.count - 512 - 3 * record - 100) }),
      (.cutOff, { $0.removeLast($0.count - 512 - 3 * record + 2) }),
      // The 96th byte is the first that counts.
      (.checksum, { $0[512 + 2 * record + 4 + 96] ^= 1 }),
      (.checksum, { $0[512 + 3 * record - 1] ^= 1 }),
      (.noPage, { $0.replaceSubrange(512 + record..<512 + record + 4, with: [0, 0, 0, 0]) }),
      // A page beyond the database is passed over.
      (.whole, { $0.replaceSubrange(512 + record..<512 + record + 4, with: [9, 0, 0, 0]) }),
      // Every other byte is no part of the checksum.
      (.whole, { $0[512 + 2 * record + 4 + 97] ^= 1 }),
    ]
    for (end, spoil) in spoils {
      var bytes = journal
      spoil(&bytes)
      try FileSystem.write(bytes, to: save.journalPath)
      let read = try #require(try MainFile(save.path, journal: save.journalPath).journal)
      #expect(read.state == .hot && read.end == end)
      #expect((read.missing > 0) == (end != .whole))
      #expect(try Self.image(of: save.path) == save.recovered())
    }
  }

  @Test("a header without its magic, or with sizes that cannot be, is not rolled back")
  func headers() throws {
    let save = try InterruptedSave()
    let (half, journal) = try (FileSystem.read(save.path), FileSystem.read(save.journalPath))
    for (offset, byte) in [(5, 1), (22, 7), (23, 16), (25, 9), (26, 1)] as [(Int, UInt8)] {
      var bytes = journal
      bytes[offset] ^= byte
      try FileSystem.write(bytes, to: save.journalPath)
      #expect(try MainFile(save.path, journal: save.journalPath).journal?.state == .damagedHeader)
      #expect(try Self.image(of: save.path) == half)
      #expect(try save.recovered() == half, "\(offset)")
    }
    try FileSystem.write(Array(journal.prefix(300)), to: save.journalPath)
    #expect(try MainFile(save.path, journal: save.journalPath).journal?.state == .damagedHeader)
    #expect(try save.recovered() == half)
  }

  @Test("a transaction of several databases is finished once their common journal is gone")
  func common() throws {
    let save = try InterruptedSave()
    let half = try FileSystem.read(save.path)
    let name = save.store.folder.path("Common-mj12345678")
    let bytes = Array(name.utf8)
    let sum = bytes.reduce(0) { $0 + UInt32($1) }
    func word(_ number: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) }
    }
    // The number of the page that locks stand in, and the name.
    let tail =
      word(0x4000_0000 / 4096 + 1) + bytes + word(UInt32(bytes.count)) + word(sum)
      + JournalHeader.magic
    try FileSystem.write(FileSystem.read(save.journalPath) + tail, to: save.journalPath)
    #expect(
      try MainFile(save.path, journal: save.journalPath).journal?.state == .superseded(by: name))
    #expect(try Self.image(of: save.path) == half)
    #expect(try save.recovered() == half)
    try FileSystem.write([1], to: name)
    #expect(try MainFile(save.path, journal: save.journalPath).journal?.state == .hot)
    #expect(try Self.image(of: save.path) == save.saved)
  }

  @Test(
    "whatever bytes a journal has, the image is SQLite's",
    arguments: TestScale.some(2, of: [UInt64](1...4)))
  func hostile(seed: UInt64) throws {
    let kinds = InterruptedSave.Journal.allCases
    let save = try InterruptedSave(kinds[Int(seed) % kinds.count], objects: 300)
    let journal = try FileSystem.read(save.journalPath)
    var generator = SeededGenerator(seed: seed)
    let record = 4096 + 8
    for round in 0..<30 {
      var bytes = journal
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let number = Int.random(in: 0..<max(1, (bytes.count - 512) / record), using: &generator)
        let start = 512 + number * record
        switch Int.random(in: 0..<6, using: &generator) {
        // Within the header.
        case 0:
          bytes[Int.random(in: 8..<28, using: &generator)] = UInt8.random(
            in: 0...255, using: &generator)
        case 1:
          bytes[Int.random(in: 16..<20, using: &generator)] ^=
            1 << UInt8.random(in: 0...3, using: &generator)
        // A page's number, and its checksum.
        case 2:
          bytes[min(bytes.count - 1, start + 3)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 3: bytes[min(bytes.count - 1, start + 4100)] ^= 1
        case 4: bytes.removeLast(Int.random(in: 0...bytes.count / 2, using: &generator))
        default:
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
            in: 0...255, using: &generator)
        }
        if bytes.count < 600 { break }
      }
      // A size of many gigabytes is SQLite's alone.
      bytes.replaceSubrange(16..<19, with: [0, 0, bytes[18] & 3])
      try FileSystem.write(bytes, to: save.journalPath)
      let (image, recovered) = try (Self.image(of: save.path), save.recovered())
      // A number of pages that cannot be is all that is not done as SQLite does it.
      let wrongPages = try MainFile(save.path, journal: save.journalPath).journal?.wrongPages
      #expect(wrongPages == nil || bytes[16..<20] != journal[16..<20])
      #expect(wrongPages != nil || image == recovered, "seed \(seed), round \(round)")
    }
  }

  @Test(
    "a size that nobody wrote takes neither memory nor time",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func hugeSize() throws {
    let save = try InterruptedSave(objects: 300)
    try save.store.change("-journal") {
      $0.replaceSubrange(8..<20, with: repeatElement(0xFF, count: 12))
    }
    let main = try MainFile(save.path, journal: save.journalPath)
    #expect(main.size < 2 << 30)
    let image = try DatabaseImage(path: save.path, log: nil, journal: save.journalPath)
    #expect(try image.page(image.pageCount) != nil)
  }
}

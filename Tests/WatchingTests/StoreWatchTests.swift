import Comparison
import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables
@testable import Watching

@Suite("Following what is saved")
struct StoreWatchTests {
  @Test("in WAL mode each save is one for itself, with old and new values")
  func saves() throws {
    let library = try Library()
    let watch = try library.watch()
    #expect(try watch.look().isEmpty)
    try library.save("UPDATE ZBOOK SET ZTITLE = 'One', Z_OPT = 2 WHERE Z_PK = 1")
    try library.save("UPDATE ZBOOK SET ZTITLE = 'Two', ZPAGES = 7 WHERE Z_PK = 1")
    try library.save("DELETE FROM ZTAG WHERE Z_PK = 5")
    let saves = try watch.look()
    #expect(saves.map(\.saves) == [1, 1, 1])
    let first = saves.first?.changes.first
    #expect(first?.kind == .update && first?.a == ObjectID(entity: "Book", key: 1))
    #expect(first?.label == "One")
    #expect(first?.attributes.map(\.path) == [["title"]])
    #expect(first?.attributes.first?.old?.value == .value(.string("Book 1")))
    #expect(first?.attributes.first?.new?.value == .value(.string("One")))
    #expect(
      saves.dropFirst().first?.changes.first?.attributes.map(\.path) == [["pages"], ["title"]])
    #expect(saves.last?.counts == [deleted("Tag")])
    #expect(watch.notices.isEmpty && saves.allSatisfy { !$0.isWhole })
    #expect(try watch.look().isEmpty)
  }

  private func deleted(_ entity: String) -> ComparisonSummary.EntityCount {
    var count = ComparisonSummary.EntityCount(entity: entity)
    count.deleted = 1
    return count
  }

  @Test("an object that others refer to, or no longer, is changed, too")
  func links() throws {
    let library = try Library()
    let watch = try library.watch()
    try library.save("UPDATE ZBOOK SET ZAUTHOR = 4 WHERE Z_PK = 1")
    let save = try #require(try watch.look().first)
    let ids = Set(save.changes.compactMap(\.b))
    #expect(
      ids == [
        ObjectID(entity: "Book", key: 1), ObjectID(entity: "Person", key: 2),
        ObjectID(entity: "Person", key: 4),
      ], "\(ids)")
    let gained = save.changes.first { $0.b == ObjectID(entity: "Person", key: 4) }
    #expect(gained?.relationships.first?.added == [ObjectID(entity: "Book", key: 1)])
    #expect(gained?.relationships.first?.removed == [])
  }

  @Test("a save that is rolled back, or only read, is none")
  func nothing() throws {
    let library = try Library()
    let watch = try library.watch()
    try library.execute("BEGIN; UPDATE ZBOOK SET ZPAGES = 9; ROLLBACK")
    _ = try library.connection.rows("SELECT * FROM ZBOOK")
    #expect(try watch.look().isEmpty)
    // What is not committed is not seen, however often it is looked for.
    try library.execute("BEGIN; UPDATE ZBOOK SET ZPAGES = 9")
    #expect(try watch.look().isEmpty)
    try library.execute("COMMIT")
    #expect(try watch.look().first?.count == 40)
  }

  @Test(
    "what is reported adds up to what the store holds, in all modes and whatever a checkpoint does",
    arguments: TestScale.some(
      6,
      of: [
        ("WAL", ""), ("WAL", "PASSIVE"), ("WAL", "FULL"), ("WAL", "RESTART"), ("WAL", "TRUNCATE"),
        ("WAL", "close"), ("DELETE", ""), ("TRUNCATE", ""), ("PERSIST", ""),
      ]))
  func addsUp(mode: String, checkpoint: String) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let library = try Library(mode: mode)
      var generator = SeededGenerator(seed: seed)
      var mirror = try Mirror(library.path)
      let watch = try library.watch()
      var problems: [String] = []
      for _ in 0..<60 {
        try library.randomSave(&generator)
        if !checkpoint.isEmpty, Int.random(in: 0..<4, using: &generator) == 0 {
          if checkpoint == "close" {
            library.close()
            try library.open()
          } else {
            _ = try library.connection.rows("PRAGMA wal_checkpoint(\(checkpoint))")
          }
        }
        if Int.random(in: 0..<3, using: &generator) == 0 {
          problems += mirror.apply(try watch.look())
        }
      }
      // Saves that came very fast are read after a pause.
      for _ in 0..<1_000 {
        problems += mirror.apply(try watch.look())
        guard watch.isBehind else { break }
        watch.wait(milliseconds: 10)
      }
      #expect(problems.isEmpty, "\(mode) \(checkpoint), seed \(seed): \(problems.prefix(5))")
      #expect(try mirror == Mirror(library.path), "\(mode) \(checkpoint), seed \(seed)")
    }
  }

  @Test("saves that came together are counted", arguments: ["DELETE", "WAL"])
  func together(mode: String) throws {
    let library = try Library(mode: mode)
    let watch = try library.watch()
    try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    #expect(try watch.look().map(\.saves) == [1])
    for pages in 2...4 {
      try library.save("UPDATE ZBOOK SET ZPAGES = \(pages) WHERE Z_PK = 1")
    }
    if mode == "WAL" { _ = try library.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)") }
    let saves = try watch.look()
    #expect(saves.map(\.saves) == [3])
    #expect(saves.first?.changes.first?.attributes.first?.old?.value == .value(.integer(1)))
    #expect(saves.first?.changes.first?.attributes.first?.new?.value == .value(.integer(4)))
  }

  @Test(
    "nothing is lost, and nothing compared, where a log was begun again that was read to its end")
  func restarted() throws {
    let library = try Library()
    let watch = try library.watch()
    for pages in 1...20 {
      try library.save("UPDATE ZBOOK SET ZPAGES = \(pages) WHERE Z_PK = \(pages)")
      if pages % 4 == 0 { _ = try library.connection.rows("PRAGMA wal_checkpoint(RESTART)") }
      if pages % 4 == 2 { _ = try library.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)") }
      #expect(try watch.look().map(\.saves) == [1])
    }
  }

  @Test("a save that the log's index counts only after it was seen counts once")
  func lateIndex() throws {
    let library = try Library()
    let watch = try library.watch()
    try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    #expect(try watch.look().map(\.saves) == [1])
    let index = try WritableFile(library.path + "-shm")
    let early = try index.read(at: 0, count: 96)
    try library.save("UPDATE ZBOOK SET ZPAGES = 2 WHERE Z_PK = 1")
    let late = try index.read(at: 0, count: 96)
    #expect(early != late)
    // As a writer leaves it that waits for the disk.
    try index.write(early, at: 0)
    #expect(try watch.look().map(\.saves) == [1])
    try index.write(late, at: 0)
    _ = try library.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    try library.save("UPDATE ZBOOK SET ZPAGES = 3 WHERE Z_PK = 1")
    _ = try library.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try watch.look().map(\.saves) == [1])
  }

  @Test("a reader that keeps an old state open changes nothing")
  func longReader() throws {
    let library = try Library()
    let reader = try Connection(path: library.path, mode: .readOnly)
    try reader.execute("BEGIN")
    _ = try reader.value("SELECT count(*) FROM ZBOOK")
    let watch = try library.watch()
    for pages in 1...10 {
      try library.save("UPDATE ZBOOK SET ZPAGES = \(pages) WHERE Z_PK = 1")
      _ = try library.connection.rows("PRAGMA wal_checkpoint(RESTART)")
      #expect(try watch.look().map(\.count) == [1])
    }
    reader.close()
  }

  @Test(
    "after VACUUM all objects are compared, and what follows is followed",
    arguments: ["WAL", "DELETE"])
  func vacuum(mode: String) throws {
    let library = try Library(mode: mode)
    let watch = try library.watch()
    try library.save(
      "DELETE FROM ZBOOK WHERE Z_PK > 30; UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 2")
    try library.execute("VACUUM")
    var saves = try watch.look()
    #expect(watch.notices == [.compared(.rebuilt)])
    #expect(saves.contains { $0.changes.contains { $0.kind == .delete && $0.entity != "Tag" } })
    try library.save("UPDATE ZBOOK SET ZPAGES = 2 WHERE Z_PK = 2")
    saves = try watch.look()
    #expect(saves.map(\.saves) == [1] && watch.notices.isEmpty)
  }

  @Test("a store that another file replaces is compared with it; one that goes away is waited for")
  func replaced() throws {
    let library = try Library(mode: "DELETE")
    let watch = try library.watch()
    let other = library.folder.path("Other.sqlite")
    try Library.write(other, books: 40, title: "Tome")
    try FileSystem.rename(other, to: library.path)
    let saves = try watch.look()
    #expect(watch.notices == [.compared(.replaced)])
    #expect(saves.first?.isWhole == true)
    #expect(saves.first?.counts.reduce(0) { $0 + $1.updated } == 40)
    let kept = library.folder.path("Kept.sqlite")
    try FileSystem.rename(library.path, to: kept)
    #expect(try watch.look().isEmpty && watch.notices == [.gone])
    #expect(try watch.look().isEmpty && watch.notices.isEmpty)
    try FileSystem.rename(kept, to: library.path)
    #expect(try watch.look().isEmpty)
    #expect(watch.notices.first == .back)
  }

  @Test("a path that turns into a link is not followed")
  func link() throws {
    let library = try Library(mode: "DELETE")
    let watch = try library.watch()
    let kept = library.folder.path("Kept.sqlite")
    try FileSystem.rename(library.path, to: kept)
    #expect(symbolicLink(library.path, to: kept))
    #expect(try watch.look().isEmpty && watch.notices == [.link])
    #expect(try watch.look().isEmpty && watch.notices.isEmpty)
  }

  @Test("entities, a predicate and a limit choose what is reported; all of it is counted")
  func chosen() throws {
    let library = try Library()
    let tags = try library.watch { $0.entities = ["Tag"] }
    let few = try library.watch { $0.limit = 3 }
    let some = try library.watch {
      $0.entities = ["Book"]
      $0.predicate = "pages == 5"
    }
    try library.save("UPDATE ZBOOK SET ZPAGES = Z_PK; UPDATE ZTAG SET ZNAME = 'x' WHERE Z_PK = 1")
    #expect(try tags.look().first?.changes.map(\.entity) == ["Tag"])
    let save = try few.look().first
    #expect(save?.changes.count == 3 && save?.count == 41 && save?.rest == 38)
    #expect(try some.look().first?.changes.compactMap(\.b?.key) == [5])
    // It matched before.
    try library.save("UPDATE ZBOOK SET ZPAGES = 9 WHERE Z_PK = 5")
    #expect(try some.look().first?.count == 1)
    #expect(throws: CoreDataError.self) { try library.watch { $0.entities = ["Bok"] } }
    #expect(throws: CoreDataError.self) {
      try library.watch {
        $0.entities = ["Book"]
        $0.predicate = "pagez == 5"
      }
    }
  }

  @Test("only what stands beyond the page of a row is changed: the object is reported")
  func overflow() throws {
    let library = try Library()
    try library.save("UPDATE ZBOOK SET ZCOVER = zeroblob(30000) WHERE Z_PK = 3")
    let watch = try library.watch()
    try library.save(
      "UPDATE ZBOOK SET ZCOVER = CAST(zeroblob(29999) || x'01' AS BLOB) WHERE Z_PK = 3")
    let save = try #require(try watch.look().first)
    #expect(save.changes.map { $0.b?.key } == [3] && !save.isWhole)
    #expect(save.changes.first?.attributes.map(\.path) == [["cover"]])
  }

  @Test("a save of very many pages is found by comparing all objects")
  func large() throws {
    let library = try Library()
    let watch = try library.watch()
    try library.save("UPDATE ZBOOK SET ZCOVER = randomblob(700000)")
    let saves = try watch.look()
    #expect(saves.map(\.count) == [40] && saves.first?.isWhole == true)
    #expect(watch.notices == [.compared(.unfollowed)])
    try library.save("UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 2")
    #expect(try watch.look().map(\.saves) == [1])
  }

  @Test(
    "objects of a large save are found in parts, each of them once", arguments: ["WAL", "DELETE"])
  func parts(mode: String) throws {
    let library = try Library(books: 5000, mode: mode)
    var mirror = try Mirror(library.path)
    let watch = try library.watch()
    let (tags, owner, tag) = (library.tags.table, library.tags.owner, library.tags.destination)
    try library.save(
      """
      UPDATE ZBOOK SET ZPAGES = Z_PK, ZAUTHOR = Z_PK % 4 + 1 WHERE Z_PK % 10 > 0;
      DELETE FROM \(quoted(tags)) WHERE \(quoted(owner)) % 3 = 0;
      DELETE FROM ZBOOK WHERE Z_PK % 3 = 0;
      INSERT OR IGNORE INTO \(quoted(tags)) (\(quoted(owner)), \(quoted(tag)))
      SELECT Z_PK, 1 FROM ZBOOK WHERE Z_PK % 2 = 0
      """)
    let saves = try watch.look()
    let save = try #require(saves.first)
    #expect(saves.count == 1 && !save.isWhole && watch.notices.isEmpty)
    #expect(save.counts.count > 2 && save.count > 4500)
    let keys = save.changes.map { "\($0.entity)/\(($0.b ?? $0.a)?.key ?? 0)" }
    #expect(Set(keys).count == keys.count)
    #expect(mirror.apply(saves).prefix(3) == [])
    #expect(try mirror == Mirror(library.path))
    // What was restored and written again in between is what the store holds.
    try library.save("UPDATE ZBOOK SET ZTITLE = 'Last' WHERE Z_PK = 4")
    #expect(mirror.apply(try watch.look()).isEmpty)
    #expect(try mirror == Mirror(library.path))
  }

  @Test("objects that a save does not keep are passed on before it", arguments: [false, true])
  func passing(replaces: Bool) throws {
    let library = try Library(books: 3000, mode: "DELETE")
    let watch = try library.watch()
    if replaces {
      let other = library.folder.path("Other.sqlite")
      try Library.write(other, books: 3000, title: "Tome")
      try FileSystem.rename(other, to: library.path)
    } else {
      try library.save("UPDATE ZBOOK SET ZTITLE = 'Tome' || Z_PK")
    }
    var passed: [ObjectChange] = []
    var saves: [ObservedSave] = []
    try watch.look(passing: { passed.append($0) }) { save in
      // Its notice and its objects are there by then.
      #expect(passed.count == save.passed && watch.notices.isEmpty == !replaces)
      saves.append(save)
    }
    let save = try #require(saves.first)
    #expect(saves.count == 1 && save.changes.count == 1000 && save.rest == 0)
    #expect(save.count == 3000 && passed.count == 2000)
    #expect(Set((save.changes + passed).compactMap(\.b)).count == 3000)
  }

  @Test(
    "of thousands of saves each is reported as soon as it is found; what a caller throws is thrown")
  func streaming() throws {
    struct Enough: Error {}
    let library = try Library()
    let watch = try library.watch()
    for pages in 1...5 { try library.save("UPDATE ZBOOK SET ZPAGES = \(pages) WHERE Z_PK = 1") }
    var count = 0
    #expect(throws: Enough.self) {
      try watch.look { _ in
        count += 1
        if count == 2 { throw Enough() }
      }
    }
    #expect(count == 2 && watch.notices.isEmpty)
  }

  @Test("a look that programs leave no time for is known to be behind, and the next finds the save")
  func behind() throws {
    let library = try Library(books: 2000, mode: "DELETE")
    let watch = try library.watch()
    try library.save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1")
    // More pages than it keeps: some are in the file before the save is done.
    try library.execute(
      "PRAGMA cache_size = 5; BEGIN IMMEDIATE; UPDATE ZBOOK SET ZTITLE = hex(randomblob(300))")
    #expect(try watch.look().isEmpty)
    #expect(watch.isBehind)
    try library.execute("ROLLBACK")
    #expect(try watch.look().map(\.count) == [1])
    #expect(!watch.isBehind)
  }

  @Test("nothing is written to the store or its folder, and the private copy goes away")
  func traces() throws {
    let library = try Library()
    try library.save("UPDATE ZBOOK SET ZPAGES = 2 WHERE Z_PK = 1")
    let before = try library.folder.contents()
    var copy = ""
    do {
      let watch = try library.watch()
      _ = try watch.look()
      copy = watch.store.files.path
      #expect(FileSystem.isFile(copy))
      #expect((FileSystem.status(copy)?.permissions ?? 0) & 0o077 == 0)
    }
    #expect(!FileSystem.isFile(copy))
    #expect(try library.folder.contents() == before)
  }

  @Test("a log of garbage and a file that is cut off are told once, and later the store again")
  func hostile() throws {
    let library = try Library(mode: "DELETE")
    library.close()
    let whole = try FileSystem.read(library.path)
    let watch = try library.watch()
    try FileSystem.write(
      (0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 37) }, to: library.path + "-wal")
    #expect(try watch.look().isEmpty)
    FileSystem.remove(library.path + "-wal")
    _ = try watch.look()
    let file = try WritableFile(library.path)
    try file.write([UInt8](repeating: 0, count: 200), at: 0)
    #expect(try watch.look().isEmpty)
    #expect(watch.notices.count == 1, "\(watch.notices)")
    #expect(try watch.look().isEmpty && watch.notices.isEmpty)
    try file.write(whole, at: 0)
    #expect(try watch.look().isEmpty)
    try library.open()
    try library.save("UPDATE ZBOOK SET ZPAGES = 3 WHERE Z_PK = 1")
    #expect(try watch.look().map(\.count) == [1])
  }

  @Test(
    "changed bytes of a log or a store never end the process",
    arguments: 1...8 as ClosedRange<UInt64>)
  func fuzzed(seed: UInt64) throws {
    let library = try Library(books: 200)
    var generator = SeededGenerator(seed: seed)
    let watch = try library.watch()
    for _ in 0..<5 { try library.randomSave(&generator) }
    // The log as long as it is there; without it, the store.
    let place = library.path + (seed % 2 == 0 ? "" : "-wal")
    if seed % 2 == 0 { library.close() }
    let bytes = try FileSystem.read(place)
    library.close()
    for _ in 0..<6 {
      FileSystem.remove(place)
      try FileSystem.write(generator.mutated(bytes), to: place)
      // An error is a sentence; a crash would be none.
      _ = try? watch.look()
      #expect(watch.notices.allSatisfy { !$0.sentence.isEmpty })
    }
  }
}

import Dispatch
import Files
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import ManagedStore
@testable import Watching

@Suite("Following saves without a log by their journals")
struct SaveJournalsTests {
  /// A store of some megabytes, which is not read whole for each save.
  private func library() throws -> Library {
    let library = try Library(mode: "DELETE")
    try library.save("UPDATE ZBOOK SET ZCOVER = randomblob(200000)")
    return library
  }

  /// Saves, and looks for the journal while it is there and after that.
  private func save(
    _ sql: String, end: String = "COMMIT", in library: Library, _ files: WatchedFiles
  ) throws {
    try library.execute("BEGIN IMMEDIATE; \(sql)")
    files.lookForJournal()
    try library.execute(end)
    files.lookForJournal()
  }

  private func pages(
    _ files: WatchedFiles, since former: StoreState, _ library: Library
  ) throws -> Set<Int>? {
    try files.pages(
      of: OpenFile(library.path), from: former, to: StoreState(files), pageSize: 4096)?.named
  }

  @Test("a journal that comes and goes while something else is done is noticed")
  func meanwhile() throws {
    let library = try library()
    let files = WatchedFiles(StoreFiles(path: library.path))
    try files.refresh()
    // On a busy machine one may be missed, but not all.
    let isNoticed = try Patience.wait {
      let former = try StoreState(files)
      try files.noticingJournals {
        try library.save("UPDATE ZBOOK SET ZPAGES = ZPAGES + 1 WHERE Z_PK = 3")
      }
      files.lookForJournal()
      return try pages(files, since: former, library) != nil
    }
    #expect(isNoticed)
  }

  @Test("the journals name every page that a save wrote, and few others")
  func named() throws {
    let library = try library()
    let files = WatchedFiles(StoreFiles(path: library.path))
    try files.refresh()
    #expect(files.usesJournals)
    // Free pages are taken, the file grows, and two saves come together.
    let saves = [
      ["UPDATE ZBOOK SET ZPAGES = 7 WHERE Z_PK = 3"],
      ["UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK IN (4, 5, 6)"],
      ["UPDATE ZBOOK SET ZCOVER = randomblob(150000) WHERE Z_PK = 5"],
      ["UPDATE ZBOOK SET ZCOVER = randomblob(900000) WHERE Z_PK = 6"],
      [
        "UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 7",
        "UPDATE ZBOOK SET ZCOVER = randomblob(180000) WHERE Z_PK = 8",
      ],
    ]
    for together in saves {
      let (former, before) = (try StoreState(files), try FileSystem.read(library.path))
      for sql in together { try save(sql, in: library, files) }
      let after = try FileSystem.read(library.path)
      let named = try #require(try pages(files, since: former, library), "\(together)")
      let written = (0..<after.count / 4096).filter { page in
        let range = page * 4096..<(page + 1) * 4096
        return range.upperBound > before.count || before[range] != after[range]
      }.map { $0 + 1 }
      #expect(named.isSuperset(of: written), "\(together)")
      #expect(written.count > 1 && named.count < 600, "\(together): \(named.count)")
      files.journals.discard(before: try StoreState(files).changeCounter)
    }
  }

  @Test("hundreds of saves are named together, and one that was not seen is known at once")
  func many() throws {
    let library = try library()
    let files = WatchedFiles(StoreFiles(path: library.path))
    try files.refresh()
    // A number of another size would move all of the row.
    try save("UPDATE ZBOOK SET ZPAGES = 999 WHERE Z_PK = 3", in: library, files)
    let former = try StoreState(files)
    for number in 1000..<1200 {
      try save("UPDATE ZBOOK SET ZPAGES = \(number) WHERE Z_PK = 3", in: library, files)
    }
    let named = try #require(try pages(files, since: former, library))
    #expect(named.count < 10)
    #expect(try files.areKnown(since: former))
    // One that is under way may become known.
    try library.execute("BEGIN IMMEDIATE; UPDATE ZBOOK SET ZPAGES = 7777 WHERE Z_PK = 3")
    #expect(try files.areKnown(since: former))
    try library.execute("COMMIT")
    #expect(try files.areKnown(since: former))
    let later = try StoreState(files)
    try library.save("UPDATE ZBOOK SET ZPAGES = 8888 WHERE Z_PK = 3")
    #expect(try !files.areKnown(since: former) && !files.areKnown(since: later))
    #expect(try files.areKnown(since: StoreState(files)))
  }

  @Test("beside the next save a journal names nothing where pages are free")
  func freePages() throws {
    let library = try library()
    let files = WatchedFiles(StoreFiles(path: library.path))
    try files.refresh()
    // What is written must differ: SQLite saves nothing else.
    for (isFree, number) in [(false, 1), (true, 3)] {
      if isFree { try save("UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 4", in: library, files) }
      let former = try StoreState(files)
      try library.execute("BEGIN IMMEDIATE; UPDATE ZBOOK SET ZPAGES = \(number) WHERE Z_PK = 1")
      files.lookForJournal()
      try library.execute("COMMIT")
      try save("UPDATE ZBOOK SET ZPAGES = \(number) WHERE Z_PK = 30", in: library, files)
      let count = try StoreState(files).changeCounter &- former.changeCounter
      #expect(count == 2)
      let named = try pages(files, since: former, library)
      #expect((named == nil) == isFree)
      let areKnown = try files.areKnown(since: former)
      #expect(areKnown == !isFree)
    }
  }

  @Test("beside a program that saves all the time nothing is missing")
  func busy() throws {
    let library = try library()
    var mirror = try Mirror(library.path)
    let watch = try library.watch()
    let path = library.path
    let result = Mutex<Result<Void, any Error>?>(nil)
    // The tasks of other tests may take all threads that tasks have.
    DispatchQueue(label: "writer").async { @Sendable in
      let written = Result {
        let connection = try Connection(path: path, mode: .readWrite)
        defer { connection.close() }
        try connection.execute("PRAGMA synchronous = OFF")
        for number in 1...400 {
          try connection.execute(
            """
            BEGIN IMMEDIATE; UPDATE ZBOOK SET ZPAGES = \(number) WHERE Z_PK = \(number % 40 + 1);
            UPDATE ZBOOK SET ZCOVER = randomblob(\(number * 7919 % 30_000))
            WHERE Z_PK = \(number % 7 + 1); COMMIT
            """)
          usleep(UInt32(number % 4 * 300))
        }
      }
      result.withLock { $0 = written }
    }
    var problems: [String] = []
    var saves = 0
    func look() throws {
      let found = try watch.look()
      problems += mirror.apply(found)
      saves += found.compactMap(\.saves).reduce(0, +)
    }
    var written: Result<Void, any Error>?
    while written == nil {
      try look()
      watch.wait(milliseconds: 20)
      written = result.withLock { $0 }
    }
    try written?.get()
    let end = ContinuousClock.now + .seconds(20)
    repeat { try look() } while watch.isBehind && ContinuousClock.now < end
    #expect(problems.isEmpty, "\(problems.prefix(5))")
    #expect(saves == 400 && !watch.isBehind)
    #expect(try mirror == Mirror(library.path))
  }

  @Test("where the journal of a save was not seen, or its save was rolled back, they name nothing")
  func unseen() throws {
    let library = try library()
    let files = WatchedFiles(StoreFiles(path: library.path))
    try files.refresh()
    var former = try StoreState(files)
    try save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1", in: library, files)
    #expect(try pages(files, since: former, library) != nil)
    // The second of two.
    try library.save("UPDATE ZBOOK SET ZPAGES = 2 WHERE Z_PK = 30")
    #expect(try pages(files, since: former, library) == nil)
    // The first of two.
    former = try StoreState(files)
    try library.save("UPDATE ZBOOK SET ZPAGES = 3 WHERE Z_PK = 30")
    try save("UPDATE ZBOOK SET ZPAGES = 3 WHERE Z_PK = 1", in: library, files)
    #expect(try pages(files, since: former, library) == nil)
    // One that was rolled back stands for none that was not seen.
    former = try StoreState(files)
    try save("UPDATE ZBOOK SET ZPAGES = 4 WHERE Z_PK = 1", end: "ROLLBACK", in: library, files)
    try library.save("UPDATE ZBOOK SET ZPAGES = 4 WHERE Z_PK = 30")
    #expect(try pages(files, since: former, library) == nil)
  }

  @Test(
    "a journal that SQLite keeps for the next save does not count",
    arguments: ["PERSIST", "TRUNCATE"]
  )
  func kept(mode: String) throws {
    let library = try library()
    _ = try library.connection.rows("PRAGMA journal_mode = \(mode)")
    let files = WatchedFiles(StoreFiles(path: library.path))
    try files.refresh()
    let former = try StoreState(files)
    try save("UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1", in: library, files)
    #expect(try pages(files, since: former, library) == nil)
  }

  @Test(
    "what is reported adds up to what the store holds, whichever journals were seen",
    arguments: TestScale.some(2, of: [1, 2, 3, 4] as [UInt64]))
  func addsUp(seed: UInt64) throws {
    let library = try library()
    var generator = SeededGenerator(seed: seed)
    var mirror = try Mirror(library.path)
    let watch = try library.watch()
    var problems: [String] = []
    for _ in 0..<60 {
      let isSeen = Int.random(in: 0..<4, using: &generator) > 0
      let end = Int.random(in: 0..<6, using: &generator) == 0 ? "ROLLBACK" : "COMMIT"
      try library.randomSave(&generator, end: end) {
        if isSeen { problems += mirror.apply(try watch.look()) }
      }
      if Int.random(in: 0..<2, using: &generator) == 0 {
        problems += mirror.apply(try watch.look())
      }
    }
    problems += mirror.apply(try watch.look())
    #expect(problems.isEmpty, "seed \(seed): \(problems.prefix(5))")
    #expect(try mirror == Mirror(library.path), "seed \(seed)")
  }

  @Test("a copy that was made while a program saved is mended by the journal of that save")
  func torn() throws {
    let library = try library()
    let files = WatchedFiles(StoreFiles(path: library.path))
    try files.refresh()
    let former = try StoreState(files)
    let main = try #require(files.main)
    var failure: (any Error)?
    var isDone = false
    func saveOnce() {
      guard !isDone else { return }
      isDone = true
      do {
        try save(
          "UPDATE ZBOOK SET ZCOVER = randomblob(199000), ZPAGES = 9 WHERE Z_PK IN (1, 39)",
          in: library, files)
      } catch { failure = error }
    }
    let copy = try DatabaseCopy(of: main, pageSize: nil, meanwhile: saveOnce)
    // Where the blocks are shared, nothing is copied.
    saveOnce()
    #expect(failure == nil)
    #expect(try copy.follow(main, files, from: former, to: StoreState(files)))
    let bytes = try FileSystem.read(library.path)
    #expect(copy.pageCount == bytes.count / 4096)
    // The first page has a change counter of its own.
    for page in 2...copy.pageCount {
      let known = try copy.page(page)
      #expect(known == Array(bytes[(page - 1) * 4096..<page * 4096]), "page \(page)")
    }
  }

}

import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("What lies beside a store")
struct LogTests {
  /// A store with rows that only its -wal holds, as an app that was killed leaves it.
  private static func logged() throws -> SafetyPlace {
    let live = try SafetyPlace()
    let connection = try Connection(path: live.path, mode: .readWrite)
    try connection.execute("INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT) VALUES (77, 6, 1)")
    let place = try SafetyPlace()
    for suffix in ["", "-wal"] {
      try FileSystem.copyOver(live.path + suffix, to: place.path + suffix)
    }
    connection.close()
    return place
  }

  @Test("rows in the -wal are migrated, and the backup has them", arguments: SafetyCase.allCases)
  func rows(way: SafetyCase) throws {
    let place = try Self.logged()
    let lines = try StoreDump.lines(at: place.path)
    let receipt = try StoreMigration.runAndRead(way.plan(place.path))
    #expect(try Store(path: place.path).counts()["Loan"] == 3)
    let backup = try #require(receipt.backupPath)
    #expect(try StoreDump.lines(at: backup) == lines)
    // The main file of the backup has them: nothing of a log is needed.
    let alone = try Connection(path: backup, mode: .immutable)
    #expect(try alone.value("SELECT count(*) FROM ZLOAN") == .integer(3))
    for suffix in ["-wal", "-shm", "-journal"] {
      #expect(FileSystem.status(place.path + suffix) == nil)
      #expect(FileSystem.status(backup + suffix) == nil)
    }
  }

  @Test(
    "cancelled in any phase, the -wal and the store stay byte for byte",
    arguments: TestScale.some(2, of: SafetyCase.allCases))
  func cancelled(way: SafetyCase) throws {
    let phases = try Phase.all(of: way, in: Self.logged())
    let place = try Self.logged()
    let before = try SafetyPlace.files(in: place.folder.path)
    let plan = try way.plan(place.path)
    for phase in phases {
      var isReached = false
      let error = failure(of: plan, isCancelled: { isReached }) {
        if Phase($0) == phase { isReached = true }
      }
      #expect(error?.code == 134120, "\(phase)")
      #expect(try SafetyPlace.files(in: place.folder.path) == before, "\(phase)")
    }
  }

  @Test("once it is migrated, this very process can lock it too", arguments: SafetyCase.allCases)
  func released(way: SafetyCase) throws {
    let place = try SafetyPlace()
    _ = try StoreMigration.runAndRead(way.plan(place.path))
    let connection = try Connection(path: place.path, mode: .readWrite)
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
  }

  @Test("where there are no hard links, the backup is a copy with the rows of the -wal")
  func copiedBackup() throws {
    let place = try Self.logged()
    let lines = try StoreDump.lines(at: place.path)
    let backup = place.folder.path("Library.backup-1")
    try place.cutOver { $0.link = { _, _, _ in false } }
    #expect(try StoreDump.lines(at: backup) == lines)
    #expect(try Store(path: place.path).counts()["Loan"] == 2)
    #expect(
      try FileSystem.list(place.folder.path).filter { !$0.hasPrefix(".Library_SUPPORT") }
        == ["Library.backup-1", "Library.sqlite"])
  }

  @Test("a hot -journal: refused in place, rolled back in what is written elsewhere")
  func journal() throws {
    let live = try SafetyPlace(books: 600)
    let connection = try Connection(path: live.path, mode: .readWrite)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN; UPDATE ZBOOK SET Z_OPT = 9")
    let place = try SafetyPlace()
    for suffix in ["", "-journal"] {
      try FileSystem.copyOver(live.path + suffix, to: place.path + suffix)
    }
    try connection.execute("ROLLBACK")
    connection.close()
    #expect((FileSystem.status(place.path + "-journal")?.size ?? 0) > 512)
    let before = try SafetyPlace.files(in: place.folder.path)
    let plan = try SafetyCase.inPlace.plan(place.path)
    let error = failure(of: plan)
    #expect(error?.kind == .refused && error?.message.contains("-journal") == true)
    #expect(try SafetyPlace.files(in: place.folder.path) == before)
    for way in [SafetyCase.inPlace, .copying] {
      var options = MigrationOptions()
      options.output = place.folder.path("Out-\(way.rawValue).sqlite")
      #expect(
        failure(of: try way.plan(place.path, output: options.output), options: options) == nil)
      let result = try Store(path: place.folder.path("Out-\(way.rawValue).sqlite"))
      #expect(try result.connection.value("SELECT max(Z_OPT) FROM ZBOOK") == .integer(1))
    }
    #expect(try FileSystem.read(place.path + "-journal") == before["Library.sqlite-journal"])
  }

  @Test("through a link, the real file with its -wal is migrated and the link stays")
  func link() throws {
    for way in [SafetyCase.inPlace, .copying] {
      let place = try Self.logged()
      let elsewhere = try TemporaryFolder()
      let link = elsewhere.path("App.sqlite")
      #expect(symbolicLink(link, to: place.path))
      let receipt = try StoreMigration.runAndRead(way.plan(link))
      #expect(FileSystem.canonical(link) == FileSystem.canonical(place.path))
      #expect(try Store(path: place.path).counts()["Loan"] == 3)
      #expect(try FileSystem.list(elsewhere.path) == ["App.sqlite"])
      #expect(receipt.backupPath.map { FileSystem.name(of: $0) } == "Library.backup-1")
    }
  }

  @Test("what was killed between the backup's link and the rename leaves one name, and says so")
  func secondName() throws {
    for name in ["Library.sqlite", "A b'\"%\n😀.sqlite"] {
      let place = try SafetyPlace()
      let path = place.folder.path(name)
      try FileSystem.rename(place.path, to: path)
      let names = StoreNames(path)
      let work = names.newWork()
      let backup = place.folder.path(FileSystem.stem(of: path) + ".backup-1")
      let file = try #require(FileIdentity(of: path))
      let journal = names.path(names.journal)
      try FileSystem.write(
        JournalRecord.encode([
          .run(.migration), .work(work),
          .aside(.init(from: name, to: FileSystem.name(of: backup), file: file)), .go,
        ]), to: journal)
      chmod(journal, 0o600)
      try FileSystem.copyOver(path, to: names.path(work))
      try FileSystem.write([1], to: names.path(work) + ".next")
      #expect(FileSystem.link(path, to: backup))
      let receipt = try StoreMigration.runAndRead(SafetyCase.copying.plan(path))
      #expect(receipt.backupPath == FileSystem.canonical(backup))
      #expect(receipt.notes.count { $0.contains("interrupted") } == 1, "\(receipt.notes)")
      #expect(
        try FileSystem.list(place.folder.path).filter { !$0.hasSuffix("_SUPPORT") }.sorted()
          == [FileSystem.name(of: backup), name].sorted())
    }
  }

  @Test("a backup that is no second name of the store is never removed")
  func keptBackup() throws {
    let place = try SafetyPlace()
    let backup = place.folder.path("Library.backup-1")
    try FileSystem.write([1, 2, 3], to: backup)
    let file = try #require(FileIdentity(of: place.path))
    let work = StoreNames(place.path).newWork()
    try place.leave(
      [
        .run(.migration), .work(work),
        .aside(.init(from: "Library.sqlite", to: "Library.backup-1", file: file)), .go,
      ], [work])
    _ = try StoreMigration.runAndRead(SafetyCase.inPlace.plan(place.path))
    #expect(try FileSystem.read(backup) == [1, 2, 3])
  }
}

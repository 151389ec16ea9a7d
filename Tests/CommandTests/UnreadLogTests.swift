import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

/// A file in a store's place takes its -wal or its -journal away: none may go that holds what was not read.
@Suite("A store beside a log that is not in it is not replaced")
struct UnreadLogTests {
  private static func demo(
    _ folder: TemporaryFolder, _ name: String = "demo", objects: Int = 1000
  ) throws -> (store: String, models: String) {
    let made = Captured("demo", folder.path(name), "--objects", "\(objects)", "--no-open")
    try #require(made.status == .done)
    return (folder.path(name) + "/Recipes.sqlite", folder.path(name) + "/Recipes.xcdatamodeld")
  }

  /// Saves something in a copy of a store, and leaves its main file and its log as they were before the end.
  private static func log(
    _ path: String, after sql: String, then more: String = ""
  ) throws -> (main: [UInt8], log: [UInt8]) {
    let live = path + ".live"
    try FileSystem.copyOver(path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE); "
        + sql)
    let log = try FileSystem.read(live + "-wal")
    try connection.execute(more)
    let main = try FileSystem.read(live)
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(live + suffix) }
    return (main, log)
  }

  /// Text without its line breaks.
  private static func flat(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func files(_ path: String) throws -> [[UInt8]] {
    try ["", "-wal", "-journal"].map {
      FileSystem.isFile(path + $0) ? try FileSystem.read(path + $0) : []
    }
  }

  /// A demo with the -wal of another demo beside it, and the bytes of both.
  private static func demoBesideForeignLog(
    _ folder: TemporaryFolder
  ) throws -> (path: String, models: String, main: [UInt8], log: [UInt8]) {
    let (path, models) = try demo(folder)
    let change = "UPDATE ZSTEP SET Z_OPT = Z_OPT + 1; CREATE TABLE AOWN (A)"
    let (main, _) = try log(path, after: change)
    let other = try log(demo(folder, "other", objects: 700).store, after: change)
    try FileSystem.write(main, to: path)
    try FileSystem.write(other.log, to: path + "-wal")
    try #require(try Store(path: path).wal.unapplied?.reason == .foreign)
    return (path, models, main, other.log)
  }

  @Test("a -wal of another store is never written into the main file")
  func foreign() throws {
    let folder = try TemporaryFolder()
    let (path, models, main, log) = try Self.demoBesideForeignLog(folder)
    let alone = try StoreDump.lines(at: path)
    let before = try Self.files(path)
    for words in [["--dry-run"], []] {
      let edit = Captured(["edit", path, "Recipe/p1", "title=x"] + words)
      #expect(edit.status == .refused && edit.err.contains("-wal"), "\(edit.err)")
    }
    #expect(try Self.files(path) == before)
    #expect(Self.flat(Captured("doctor", path).out).contains("cannot migrate as it is"))
    let migration = Captured("migrate", path, "--to", models, "--allow-loss", "wal")
    #expect(migration.status == .done, "\(migration.err)")
    let place = try #require(FileSystem.parent(of: path))
    #expect(try FileSystem.read(place + "/Recipes.backup-1") == main)
    #expect(!FileSystem.isFile(place + "/Recipes.backup-1-wal"))
    #expect(try FileSystem.read(path + "-wal.unapplied") == log)
    #expect(Captured("rollback", path).status == .done)
    #expect(try StoreDump.lines(at: path) == alone)
    #expect(try FileSystem.read(path) == main)
  }

  @Test("so it is without a backup: the log alone stays")
  func foreignWithoutBackup() throws {
    let folder = try TemporaryFolder()
    let (path, models, _, _) = try Self.demoBesideForeignLog(folder)
    let migration = Captured("migrate", path, "--to", models, "--allow-loss", "wal", "--no-backup")
    #expect(migration.status == .done, "\(migration.err)")
    let place = try #require(FileSystem.parent(of: path))
    #expect(
      try FileSystem.list(place).filter { $0.hasPrefix("Recipes.") || $0.hasPrefix(".Recipes") }
        .sorted() == [
          ".Recipes_SUPPORT", "Recipes.sqlite", "Recipes.sqlite-wal.unapplied",
          "Recipes.xcdatamodeld",
        ])
  }

  @Test("a -wal that is older than the store does not take the place of newer rows")
  func older() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let (main, log) = try Self.log(
      path, after: "CREATE TABLE AOWN (A)",
      then: """
        PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; INSERT INTO AOWN VALUES (1);
        UPDATE ZTAG SET ZNAME = ZNAME || ' newer', Z_OPT = Z_OPT + 1; INSERT INTO AOWN VALUES (2);
        INSERT INTO AOWN VALUES (3); PRAGMA journal_mode = WAL
        """)
    try FileSystem.write(main, to: path)
    try FileSystem.write(log, to: path + "-wal")
    try #require(try Store(path: path).wal.isOlderThanStore)
    let before = try Self.files(path)
    for words in [
      ["edit", path, "Recipe/p1", "title=x", "--dry-run"], ["edit", path, "Recipe/p1", "title=x"],
      ["plan", path, "--to", models, "--allow-loss", "wal"],
      ["migrate", path, "--to", models, "--allow-loss", "wal"],
      [
        "migrate", path, "--to", models, "--allow-loss", "wal", "--output", folder.path("M.sqlite"),
      ],
      ["rehearse", path, "--to", models],
    ] {
      let run = Captured(words)
      #expect(run.status == .refused, "\(words) \(run.err)")
      #expect(
        Self.flat(run.out + run.err).contains("older than the store"),
        "\(words) \(run.out) \(run.err)")
      #expect(try Self.files(path) == before)
    }
    #expect(Self.flat(Captured("doctor", path).out).contains("cannot migrate as it is"))
  }

  @Test("a -wal that is not downloaded is missing to an edit and a rehearsal as well")
  func notDownloaded() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let place = try #require(FileSystem.parent(of: path))
    try FileSystem.write(
      PropertyList.binary(.dictionary(["NSURLFileSizeKey": .integer(40_000)])),
      to: place + "/.Recipes.sqlite-wal.icloud")
    for words in [
      ["edit", path, "Recipe/p1", "title=x"], ["plan", path, "--to", models],
      ["rehearse", path, "--to", models],
    ] {
      let run = Captured(words)
      #expect(run.status == .refused, "\(words) \(run.err)")
      #expect(Self.flat(run.out + run.err).contains("not downloaded"), "\(words)")
    }
  }

  @Test(
    "beside a -journal a dry run refuses what the edit refuses, and a rehearsal rolls its copy back"
  )
  func interrupted() throws {
    let folder = try TemporaryFolder()
    let (path, models) = try Self.demo(folder)
    let live = path + ".live"
    try FileSystem.copyOver(path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA cache_size = 2; \
      UPDATE ZAMOUNT SET Z_OPT = 1; BEGIN; UPDATE ZAMOUNT SET Z_OPT = 0
      """)
    try FileSystem.copyOver(live, to: path)
    try FileSystem.copyOver(live + "-journal", to: path + "-journal")
    try connection.execute("ROLLBACK")
    connection.close()
    FileSystem.remove(live)
    try #require(try StoreFiles(path: path).hasHotJournal())
    let before = try Self.files(path)
    for words in [["--dry-run"], []] {
      let edit = Captured(["edit", path, "Recipe/p1", "title=x"] + words)
      #expect(edit.status == .refused && Self.flat(edit.err).contains("a -journal is beside it"))
    }
    let plan = Captured("plan", path, "--to", models)
    #expect(plan.status == .refused)
    #expect(
      Self.flat(plan.out).contains(
        "strata migrate \(path) --to MODEL --output FILE"), "\(plan.out)")
    #expect(Self.flat(Captured("doctor", path).out).contains("cannot migrate as it is"))
    let rehearsal = Captured("rehearse", path, "--to", models)
    #expect(rehearsal.status == .done, "\(rehearsal.out) \(rehearsal.err)")
    #expect(Self.flat(rehearsal.out + rehearsal.err).contains("rolled back in the copy"))
    #expect(try Self.files(path) == before)
  }

  @Test("the -journal of a save that was finished is no hindrance")
  func persisted() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.demo(folder)
    let connection = try Connection(path: path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = PERSIST; UPDATE ZTAG SET Z_OPT = 9")
    connection.close()
    try #require(try FileSystem.read(path + "-journal").count > 512)
    let edit = Captured("edit", path, "Recipe/p1", "title=x")
    #expect(edit.status == .done, "\(edit.err)")
    #expect(Captured("object", path, "Recipe/p1").out.contains("x"))
    #expect(try StoreFiles(path: path).hasHotJournal() == false)
    #expect(Captured("doctor", path).status == .done)
    #expect(Captured("rollback", path).status == .done)
  }

  @Test("a store in UTF-16 is edited, and verified against one of its own encoding")
  func encoded() throws {
    let folder = try TemporaryFolder()
    let (path, _) = try Self.demo(folder, objects: 300)
    // The files of external data are found by the name before the last dot.
    let wide = folder.path("demo/Recipes.wide")
    let connection = try Connection(path: wide, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute("PRAGMA encoding = 'UTF-16le'")
    let source = try Connection(path: path, mode: .readWrite)
    let objects = try source.rows(
      "SELECT name, sql, type FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'trigger', type = 'index'"
    )
    for object in objects {
      let (name, sql) = (try #require(object[0].text), try #require(object[1].text))
      if object[2].text == "trigger" || object[2].text == "index" {
        try connection.execute(sql)
        continue
      }
      try connection.execute(sql)
      for row in try source.rows("SELECT * FROM \"\(name)\"") {
        try connection.run(
          "INSERT INTO \"\(name)\" VALUES (\(row.map { _ in "?" }.joined(separator: ", ")))", row)
      }
    }
    source.close()
    connection.close()
    let lines = try (StoreDump.lines(at: wide), StoreDump.lines(at: path))
    try #require(lines.0 == lines.1)
    let verification = Captured("verify", path, wide)
    #expect(verification.status == .refused)
    #expect(
      Self.flat(verification.err).contains("UTF-16")
        && Self.flat(verification.err).contains("strata compare"))
    let edit = Captured("edit", wide, "Recipe/p1", "title=x")
    #expect(edit.status == .done, "\(edit.err)")
    #expect(Captured("verify", wide, folder.path("demo/Recipes.backup-1")).status == .no)
    let repair = Captured("repair", wide)
    #expect(repair.status == .done, "\(repair.err)")
  }
}

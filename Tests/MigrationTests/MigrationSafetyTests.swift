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

@Suite("A migration that must not happen leaves the store as it was")
struct MigrationSafetyTests {
  static let added = [
    (
      #"<attribute name="label""#,
      #"<attribute name="floor" optional="YES" attributeType="Integer 16" defaultValueString="3"/><attribute name="label""#
    )
  ]

  private static func refusal(
    _ plan: MigrationPlan, options: MigrationOptions = MigrationOptions(),
    isCancelled: @escaping () -> Bool = { false }
  ) -> CoreDataError? {
    do {
      _ = try StoreMigration.runAndRead(plan, options: options, isCancelled: isCancelled)
      return nil
    } catch { return error as? CoreDataError }
  }

  @Test("losses are refused until each is allowed by name")
  func losses() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let before = try folder.contents()
    let plan = try Library.plan(
      path,
      to: Library.model(replacing: [
        (#"<attribute name="nickname" optional="YES" attributeType="String"/>"#, "")
      ]))
    let error = Self.refusal(plan)
    #expect(error?.kind == .refused)
    #expect(error?.entity == "Author")
    #expect(error?.property == "nickname")
    #expect(error?.hint?.contains("allowedLosses Author.nickname") == true)
    #expect(try folder.contents() == before)
    var options = MigrationOptions()
    options.allowedLosses = ["Author"]
    #expect(Self.refusal(plan, options: options) == nil)
  }

  @Test("a mandatory attribute without values is refused with the rows (134110)")
  func mandatory() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let before = try folder.contents()
    let plan = try Library.plan(
      path,
      to: Library.model(replacing: [
        (
          #"<attribute name="pages" optional="YES" attributeType="Integer 16"/>"#,
          #"<attribute name="pages" attributeType="Integer 16"/>"#
        )
      ]))
    #expect(plan.checks.map(\.code) == [134110, 134110, 134110])
    #expect(plan.checks.reduce(0) { $0 + $1.rows } == 3)
    #expect(Self.refusal(plan)?.code == 134110)
    #expect(try folder.contents() == before)
  }

  @Test("duplicates under a new constraint are refused with their number (134111)")
  func duplicates() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    let writer = try StoreWriter(creating: path, model: Library.model(Library.version1))
    for label in ["a", "b", "a", "a"] {
      try writer.insert("Shelf", attributes: ["label": .string(label)])
    }
    try writer.insert("Shelf")
    try writer.insert("Shelf")
    try writer.finish()
    let plan = try Library.plan(
      path,
      to: Library.model(replacing: [
        (
          #"<entity name="Shelf">"#,
          #"<entity name="Shelf"><uniquenessConstraints><uniquenessConstraint><constraint value="label"/></uniquenessConstraint></uniquenessConstraints>"#
        )
      ]))
    #expect(plan.checks.count == 1)
    #expect(plan.checks.first?.code == 134111)
    #expect(plan.checks.first?.rows == 3)
    #expect(plan.checks.first?.first == [ObjectID(entity: "Shelf", key: 1)])
  }

  @Test("cancelled at any moment: nothing changed, nothing left")
  func cancelled() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder, books: 600)
    let before = try folder.contents()
    let plan = try Library.plan(path, to: Library.model(replacing: Self.added))
    var moment = 0
    var finished = false
    while !finished, moment < 1_000_000 {
      // Asked to stop at the first, second, third … question, and then at fewer and fewer of the many.
      var asked = 0
      let stop = moment
      let error = Self.refusal(plan) {
        asked += 1
        return asked > stop
      }
      if let error {
        #expect(error.kind == .cancelled)
        #expect(error.code == 134120)
        #expect(try folder.contents() == before)
      } else {
        finished = true
      }
      moment += 1 + moment / 8
    }
    #expect(finished)
    #expect(moment > 8)
  }

  @Test("the old store is kept as a backup that reads as before, with its external data")
  func backup() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let lines = try StoreDump.lines(at: path)
    let bytes = try FileSystem.read(path)
    let receipt = try StoreMigration.runAndRead(
      Library.plan(path, to: Library.model(replacing: Self.added)))
    let backup = try #require(receipt.backupPath)
    #expect(try FileSystem.read(backup) == bytes)
    #expect(try StoreDump.lines(at: backup) == lines)
    #expect(try !StoreDump.lines(at: backup).contains { $0.contains("missing") })
    #expect(
      try FileSystem.list(folder.path).filter { !$0.hasPrefix(".Library_SUPPORT") }
        == ["Library.backup-1", "Library.sqlite"])
  }

  @Test("the second time there is nothing to do")
  func again() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let model = try Library.model(replacing: Self.added)
    _ = try StoreMigration.runAndRead(Library.plan(path, to: model))
    let before = try folder.contents()
    let plan = try Library.plan(path, to: model)
    #expect(plan.isNothingToDo)
    #expect(Self.refusal(plan)?.kind == .usage)
    #expect(try folder.contents() == before)
  }

  @Test("--output leaves the store alone and takes its external data along")
  func output() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let before = try folder.contents()
    let plan = try Library.plan(path, to: Library.model(replacing: Self.added))
    var options = MigrationOptions()
    options.output = folder.path("Out.sqlite")
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    #expect(receipt.backupPath == nil)
    var after = try folder.contents()
    after["Out.sqlite"] = nil
    #expect(after == before)
    let lines = try StoreDump.lines(at: folder.path("Out.sqlite"))
    #expect(!lines.contains { $0.contains("missing") })
    #expect(Self.refusal(plan, options: options)?.message == "the output exists already")
  }

  @Test("rows that only the -wal holds are migrated, and the -wal is gone afterwards")
  func log() throws {
    let folder = try TemporaryFolder()
    let live = try Library.store(in: folder)
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute("INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT) VALUES (77, 6, 1)")
    let path = folder.path("Copy.sqlite")
    try FileSystem.copyOver(live, to: path)
    try FileSystem.copyOver(live + "-wal", to: path + "-wal")
    connection.close()
    let before = try Store(path: path)
    #expect(before.wal.frames > 0)
    let lines = try StoreDump.lines(before)
    let receipt = try StoreMigration.runAndRead(
      Library.plan(path, to: Library.model(replacing: Self.added)))
    #expect(!FileSystem.isFile(path + "-wal"))
    #expect(try Store(path: path).counts()["Loan"] == 3)
    #expect(try StoreDump.lines(at: #require(receipt.backupPath)) == lines)
  }

  @Test("a store that another program writes to is left alone")
  func locked() throws {
    guard Tool.sqlite3.isAvailable else {
      print("skipped: sqlite3 is not installed")
      return
    }
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let plan = try Library.plan(path, to: Library.model(replacing: Self.added))
    let other = try OtherProgram(
      Tool.sqlite3.path, [path, "BEGIN EXCLUSIVE; CREATE TABLE busy (a);", ".shell sleep 3600"])
    defer { other.kill() }
    try other.wait { StoreLock.user(of: path) != nil }
    let error = Self.refusal(plan)
    #expect(error?.message.contains("is using the store") == true, "\(String(describing: error))")
    #expect(try !FileSystem.list(folder.path).contains { $0.hasPrefix(".strata-") })
  }

  @Test("two migrations of one store: the second is refused")
  func twice() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let plan = try Library.plan(path, to: Library.model(replacing: Self.added))
    let first = try MigrationJournal(storePath: path)
    #expect(Self.refusal(plan)?.message == "another strata process is working on this store")
    withExtendedLifetime(first) {}
  }

  @Test("what an interrupted run left is recognised and removed")
  func leftOver() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let work = StoreNames(path).newWork()
    let others = [".strata-migrating-Other.sqlite-abc123", work + ".notours", work + "x"]
    for name in [work, work + ".next-wal"] + others {
      try FileSystem.write([1, 2, 3], to: folder.path(name))
    }
    #expect(StoreMigration.leftovers(of: path).first?.contains(work) == true)
    let receipt = try StoreMigration.runAndRead(
      Library.plan(path, to: Library.model(replacing: Self.added)))
    #expect(receipt.notes.contains { $0.contains("interrupted") && $0.contains(work) })
    #expect(
      try FileSystem.list(folder.path).filter { $0.hasPrefix(".strata-") }.sorted()
        == others.sorted())
    #expect(try Store(path: path).modelMatches)
  }

  @Test("a store that changes while it is migrated is not replaced")
  func changed() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder, books: 300)
    let plan = try Library.plan(path, to: Library.model(replacing: Self.added))
    var isChanged = false
    do {
      _ = try StoreMigration.runAndRead(
        plan,
        progress: { progress in
          guard !isChanged, progress.parts[progress.current].kind == .verify else { return }
          isChanged = true
          if let other = try? Connection(path: path, mode: .readWrite) {
            try? other.execute("UPDATE ZSHELF SET ZLABEL = 'new'")
          }
        })
      Issue.record("the store was replaced")
    } catch let error as CoreDataError {
      #expect(error.message.contains("changed by another program"))
    }
    #expect(try StoreDump.lines(at: path).contains { $0.contains("label=new") })
    #expect(try Store(path: path).model.versionIdentifiers == ["1"])
  }

  @Test("a -wal with a -shm that nobody holds, as a killed app leaves them, is migrated")
  func killedApp() throws {
    let folder = try TemporaryFolder()
    let live = try Library.store(in: folder)
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute("INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT) VALUES (77, 6, 1)")
    let path = folder.path("Copy.sqlite")
    for suffix in ["", "-wal", "-shm"] { try FileSystem.copyOver(live + suffix, to: path + suffix) }
    connection.close()
    _ = try StoreMigration.runAndRead(Library.plan(path, to: Library.model(replacing: Self.added)))
    #expect(try Store(path: path).counts()["Loan"] == 3)
    #expect(!FileSystem.isFile(path + "-wal"))
    #expect(!FileSystem.isFile(path + "-shm"))
  }

  @Test("a store that only its owner may read stays so, and so does its backup")
  func permissions() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    chmod(path, 0o600)
    let plan = try Library.plan(path, to: Library.model(replacing: Self.added))
    var options = MigrationOptions()
    options.output = folder.path("Out.sqlite")
    _ = try StoreMigration.runAndRead(plan, options: options)
    #expect(FileSystem.status(folder.path("Out.sqlite"))?.permissions == 0o600)
    let receipt = try StoreMigration.runAndRead(plan)
    #expect(FileSystem.status(path)?.permissions == 0o600)
    #expect(try FileSystem.status(#require(receipt.backupPath))?.permissions == 0o600)
  }

  @Test("progress begins unfinished, never goes back, and ends finished")
  func progress() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder, books: 200)
    var seen: [MigrationProgress] = []
    _ = try StoreMigration.runAndRead(
      Library.plan(path, to: Library.model(replacing: Self.added)), progress: { seen.append($0) })
    #expect(seen.first?.parts.allSatisfy { !$0.isFinished } == true)
    #expect(seen.first?.fraction == 0)
    for (before, after) in zip(seen, seen.dropFirst()) {
      #expect(after.fraction >= before.fraction - 1e-9)
      #expect(after.parts.map(\.title) == before.parts.map(\.title))
    }
    #expect(seen.last?.parts.allSatisfy { $0.isFinished && $0.done == $0.total } == true)
    #expect(seen.last?.fraction == 1)
  }
}

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

@Suite("What a run leaves alone")
struct DoorTests {
  @Test("a store is at its path at every step of a reset, with a -wal beside it too")
  func neverAbsent() throws {
    for run in [InterruptedRun.reset, .resetDeleting, .migrate, .rollback] {
      for withLog in [true, false] {
        let folder = try run.prepare(withLog: withLog)
        try run.run(in: folder.path) { step in
          #expect(FileSystem.isDatabase(folder.path("Library.sqlite")), "\(run) \(withLog) \(step)")
          // And none that lacks what its -wal holds.
          guard step != .done else { return }
          let store = try Store(path: folder.path("Library.sqlite"))
          let keys = try store.connection.value("SELECT sum(Z_MAX) FROM Z_PRIMARYKEY")?.integer ?? 0
          #expect((keys > 1000) == withLog, "\(run) \(withLog) \(step): \(keys)")
        }
      }
    }
  }

  @Test(
    "no other program can write while a run holds the store, before and after the owner is set",
    .enabled(if: Tool.sqlite3.isAvailable, "sqlite3 is not installed"))
  func locks() throws {
    for run in [InterruptedRun.migrate, .reset, .rollback] {
      for withLog in [true, false] {
        let folder = try run.prepare(withLog: withLog)
        let path = folder.path("Library.sqlite")
        if geteuid() == 0 {
          for name in try FileSystem.list(folder.path) { chown(folder.path(name), 65534, 65534) }
        }
        var seen: [Cutover.Step] = []
        try run.run(in: folder.path) { step in
          guard step != .lock, step != .done else { return }
          seen.append(step)
          let other = try OtherProgram(
            Tool.sqlite3.path, [path, "CREATE TABLE INTRUDER (A)"])
          #expect(other.exitStatus(within: 30) != 0, "\(run) \(withLog) \(step)")
        }
        #expect(seen.contains(.note) && seen.contains(.rename))
        let store = try Store(path: path)
        #expect(!store.database.contains("INTRUDER"))
        if geteuid() == 0 {
          var info = stat()
          #expect(stat(path, &info) == 0 && info.st_uid == 65534, "\(run)")
        }
      }
    }
  }

  @Test("a rollback without a backup touches nothing that an interrupted run left")
  func noBackup() throws {
    let place = try SafetyPlace()
    let names = StoreNames(FileSystem.canonical(place.path))
    let work = names.newWork()
    try place.leave([.run(.migration), .work(work)], [work])
    let list = try FileSystem.list(place.folder.path)
    let error = #expect(throws: CoreDataError.self) { try StoreRollback.run(path: place.path) }
    #expect(error?.message.contains("no backup") == true)
    #expect(try FileSystem.list(place.folder.path) == list)
    #expect(StoreMigration.pendingRecovery(at: place.path).first?.contains(work) == true)
  }

  @Test("what a rollback left that was killed at its very end is removed; the store is the backup")
  func finishedRollback() throws {
    let place = try SafetyPlace()
    let names = StoreNames(FileSystem.canonical(place.path))
    try place.leave([.run(.rollback), .work(names.newWork()), .go, .done], [])
    #expect(StoreMigration.pendingRecovery(at: place.path).count == 1)
    let error = #expect(throws: CoreDataError.self) { try StoreRollback.run(path: place.path) }
    #expect(error?.message.contains("no backup") == true)
    #expect(error?.hint?.contains("had restored its backup") == true)
    #expect(StoreMigration.pendingRecovery(at: place.path).isEmpty)
    #expect(try FileSystem.list(place.folder.path).contains { $0.hasPrefix(".strata-") } == false)
  }

  @Test(
    "a support folder that is a link is neither copied, moved nor removed by any run",
    arguments: TestScale.some(3, of: InterruptedRun.allCases))
  func linkedSupport(run: InterruptedRun) throws {
    let elsewhere = try TemporaryFolder()
    try FileSystem.makeDirectory(elsewhere.path("_EXTERNAL_DATA"))
    for name in ["id_rsa", "_EXTERNAL_DATA/KEY"] {
      try FileSystem.write([1, 2, 3], to: elsewhere.path(name))
    }
    let outside = try SafetyPlace.files(in: elsewhere.path)
    let folder = try run.prepare(withLog: false)
    let support = folder.path(".Library_SUPPORT")
    FileSystem.removeTree(support)
    #expect(symbolicLink(support, to: elsewhere.path))
    do {
      try run.run(in: folder.path) { _ in }
    } catch let error as CoreDataError {
      #expect([.refused, .unreadable, .failed].contains(error.kind), "\(run): \(error)")
    }
    #expect(try SafetyPlace.files(in: elsewhere.path) == outside, "\(run)")
    #expect(try !FileSystem.list(folder.path).contains { $0.hasPrefix(".strata-") }, "\(run)")
  }

  @Test(
    "links, a FIFO or a folder where the store's logs would be are refused, not followed or waited for"
  )
  func companions() throws {
    for suffix in ["-wal", "-journal", "-shm"] {
      for kind in ["link", "dangling", "fifo", "folder"] {
        let place = try SafetyPlace()
        let victim = place.folder.path("victim")
        try FileSystem.write(Array("victim".utf8), to: victim)
        let path = place.path + suffix
        switch kind {
        case "link": #expect(symbolicLink(path, to: victim))
        case "dangling": #expect(symbolicLink(path, to: place.folder.path("nothing")))
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        default: try FileSystem.makeDirectory(path)
        }
        if let plan = try? SafetyCase.inPlace.plan(place.path) { _ = failure(of: plan) }
        _ = try? StoreReset.run(path: place.path, model: Library.model(InterruptedRun.note))
        #expect(try FileSystem.read(victim) == Array("victim".utf8), "\(suffix) \(kind)")
        #expect(FileIdentity(of: place.folder.path("nothing")) == nil, "\(suffix) \(kind)")
      }
    }
  }

  @Test("a private copy that cannot be removed is reported")
  func leftBehind() throws {
    let sentence = "In /nowhere: a test could not be removed."
    LeftBehind.add(sentence)
    LeftBehind.add(sentence)
    #expect(LeftBehind.all.count { $0 == sentence } == 1)
  }
}

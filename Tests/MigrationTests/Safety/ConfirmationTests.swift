import Files
import ManagedModel
import ManagedStore
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Migration

/// Between verification and cut-over, while a person looks at the receipt so far.
@Suite("A cut-over that waits for a word")
struct ConfirmationTests {
  @Test(
    "is asked about once, with the receipt so far, while the store is as it was",
    arguments: SafetyCase.allCases)
  func asked(way: SafetyCase) throws {
    let place = try SafetyPlace()
    let plan = try way.plan(place.path)
    let asked = Mutex<[MigrationReceipt]>([])
    let (path, before) = (place.path, place.before["Library.sqlite"])
    var options = MigrationOptions()
    options.confirmation = { sofar in
      asked.withLock { $0.append(sofar) }
      // The result lies beside the store; the store itself has not changed.
      #expect((try? FileSystem.read(path)) == before)
      return true
    }
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    let told = asked.withLock { $0 }
    #expect(told.count == 1)
    #expect(told.first?.entities == receipt.entities)
    #expect(told.first?.resultSHA256 == receipt.resultSHA256)
    #expect(told.first?.backupPath == nil)
  }

  @Test(
    "a no throws the result away: nothing changed, nothing left", arguments: SafetyCase.allCases)
  func refused(way: SafetyCase) throws {
    let place = try SafetyPlace()
    var error: CoreDataError?
    do {
      var options = MigrationOptions()
      options.confirmation = { _ in false }
      _ = try StoreMigration.runAndRead(way.plan(place.path), options: options)
    } catch let thrown as CoreDataError {
      error = thrown
    }
    #expect(error?.kind == .cancelled)
    #expect(error?.message == "the result was discarded")
    #expect(try place.changes() == [])
  }

  @Test("a store that changes while the answer is waited for is kept")
  func changed() throws {
    let place = try SafetyPlace()
    var error: CoreDataError?
    do {
      var options = MigrationOptions()
      options.confirmation = { [path = place.path] _ in
        let other = try? Connection(path: path, mode: .readWrite)
        try? other?.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
        return true
      }
      _ = try StoreMigration.runAndRead(SafetyCase.inPlace.plan(place.path), options: options)
    } catch let thrown as CoreDataError {
      error = thrown
    }
    #expect(error?.code == 134110)
    #expect(error?.message.contains("changed by another program meanwhile") == true)
    let store = try Store(path: place.path)
    #expect(store.model.versionHashes == (try Library.model(replacing: []).versionHashes))
  }

  @Test("what a run left that died there is cleaned up by name, and told")
  func cleanedUp() throws {
    let place = try SafetyPlace()
    #expect(StoreMigration.cleanUp(after: place.path) == [])
    let names = StoreNames(place.path)
    let work = names.newWork()
    let file = try #require(FileIdentity(of: place.path))
    let records: [JournalRecord] = [
      .run(.migration), .work(work),
      .aside(.init(from: "Library.sqlite", to: "Library.backup-1", file: file)), .go,
    ]
    do {
      // Under way: nothing is touched.
      let journal = try MigrationJournal(storePath: place.path)
      try FileSystem.write([1, 2, 3], to: journal.workPath)
      #expect(StoreMigration.cleanUp(after: place.path) == [])
      #expect(
        StoreMigration.leftovers(of: place.path) == [
          "Another strata process is working on this store."
        ])
      #expect(FileSystem.status(journal.workPath) != nil)
      withExtendedLifetime(journal) {}
    }
    #expect(try place.changes() == [])
    // A killed run leaves its note, and here a second name of the store.
    try place.leave(records, [work])
    #expect(FileSystem.link(place.path, to: place.folder.path("Library.backup-1")))
    #expect(StoreMigration.leftovers(of: place.path).count == 1)
    #expect(
      StoreMigration.cleanUp(after: place.path) == [
        "An earlier run was interrupted: what it left (\(work), Library.backup-1) was removed. "
          + "The store is as it was before the migration."
      ])
    #expect(try place.changes() == [])
    #expect(StoreMigration.leftovers(of: place.path) == [])
  }

  @Test("a receipt tells the objects that changed, through several steps too")
  func changes() throws {
    for way in [SafetyCase.inPlace, .copying, .chain] {
      let place = try SafetyPlace(books: 9)
      let receipt = try StoreMigration.runAndRead(way.plan(place.path))
      let changed = receipt.entities.filter { ($0.changed ?? 0) > 0 }.map(\.entity)
      #expect(!changed.isEmpty, "\(way)")
      #expect(receipt.entities.allSatisfy { ($0.changed ?? 0) <= $0.after }, "\(way)")
      let copied = receipt.entities.filter { $0.changed == 0 }.map(\.entity)
      #expect(!copied.isEmpty, "\(way): \(receipt.entities)")
    }
  }

  @Test("a rollback tells how far it is, and stops while the backup is cloned")
  func rollback() throws {
    let place = try SafetyPlace()
    _ = try StoreMigration.runAndRead(SafetyCase.inPlace.plan(place.path))
    let migrated = try SafetyPlace.files(in: place.folder.path)
    var error: CoreDataError?
    do {
      _ = try StoreRollback.run(path: place.path, isCancelled: { true })
    } catch let thrown {
      error = thrown
    }
    #expect(error?.kind == .cancelled)
    #expect(try SafetyPlace.files(in: place.folder.path) == migrated)
    var kinds: [MigrationProgress.Part.Kind] = []
    var last: MigrationProgress?
    _ = try StoreRollback.run(
      path: place.path,
      progress: { progress in
        last = progress
        let kind = progress.parts[progress.current].kind
        if kinds.last != kind { kinds.append(kind) }
      })
    #expect(kinds == [.copy, .verify, .replace])
    #expect(last?.fraction == 1)
  }
}

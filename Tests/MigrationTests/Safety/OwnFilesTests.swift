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

/// Whose files a run takes for its own, and what it makes of the names it finds.
@Suite("Names, owners and permissions around a store")
struct OwnFilesTests {
  private static let note = InterruptedRun.note

  @Test("a link where the journal is to be is not followed, and refused")
  func journalLink() throws {
    let place = try SafetyPlace()
    let victim = place.folder.path("victim")
    try FileSystem.write([1, 2, 3], to: victim)
    #expect(symbolicLink(StoreNames(place.path).path(StoreNames(place.path).journal), to: victim))
    let error = try failure(of: SafetyCase.inPlace.plan(place.path))
    #expect(
      error?.kind == .refused && error?.message.contains("a symbolic link is in the place") == true)
    #expect(try FileSystem.read(victim) == [1, 2, 3])
  }

  @Test(
    "a journal of somebody else is not obeyed", .enabled(if: geteuid() == 0, "only root can chown"))
  func foreignJournal() throws {
    let place = try SafetyPlace()
    let backup = place.folder.path("Library.backup-1")
    try FileSystem.write([1, 2, 3], to: backup)
    let file = try #require(FileIdentity(of: backup))
    try place.leave([
      .run(.rollback), .work("x"), .go, .done, .remove("Library.backup-1", file),
    ])
    chown(place.folder.path(StoreNames(place.path).journal), 4321, 4321)
    #expect(try failure(of: SafetyCase.inPlace.plan(place.path))?.kind == .refused)
    #expect(StoreMigration.cleanUp(after: place.path).first?.contains("another user") == true)
    #expect(try FileSystem.read(backup) == [1, 2, 3])
  }

  @Test("a journal's names outside the store's own are not touched")
  func strayNames() throws {
    let place = try SafetyPlace()
    let names = ["Other.sqlite", "Library.txt", ".Library_SUPPORT/../Other.sqlite", "../escape"]
    try FileSystem.write([7], to: place.folder.path("Other.sqlite"))
    let file = try #require(FileIdentity(of: place.folder.path("Other.sqlite")))
    let store = try #require(FileIdentity(of: place.path))
    for name in names {
      let records: [JournalRecord] = [
        .run(.reset), .work(name), .aside(.init(from: name, to: "Library.backup-1", file: file)),
        .aside(.init(from: "Library.sqlite", to: name, file: store)),
        .bring(.init(from: name, to: "Library.sqlite", file: file)), .go, .done,
        .remove(name, file),
      ]
      try place.leave(records)
      _ = StoreMigration.cleanUp(after: place.path)
      #expect(try FileSystem.read(place.folder.path("Other.sqlite")) == [7], "\(name)")
      #expect(try place.changes() == ["Other.sqlite"], "\(name)")
    }
  }

  @Test("a journal cut off anywhere is read up to there")
  func cutOff() throws {
    let file = FileIdentity(device: 1, inode: 2)
    let records: [JournalRecord] = [
      .run(.reset), .work("w"), .aside(.init(from: "a\nb", to: "c", file: file)),
      .bring(.init(from: "d", to: "e", file: file)), .go, .old(file), .undone, .done,
      .remove("f", file),
    ]
    let bytes = JournalRecord.encode(records)
    #expect(JournalRecord.decode(bytes) == records)
    var last = 0
    for count in 0...bytes.count {
      let read = JournalRecord.decode(Array(bytes.prefix(count)))
      #expect(Array(records.prefix(read.count)) == read, "\(count)")
      #expect(read.count >= last)
      last = read.count
    }
    #expect(JournalRecord.decode([0, 0, 0]).isEmpty)
    #expect(JournalRecord.decode(Array("another thing\0".utf8)).isEmpty)
  }

  @Test("a finished file that another took the place of is not put in place")
  func replacedResult() throws {
    let place = try SafetyPlace()
    for isReplaced in [true, false] {
      let error = #expect(throws: CoreDataError.self) {
        try place.cutOver { cutover in
          let result = cutover.result.path
          cutover.before = {
            guard $0 == .rename else { return }
            if isReplaced {
              try FileSystem.copyOver(result, to: result + ".new")
              try FileSystem.rename(result + ".new", to: result)
            } else {
              try FileSystem.write([1, 2, 3], to: result)
            }
          }
        }
      }
      #expect(error?.message.contains("no longer the one that was verified") == true)
      #expect(try place.changes() == [])
    }
  }

  @Test("two spellings of one name are two stores with backups of their own")
  func spellings() throws {
    let folder = try TemporaryFolder()
    let composed = folder.path("Caf\u{E9}.sqlite")
    let decomposed = folder.path("Cafe\u{301}.sqlite")
    let first = try Library.store(in: folder)
    try FileSystem.copyOver(first, to: composed)
    guard FileIdentity(of: decomposed) == nil else {
      print("skipped: the two names are one on this file system")
      return
    }
    try FileSystem.copyOver(first, to: decomposed)
    let model = try Library.model(Self.note)
    let one = try StoreReset.run(path: composed, model: model)
    let other = try StoreReset.run(path: decomposed, model: model)
    #expect(one.backupPath?.hasSuffix("Caf\u{E9}-backup-1.sqlite") == true)
    let names = try FileSystem.list(folder.path)
    for name in ["Caf\u{E9}-backup-1.sqlite", "Cafe\u{301}-backup-1.sqlite"] {
      #expect(names.contains { FileSystem.isSame($0, name) }, "\(names)")
    }
    #expect(StoreBackup.all(of: composed).count == 1)
    #expect(StoreBackup.all(of: decomposed).map(\.path) == [try #require(other.backupPath)])
  }

  @Test("a name that is taken is left to whoever has it, also for what goes with a backup")
  func taken() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let taken = [
      "Library-backup-7.sqlite", "Library-backup-8.sqlite-wal", ".Library-backup-9_SUPPORT",
    ]
    for name in taken { try FileSystem.write([7], to: folder.path(name)) }
    let receipt = try StoreReset.run(path: path, model: Library.model(Self.note))
    #expect(receipt.backupPath == folder.path("Library-backup-10.sqlite"))
    for name in taken { #expect(try FileSystem.read(folder.path(name)) == [7]) }
  }

  @Test(
    "where the folder cannot be read, a reset is refused and no backup replaced",
    .enabled(if: geteuid() == 0, "only root can become another user"))
  func unlisted() async throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    try FileSystem.write([7], to: folder.path("Library-backup-1.sqlite"))
    let before = try folder.contents()
    for name in try FileSystem.list(folder.path) { chown(folder.path(name), 65534, 65534) }
    chown(folder.path, 65534, 65534)
    chmod(folder.path, 0o300)
    await #expect(processExitsWith: .success) { [path = path as String] in
      seteuid(65534)
      let error = #expect(throws: CoreDataError.self) {
        try StoreReset.run(path: path, model: Library.model(InterruptedRun.note))
      }
      #expect(error?.kind == .failed, "\(String(describing: error))")
    }
    chmod(folder.path, 0o700)
    #expect(try folder.contents() == before)
    // Names are asked for one by one: they are free or not whether a list can be had or not.
    #expect(StoreNames(path).resetBackup == "Library-backup-2.sqlite")
  }

  @Test(
    "a -wal that cannot be removed is refused: the store keeps its content, and its name",
    .enabled(if: geteuid() == 0, "only root can become another user"))
  func stuckLog() async throws {
    let place = try SafetyPlace()
    let connection = try Connection(path: place.path, mode: .readWrite)
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX")
    let path = place.folder.path("Copy.sqlite")
    for suffix in ["", "-wal"] { try FileSystem.copyOver(place.path + suffix, to: path + suffix) }
    connection.close()
    // A sticky folder: what another made stays.
    chown(path, 65534, 65534)
    chmod(path + "-wal", 0o666)
    chmod(place.folder.path, 0o1777)
    let identity = try #require(FileIdentity(of: path))
    await #expect(processExitsWith: .success) { [path = path as String] in
      seteuid(65534)
      let error = try failure(
        of: Library.plan(path, to: Library.model(replacing: MigrationSafetyTests.added)))
      #expect(error?.kind == .failed && error?.message.contains("-wal cannot be removed") == true)
    }
    #expect(FileIdentity(of: path) == identity)
    #expect(try Store(path: path).counts()["Author"] == 2)
    #expect(try !FileSystem.list(place.folder.path).contains { $0.hasPrefix(".strata-") })
  }

  @Test("what was private is private at every step, and all that is attached to a store stays")
  func attributes() throws {
    for run in InterruptedRun.allCases {
      let folder = try run.prepare(withLog: false)
      let path = folder.path("Library.sqlite")
      try run.run(in: folder.path) { step in
        for name in try FileSystem.list(folder.path) {
          let mode = try #require(FileSystem.status(folder.path(name))?.permissions)
          #expect(mode & 0o077 == 0, "\(run) \(step): \(name) \(String(mode, radix: 8))")
        }
      }
      let made = run == .output ? folder.path("Out.sqlite") : path
      #expect(FileSystem.status(made)?.permissions == 0o600, "\(run)")
      let support = folder.path(run == .output ? ".Out_SUPPORT" : ".Library_SUPPORT")
      if let status = FileSystem.status(support) {
        #expect(status.permissions == 0o700, "\(run)")
      } else {
        #expect([.reset, .resetDeleting].contains(run), "\(run)")
      }
    }
  }

  @Test("extended attributes and the group's rights come along")
  func extended() throws {
    let place = try SafetyPlace()
    chmod(place.path, 0o640)
    guard
      OtherProgram.run(
        Tool.python3.path,
        ["-c", "import os, sys; os.setxattr(sys.argv[1], 'user.tag', b'red')", place.path]) == 0
    else {
      print("skipped: no extended attributes here")
      return
    }
    _ = try StoreMigration.runAndRead(SafetyCase.inPlace.plan(place.path))
    let model = try Library.model(Self.note)
    for name in ["migrate", "reset", "rollback"] {
      if name == "reset" { _ = try StoreReset.run(path: place.path, model: model) }
      if name == "rollback" { _ = try StoreRollback.run(path: place.path) }
      #expect(FileSystem.status(place.path)?.permissions == 0o640, "\(name)")
      #expect(
        OtherProgram.run(
          Tool.python3.path,
          [
            "-c", "import os, sys; sys.exit(os.getxattr(sys.argv[1], 'user.tag') != b'red')",
            place.path,
          ]) == 0, "\(name)")
    }
  }

  @Test("a store behind a link that leads nowhere for a moment is found by its journal")
  func danglingLink() throws {
    let run = InterruptedRun.reset
    let folder = try run.prepare(withLog: true)
    let elsewhere = try TemporaryFolder()
    let link = elsewhere.path("App.sqlite")
    #expect(symbolicLink(link, to: folder.path("Library.sqlite")))
    let names = StoreNames(folder.path("Library.sqlite"))
    let file = try #require(FileIdentity(of: folder.path("Library.sqlite")))
    // As a reset leaves it that dies when the old name is gone.
    try FileSystem.write(
      JournalRecord.encode([
        .run(.reset), .work(names.newWork()),
        .aside(.init(from: "Library.sqlite", to: "Library-backup-1.sqlite", file: file)), .go,
      ]), to: names.path(names.journal))
    chmod(names.path(names.journal), 0o600)
    try FileSystem.rename(
      folder.path("Library.sqlite"), to: folder.path("Library-backup-1.sqlite"))
    #expect(StoreMigration.leftovers(of: link).first?.contains("restores everything") == true)
    #expect(StoreMigration.cleanUp(after: link).count == 1)
    #expect(FileIdentity(of: folder.path("Library.sqlite")) == file)
    #expect(try FileSystem.list(elsewhere.path) == ["App.sqlite"])
  }

  @Test("a store that a program made after a kill stays, and what was set aside keeps its name")
  func foreign() throws {
    let folder = try InterruptedRun.reset.prepare(withLog: false)
    let path = folder.path("Library.sqlite")
    let file = try #require(FileIdentity(of: path))
    let names = StoreNames(path)
    let work = names.newWork()
    try FileSystem.createEmpty(folder.path(work))
    let fresh = try #require(FileIdentity(of: folder.path(work)))
    try FileSystem.rename(path, to: folder.path("Library-backup-1.sqlite"))
    try FileSystem.write(
      JournalRecord.encode([
        .run(.reset), .work(work),
        .aside(.init(from: "Library.sqlite", to: "Library-backup-1.sqlite", file: file)),
        .bring(.init(from: work, to: "Library.sqlite", file: fresh)), .go,
      ]), to: names.path(names.journal))
    chmod(names.path(names.journal), 0o600)
    try FileSystem.write([1, 2, 3], to: path)
    let told = StoreMigration.cleanUp(after: path)
    #expect(told.first?.contains("is kept: Library-backup-1.sqlite") == true, "\(told)")
    #expect(try FileSystem.read(path) == [1, 2, 3])
    #expect(FileIdentity(of: folder.path("Library-backup-1.sqlite")) == file)
    #expect(try !FileSystem.list(folder.path).contains { $0.hasPrefix(".strata-") })
  }

  @Test("a folder that came anew after a kill takes back the files it lacks")
  func merging() throws {
    let folder = try TemporaryFolder()
    for (name, byte) in [("new/a", 1), ("new/in/b", 2), ("old/a", 3), ("old/in/c", 4)] {
      try FileSystem.makeDirectory(FileSystem.parent(of: folder.path(name)) ?? "")
      try FileSystem.write([UInt8(byte)], to: folder.path(name))
    }
    try SupportTree.merge("old", into: "new", in: StoreNames(folder.path("Library.sqlite")))
    #expect(try FileSystem.read(folder.path("new/a")) == [1])
    #expect(try FileSystem.read(folder.path("new/in/c")) == [4])
    #expect(try FileSystem.read(folder.path("old/a")) == [3])
    #expect(FileIdentity(of: folder.path("old/in")) == nil)
  }
}

import Files
import Interface
import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("An interrupted save is rolled back by whatever reads the store")
struct JournalFaultTests {
  @Test(
    "salvage and Store read the objects before the save",
    arguments: TestScale.some(2, of: InterruptedSave.Journal.allCases))
  func objects(kind: InterruptedSave.Journal) throws {
    let save = try InterruptedSave(kind)
    let before = try save.store.bytes()
    // An earlier save of PERSIST changed the objects as well.
    let lines = try StoreDump.lines(at: save.path)
    #expect(kind == .persist || lines == save.store.lines)
    let output = save.store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: save.path, output: output)
    #expect(try StoreDump.lines(at: output) == lines)
    #expect(!report.isLossy && report.isComplete)
    #expect(report.notes.count == 1 && report.notes[0].contains("-journal were rolled back"))
    #expect(try save.store.bytes().filter { !$0.key.contains("Saved") } == before)
  }

  @Test(
    "a journal whose header states a wrong number of pages neither fills the store nor cuts it off",
    arguments: [true, false])
  func wrongPages(isTooMany: Bool) throws {
    let save = try InterruptedSave()
    let pages = save.saved.count / 4096
    #expect(try FileSystem.read(save.path).count > save.saved.count)
    // The size of the database before the save.
    let stated = isTooMany ? 218_103_844 : pages - 9
    try save.store.change("-journal") { bytes in
      let word = withUnsafeBytes(of: UInt32(stated).bigEndian) { Array($0) }
      bytes.replaceSubrange(16..<20, with: word)
    }
    #expect(try StoreDump.lines(at: save.path) == save.store.lines)
    let diagnosis = try Diagnosis(of: save.path)
    let first = try #require(diagnosis.findings.first)
    #expect(first.kind == .journalUnapplied && first.severity == .error)
    #expect(first.sentence.contains(isTooMany ? "218,103,844 pages" : "\(pages - 9) pages"))
    #expect(diagnosis.isReadable && diagnosis.count(.error) == 1, "\(diagnosis.findings)")
    #expect(!diagnosis.findings.contains { $0.kind == .journalHot })
    let output = save.store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: save.path, output: output)
    #expect(try StoreDump.lines(at: output) == save.store.lines)
    #expect(report.isShort && report.notes.contains { $0.contains("\(pages) pages") })
    #expect(try #require(FileSystem.status(output)).size < 10_000_000)
    // What the save put behind the store's end never was.
    let plain = try TemporaryFolder()
    try FileSystem.write(save.saved, to: plain.path("Demo.sqlite"))
    let expected = try Undeletion(of: plain.path("Demo.sqlite"))
    let found = try Undeletion(of: save.path)
    #expect(found.entities == expected.entities && found.missed == expected.missed)
  }

  @Test("undelete finds the same as in the store before the save")
  func undelete() throws {
    let save = try InterruptedSave()
    let plain = try TemporaryFolder()
    try FileSystem.write(save.saved, to: plain.path("Demo.sqlite"))
    let expected = try Undeletion(of: plain.path("Demo.sqlite"))
    let found = try Undeletion(of: save.path)
    #expect(found.entities == expected.entities && found.missed == expected.missed)
  }

  @Test("a store that is in WAL mode as well: first the journal, then the frames")
  func both() throws {
    // Nobody checkpointed the frames: they are of the state before the save.
    let save = try InterruptedSave()
    let (half, journal) = try (FileSystem.read(save.path), FileSystem.read(save.journalPath))
    FileSystem.remove(save.journalPath)
    try FileSystem.write(save.saved, to: save.path)
    try FileSystem.write(InterruptedSave.logged(save.path), to: save.path + "-wal")
    let lines = try StoreDump.lines(at: save.path)
    try FileSystem.write(half, to: save.path)
    try FileSystem.write(journal, to: save.journalPath)
    #expect(try StoreDump.lines(at: save.path) == lines && lines != save.store.lines)
    let output = save.store.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: save.path, output: output)
    #expect(try StoreDump.lines(at: output) == lines)
  }

  @Test("doctor tells of it first, and all else of the store without the save")
  func doctor() throws {
    let save = try InterruptedSave()
    let before = try save.store.bytes()
    let diagnosis = try Diagnosis(of: save.path)
    let first = try #require(diagnosis.findings.first)
    #expect(first.kind == .journalHot && first.severity == .warning)
    #expect((first.count ?? 0) > 10 && first.command?.typed.hasPrefix("strata salvage ") == true)
    #expect(diagnosis.count(.error) == 0 && diagnosis.isComplete)
    #expect(try save.store.bytes() == before)
    try FileSystem.write(save.saved, to: save.path)
    FileSystem.remove(save.journalPath)
    let expected = try Diagnosis(of: save.path)
    #expect(
      diagnosis.findings.dropFirst().map(\.sentence) == expected.findings.map(\.sentence))
  }

  @Test("it stands before errors")
  func order() throws {
    let save = try InterruptedSave(.off)
    try save.countRecords()
    try save.store.change("-journal") { $0[512 + 5 * 4104 - 1] ^= 1 }
    let diagnosis = try Diagnosis(of: save.path)
    #expect(diagnosis.findings.first?.kind == .journalHot)
    let unapplied = try #require(diagnosis.findings.first { $0.kind == .journalUnapplied })
    #expect(unapplied.severity == .error && unapplied.sentence.contains("checksum"))
    #expect((unapplied.count ?? 0) > 0)
  }

  @Test("a header that is damaged, a common journal that is gone, a main file that went on")
  func others() throws {
    let save = try InterruptedSave()
    let journal = try FileSystem.read(save.journalPath)
    try save.store.change("-journal") { $0[3] ^= 1 }
    let found = try Diagnosis(of: save.path).findings
    #expect(found.contains { $0.kind == .journalUnapplied && $0.severity == .error })
    #expect(!found.contains { $0.kind == .journalHot })
    try FileSystem.write(journal, to: save.journalPath)
    try save.store.change { file in
      for place in [27, 95] { file[place] &+= 5 }
    }
    let older = try Diagnosis(of: save.path).findings
    #expect(
      older.contains { $0.kind == .journalOlder && $0.command?.typed.hasPrefix("cp -p ") == true })
  }

  @Test("one that cannot be read is a finding")
  func unreadable() throws {
    let save = try InterruptedSave()
    FileSystem.remove(save.journalPath)
    #expect(symlink(save.store.folder.path("nowhere"), save.journalPath) == 0)
    let findings = try Diagnosis(of: save.path).findings
    #expect(findings.contains { $0.kind == .journalUnreadable && $0.severity == .error })
  }

  @Test("beside a healthy store, what is left of a journal is no finding")
  func finished() throws {
    let save = try InterruptedSave()
    try FileSystem.write(save.saved, to: save.path)
    for bytes in [[], [UInt8](repeating: 0, count: 5000)] {
      try FileSystem.write(bytes, to: save.journalPath)
      let kinds = try Diagnosis(of: save.path).findings.map(\.kind)
      #expect(!kinds.contains { $0.rawValue.hasPrefix("journal") }, "\(kinds)")
    }
  }

  @Test(
    "under another name doctor names it, and it is not put back where a store is only read",
    arguments: ["Demo (1).sqlite-journal", "Demo.sqlite-journal 2", "Demo-journal.txt"])
  func renamed(name: String) throws {
    let save = try InterruptedSave()
    try FileSystem.rename(save.journalPath, to: save.store.folder.path(name))
    let before = try save.store.bytes()
    let half = try FileSystem.read(save.path)
    let findings = try Diagnosis(of: save.path).findings
    let found = try #require(findings.first { $0.kind == .journalRenamed })
    #expect(found.first == [name] && found.severity == .error && (found.count ?? 0) > 10)
    #expect(found.command?.typed.hasSuffix("-journal") == true && findings.first == found)
    let source = try SalvageSource(path: save.path, takesRenamedJournal: false)
    #expect(source.image.journal == nil && source.notes.contains { $0.contains(name) })
    #expect(source.isPartial)
    #expect(!findings.contains { $0.kind == .deletions })
    #expect(StrayLog.all(beside: save.path).map(\.kind) == [.journal])
    #expect(try FileSystem.read(save.path) == half && save.store.bytes() == before)
    // Once its save was finished, it holds nothing that the store lacks.
    try FileSystem.write(save.saved, to: save.path)
    #expect(StrayLog.all(beside: save.path).isEmpty)
    // Of an earlier time it is a note.
    try save.store.change { file in
      for place in [27, 95] { file[place] &+= 5 }
    }
    let stray = try #require(StrayLog.all(beside: save.path).first)
    #expect(stray.isOfAnotherTime)
    #expect(try Store(path: save.path).gaps.isEmpty)
    #expect(try Store(path: save.path).warnings.contains { $0.contains(name) })
  }

  @Test(
    "under another name salvage and undelete put it back",
    arguments: ["Demo (1).sqlite-journal", "Demo-journal.txt"])
  func takenUnderAnotherName(name: String) throws {
    let save = try InterruptedSave()
    let plain = try TemporaryFolder()
    try FileSystem.write(save.saved, to: plain.path("Demo.sqlite"))
    let expected = try Undeletion(of: plain.path("Demo.sqlite"))
    try FileSystem.rename(save.journalPath, to: save.store.folder.path(name))
    let before = try save.store.bytes()
    let found = try Undeletion(of: save.path)
    #expect(found.entities == expected.entities && found.missed == expected.missed)
    let output = save.store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: save.path, output: output)
    #expect(try StoreDump.lines(at: output) == save.store.lines)
    #expect(!report.isLossy && report.isComplete)
    #expect(report.notes.contains { $0.hasPrefix("\(name) was used") }, "\(report.notes)")
    #expect(try save.store.bytes().filter { !$0.key.contains("Saved") } == before)
  }

  @Test("nothing speaks against a store's own journal", arguments: InterruptedSave.Journal.allCases)
  func ownKinship(kind: InterruptedSave.Journal) throws {
    let save = try InterruptedSave(kind)
    #expect(try RollbackJournal.contradiction(of: save.journalPath, store: save.path) == nil)
    // An earlier save of PERSIST is not in the main file as it was saved.
    guard kind != .persist else { return }
    try FileSystem.write(save.saved, to: save.path)
    #expect(try RollbackJournal.contradiction(of: save.journalPath, store: save.path) == nil)
  }

  @Test("another store's journal is not put back, whatever it is called")
  func foreign() throws {
    let (own, other) = (try InterruptedSave(objects: 700), try InterruptedSave(objects: 1_100))
    FileSystem.remove(own.journalPath)
    try FileSystem.write(own.saved, to: own.path)
    let stray = own.store.folder.path("Demo (1).sqlite-journal")
    try FileSystem.write(FileSystem.read(other.journalPath), to: stray)
    #expect(try RollbackJournal.contradiction(of: stray, store: own.path) != nil)
    let output = own.store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: own.path, output: output)
    #expect(try StoreDump.lines(at: output) == own.store.lines)
    #expect(!report.notes.contains { $0.contains("was taken") }, "\(report.notes)")
  }

  @Test("a journal that counts other pages than the first page that it saved is not put back")
  func otherCount() throws {
    let save = try InterruptedSave()
    let stray = save.store.folder.path("Demo (1).sqlite-journal")
    try FileSystem.rename(save.journalPath, to: stray)
    var bytes = try FileSystem.read(stray)
    let pages = JournalHeader(bytes).initialPages
    BigEndian.put(pages + 1, into: &bytes, 16)
    try FileSystem.write(bytes, to: stray)
    #expect(
      try RollbackJournal.contradiction(of: stray, store: save.path)
        == .journalPages(counted: pages + 1, stated: pages))
    let source = try SalvageSource(path: save.path)
    #expect(source.image.journal == nil)
    #expect(source.notes.contains { $0.contains("does not belong to the store") })
  }

  @Test("two of them are named, and neither is put back")
  func twoStrays() throws {
    let save = try InterruptedSave()
    try FileSystem.copyOver(
      save.journalPath, to: save.store.folder.path("Demo (1).sqlite-journal"))
    try FileSystem.rename(save.journalPath, to: save.store.folder.path("Demo (2).sqlite-journal"))
    let source = try SalvageSource(path: save.path)
    #expect(source.image.journal == nil && source.isPartial)
    #expect(source.notes.count { $0.contains("not rolled back") } == 2, "\(source.notes)")
  }

  @Test("salvage with a journal that cannot be put back whole is no whole salvage")
  func cutOff() throws {
    let save = try InterruptedSave(.off)
    try save.countRecords()
    try save.store.change("-journal") { $0.removeLast($0.count - 512 - 3 * (4096 + 8) - 100) }
    let report = try StoreSalvage.run(
      path: save.path, output: save.store.folder.path("Saved.sqlite"))
    #expect(report.isPartial && report.isLossy)
  }

  @Test("a renamed one is among the gaps of a store")
  func gaps() throws {
    let save = try InterruptedSave()
    let name = "Demo (1).sqlite-journal"
    try FileSystem.rename(save.journalPath, to: save.store.folder.path(name))
    let store = try Store(path: save.path)
    #expect(store.gaps.contains { $0.contains(name) && $0.contains("half of a save") })
    #expect(store.unappliedFrames == 0 && store.shortGap != nil)
  }
}

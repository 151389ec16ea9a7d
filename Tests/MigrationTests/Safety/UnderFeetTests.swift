import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// What others do to the store, its folder and the output while a migration runs.
@Suite("While a migration runs")
struct UnderFeetTests {
  private static let ways: [SafetyCase] = [.inPlace, .copying, .chain, .policy]

  /// Runs with something done at one phase; answers the error.
  private static func run(
    _ way: SafetyCase, _ place: SafetyPlace, at phase: Phase,
    options: MigrationOptions = MigrationOptions(), _ action: @escaping () -> Void
  ) throws -> CoreDataError? {
    var isDone = false
    let error = failure(
      of: try way.plan(place.path, output: options.output), options: options,
      isCancelled: { false }
    ) {
      guard !isDone, Phase($0) == phase else { return }
      isDone = true
      action()
    }
    #expect(isDone, "\(phase)")
    return error
  }

  private static func phases(_ way: SafetyCase) throws -> [Phase] {
    let all = try Phase.all(of: way, in: SafetyPlace(books: 9))
    // One of each kind and step.
    return all.enumerated().filter { index, phase in
      !all[..<index].contains { $0.kind == phase.kind && $0.step == phase.step }
    }.map(\.element)
  }

  @Test(
    "a store that is deleted, moved or replaced is not written over",
    arguments: TestScale.some(1, of: ways))
  func moved(way: SafetyCase) throws {
    for phase in try Self.phases(way) {
      for isOutput in [false, true] {
        // The result is there by then: it is of the store as it was.
        if isOutput, phase.kind == .replace { continue }
        for action in ["delete", "move", "replace", "edit"] {
          let place = try SafetyPlace(books: 9)
          var options = MigrationOptions()
          if isOutput { options.output = place.folder.path("Out.sqlite") }
          let other = try SafetyPlace(books: 7)
          let error = try Self.run(way, place, at: phase, options: options) {
            switch action {
            case "delete": FileSystem.remove(place.path)
            case "move": try? FileSystem.rename(place.path, to: place.folder.path("Moved.sqlite"))
            case "replace": try? FileSystem.rename(other.path, to: place.path)
            default:
              let editor = try? Connection(path: place.path, mode: .readWrite, busyTimeout: 1000)
              try? editor?.execute("UPDATE ZLOAN SET Z_OPT = 9")
            }
          }
          let name = "\(action) at \(phase)\(isOutput ? " with an output" : "")"
          #expect(
            error?.kind == .failed && error?.message.contains("meanwhile") == true,
            "\(name): \(String(describing: error))")
          let changes = try place.changes()
          switch action {
          case "delete": #expect(changes == ["Library.sqlite"], "\(name)")
          case "move":
            #expect(changes == ["Library.sqlite", "Moved.sqlite"], "\(name)")
            #expect(
              try FileSystem.read(place.folder.path("Moved.sqlite"))
                == place.before["Library.sqlite"])
          case "replace":
            #expect(try FileSystem.read(place.path) == other.before["Library.sqlite"], "\(name)")
            #expect(changes == ["Library.sqlite"], "\(name)")
          default:
            #expect(
              try Store(path: place.path).connection.value("SELECT max(Z_OPT) FROM ZLOAN")
                == .integer(9), "\(name)")
            #expect(changes == ["Library.sqlite"], "\(name): \(changes)")
          }
        }
      }
    }
  }

  @Test(
    "a store replaced between the backup's link and the rename stays, and the one before it is kept"
  )
  func lastMoment() throws {
    let place = try SafetyPlace(books: 9)
    let other = try SafetyPlace(books: 7)
    let error = #expect(throws: CoreDataError.self) {
      try place.cutOver {
        $0.before = { if $0 == .rename { try FileSystem.rename(other.path, to: place.path) } }
      }
    }
    #expect(error?.message.contains("changed by another program") == true)
    #expect(try FileSystem.read(place.path) == other.before["Library.sqlite"])
    #expect(
      try FileSystem.read(place.folder.path("Library.backup-1")) == place.before["Library.sqlite"])
  }

  @Test(
    "where there are no hard links, a cut-over that fails is taken back whole and blames nobody",
    arguments: [true, false])
  func withoutLinks(isAlone: Bool) throws {
    let place = try SafetyPlace(books: 9)
    let other = try SafetyPlace(books: 7)
    let lines = try StoreDump.lines(at: place.path)
    let journal = try MigrationJournal(storePath: place.path)
    let work = try FileSystem.copy(place.path, to: journal.workPath)
    var cutover = Cutover(
      storePath: place.path, result: try VerifiedFile(work),
      fingerprint: StoreFingerprint(of: place.path), logs: .merged,
      backupPath: place.folder.path("Library-backup-1.sqlite"),
      supportPath: place.folder.path(".Library-backup-1_SUPPORT"), attributesPath: place.path)
    cutover.link = { _, _, _ in false }
    cutover.before = {
      guard $0 == .rename else { return }
      // The support folder has its new name by now.
      #expect(try FileSystem.list(place.folder.path).contains(".Library-backup-1_SUPPORT"))
      guard isAlone else { return try FileSystem.rename(other.path, to: place.path) }
      throw CoreDataError(.failed, "stopped")
    }
    let error = #expect(throws: CoreDataError.self) { _ = try cutover.run(journal) }
    journal.finish()
    let told = error.map { journal.completed($0, at: place.path) }?.hint ?? ""
    let isBlamed = told.contains("took the store's place")
    #expect(isBlamed == !isAlone, "\(told)")
    if isAlone {
      #expect(error?.message == "stopped")
      #expect(try place.changes() == [])
    } else {
      #expect(try FileSystem.read(place.path) == other.before["Library.sqlite"])
      // The one copy of the store that was replaced.
      #expect(try StoreDump.lines(at: place.folder.path("Library-backup-1.sqlite")) == lines)
    }
  }

  @Test(
    "where there are no hard links, the next run takes back what a crash left, and blames nobody",
    arguments: [true, false])
  func crashWithoutLinks(isNoted: Bool) throws {
    let place = try SafetyPlace(books: 9)
    let names = StoreNames(place.path)
    let work = names.newWork()
    try FileSystem.copyOver(place.path, to: names.path(work))
    let support = try #require(names.file(".Library_SUPPORT"))
    let result = try #require(names.file(work))
    let old = try #require(names.file("Library.sqlite"))
    // A journal of an earlier version does not name the old file.
    try place.leave(
      [
        .run(.reset), .work(work),
        .aside(.init(from: ".Library_SUPPORT", to: ".Library-backup-1_SUPPORT", file: support)),
        .bring(.init(from: work, to: "Library.sqlite", file: result)), .go,
      ] + (isNoted ? [.old(old)] : []))
    try FileSystem.rename(
      place.folder.path(".Library_SUPPORT"), to: place.folder.path(".Library-backup-1_SUPPORT"))
    let told = StoreMigration.cleanUp(after: place.path)
    #expect(told.count == 1 && told[0].contains("is as it was before the reset"), "\(told)")
    #expect(try place.changes() == [])
  }

  @Test("a folder that vanishes: an error, and no crash", arguments: TestScale.some(1, of: ways))
  func vanished(way: SafetyCase) throws {
    for phase in try Self.phases(way) {
      let place = try SafetyPlace(books: 9)
      let error = try Self.run(way, place, at: phase) { FileSystem.removeTree(place.folder.path) }
      #expect(
        error?.kind == .failed || error?.kind == .unreadable,
        "\(phase): \(String(describing: error))")
      #expect(FileSystem.status(place.path) == nil)
    }
  }

  @Test(
    "an output that appears is not written over, nor its external data",
    arguments: TestScale.some(1, of: ways))
  func output(way: SafetyCase) throws {
    for phase in try Self.phases(way) {
      let place = try SafetyPlace(books: 9)
      var options = MigrationOptions()
      options.output = place.folder.path("Out.sqlite")
      let error = try Self.run(way, place, at: phase, options: options) {
        try? FileSystem.write([1, 2, 3], to: place.folder.path("Out.sqlite"))
      }
      #expect(
        error?.message == "the output appeared meanwhile", "\(phase): \(String(describing: error))")
      #expect(try FileSystem.read(place.folder.path("Out.sqlite")) == [1, 2, 3])
      #expect(try place.changes() == ["Out.sqlite"], "\(phase)")
    }
  }

  @Test("an output whose -wal lies there already is refused: SQLite would take it for its own")
  func staleLog() throws {
    let place = try SafetyPlace(books: 9)
    var options = MigrationOptions()
    options.output = place.folder.path("Out.sqlite")
    try FileSystem.write([1, 2, 3], to: place.folder.path("Out.sqlite-wal"))
    let error = try failure(of: SafetyCase.inPlace.plan(place.path), options: options)
    #expect(error?.kind == .refused && error?.message.contains("-wal is where") == true)
  }

  @Test("external data of another store under the output's stem is neither replaced nor removed")
  func sharedExternalData() throws {
    let place = try SafetyPlace(books: 9)
    let names = place.before.keys.filter { $0.hasPrefix(".Library_SUPPORT/") }
    let name = FileSystem.name(of: try #require(names.first))
    let folder = place.folder.path(".Out_SUPPORT/_EXTERNAL_DATA")
    try FileSystem.makeDirectory(folder)
    try FileSystem.write([7], to: folder + "/OTHER")
    var options = MigrationOptions()
    options.output = place.folder.path("Out.sqlite")
    #expect(try failure(of: SafetyCase.inPlace.plan(place.path), options: options) == nil)
    #expect(try FileSystem.list(folder).sorted() == ["OTHER", name].sorted())
    // Another content under the same name: whose it is, nobody knows.
    FileSystem.remove(place.folder.path("Out.sqlite"))
    try FileSystem.write([8], to: folder + "/" + name)
    let error = try failure(of: SafetyCase.inPlace.plan(place.path), options: options)
    #expect(error?.message.contains("with other content") == true)
    #expect(try FileSystem.read(folder + "/" + name) == [8])
    #expect(try FileSystem.list(folder).sorted() == ["OTHER", name].sorted())
    #expect(FileSystem.status(place.folder.path("Out.sqlite")) == nil)
  }
}

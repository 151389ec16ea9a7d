import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite(
  "A disk that fills up",
  .enabled(if: SmallDisk.isAvailable, "a tmpfs cannot be mounted: not root, or not Linux"))
struct FullDiskTests {
  /// A store on a small disk, with what was there.
  private struct Place {
    let disk: SmallDisk
    let path: String
    let before: [String: [UInt8]]

    init() throws {
      disk = try SmallDisk(kilobytes: 8192)
      let made = try SafetyPlace(books: 1500)
      path = disk.path + "/Library.sqlite"
      for name in made.before.keys {
        let target = disk.path + "/" + name
        try FileSystem.makeDirectory(FileSystem.parent(of: target) ?? "/")
        try FileSystem.copyOver(made.folder.path(name), to: target)
      }
      before = try SafetyPlace.files(in: disk.path)
    }

    func changes() throws -> [String] {
      disk.empty()
      let now = try SafetyPlace.files(in: disk.path)
      return Set(now.keys).union(before.keys).filter { now[$0] != before[$0] }.sorted()
    }
  }

  private static func isFull(_ error: CoreDataError) -> Bool {
    error.hint?.contains("disk is full") == true && error.path != nil
      && (error.message.contains("full") || error.message.contains("No space"))
  }

  @Test(
    "while clone, rows, indexes or external data are written: told so, all as it was",
    arguments: TestScale.pairs(SafetyCase.allCases, [false, true]))
  func phases(way: SafetyCase, isOutput: Bool) throws {
    let place = try Place()
    var options = MigrationOptions()
    if isOutput { options.output = place.disk.path + "/Out.sqlite" }
    let plan = try way.plan(place.path, output: options.output)
    var failedIn: Set<String> = []
    for moment in ["copy", "entity", "relationships", "indexes", "verify", "replace"] {
      for left in TestScale.some(1, of: [0, 64 << 10, 256 << 10]) {
        var (isFilled, last) = (false, "")
        let error = failure(of: plan, options: options, isCancelled: { false }) { progress in
          last = Phase(progress)?.kind.rawValue ?? ""
          if !isFilled, last == moment {
            isFilled = true
            place.disk.fill(leaving: left)
          }
        }
        guard isFilled else {
          try restore(place, options)
          continue
        }
        guard let error else {
          // What was left was enough: the result is whole. The next moment begins anew.
          place.disk.empty()
          let result = options.output ?? place.path
          #expect(try Store(path: result).model.versionIdentifiers == ["1"])
          #expect(try Store(path: result).counts()["Book"] == 500)
          try restore(place, options)
          continue
        }
        failedIn.insert(last)
        #expect(Self.isFull(error), "\(moment) with \(left) left: \(error)")
        #expect(try place.changes() == [], "\(moment) with \(left) left")
      }
    }
    #expect(!failedIn.isEmpty)
    guard TestScale.isFull else { return }
    // A clone that fits needs no more; a new file grows on, and external data come last.
    #expect(failedIn.count >= (way == .inPlace && !isOutput ? 1 : 2), "\(failedIn.sorted())")
    if isOutput { #expect(failedIn.contains("replace")) }
  }

  private func restore(_ place: Place, _ options: MigrationOptions) throws {
    for name in try SafetyPlace.files(in: place.disk.path).keys where place.before[name] == nil {
      FileSystem.remove(place.disk.path + "/" + name)
    }
    FileSystem.removeTree(place.disk.path + "/.Out_SUPPORT")
    for (name, bytes) in place.before {
      try FileSystem.write(bytes, to: place.disk.path + "/" + name)
    }
  }

  @Test(
    "while the backup is copied, where there are no hard links: the store stays, no half backup")
  func backup() throws {
    for left in TestScale.some(1, of: [0, 4096, 100 << 10]) {
      let place = try Place()
      let journal = try MigrationJournal(storePath: place.path)
      let work = try FileSystem.copy(place.path, to: journal.workPath)
      place.disk.fill(leaving: left)
      var cutover = Cutover(
        storePath: place.path, result: try VerifiedFile(work),
        fingerprint: StoreFingerprint(of: place.path), logs: .merged,
        backupPath: place.disk.path + "/Library.backup-1", attributesPath: place.path)
      cutover.link = { _, _, _ in false }
      do {
        _ = try cutover.run(journal)
        Issue.record("there was space for the backup")
      } catch {
        #expect(Self.isFull(StepSequence.translated(error, path: place.path)), "\(error)")
      }
      journal.finish()
      #expect(try place.changes() == [])
    }
  }

  @Test("too little space is told before anything is written (134160)")
  func before() throws {
    let place = try Place()
    place.disk.fill(leaving: 200 << 10)
    let error = try failure(of: SafetyCase.copying.plan(place.path))
    #expect(error?.kind == .refused && error?.code == 134160)
    #expect(try place.changes() == [])
  }
}

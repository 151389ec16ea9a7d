import Files
import ManagedModel
import ManagedStore

/// Puts what is made of a store in its place, or into another file: a migration's result, a repair's.
///
/// What is made of it is the caller's. Here stands what every such run has: that the store is not in
/// use and stays the same one meanwhile, the lock, what an interrupted run left, the question, the
/// cut-over, the backup and the checksums. Until the cut-over the store is only read.
package struct StoreReplacement {
  /// What is done to a store.
  package enum Deed: Sendable { case migration, repair, edit }

  /// What is done.
  package let deed: Deed
  /// The store's path as it was given.
  package let storePath: String
  /// Where the result is to be; `nil` for the store's own place.
  package var output: String?
  /// Whether the old store is kept beside the new one.
  package var keepsBackup = true
  /// What the backup's name ends in; made unique where it is taken.
  package var backupSuffix = "1"
  /// Whether a -wal that is not applied is kept under another name.
  package var setsLogAside = false
  /// Called before each step of the cut-over, for tests that let it fail or die there.
  package var before: (CutoverStep) throws -> Void = { _ in }

  /// A step of the cut-over.
  package enum CutoverStep: String, CaseIterable, Sendable {
    case lock, note, link, support, leave, rename, done
  }

  /// A replacement of a store in its own place, with a backup.
  package init(_ deed: Deed, of storePath: String) {
    (self.deed, self.storePath) = (deed, storePath)
  }

  /// What the one who makes the result has to know.
  package struct Work {
    /// The store itself, without links; it is only to be read.
    package let storePath: String
    /// Two paths beside where the result is to be, which are free.
    package let temporaries: [String]
    /// What an earlier run left and this one removed, as sentences.
    package let recovered: [String]
  }

  /// What was made: verified, and written by nobody any more.
  package struct Made<Result> {
    /// The file, as it was made.
    package let file: NewFile
    /// What its maker wants to know afterwards.
    package let result: Result
    /// Its checksum, where that was begun when the last byte was written.
    let sum: EarlySum?
    /// Files of external data that it names and the store does not have.
    let added: AddedFiles

    /// A finished file, and what its maker wants to know afterwards.
    package init(
      file: NewFile, result: Result, sum: EarlySum? = nil, added: AddedFiles = AddedFiles()
    ) {
      (self.file, self.result, self.sum, self.added) = (file, result, sum, added)
    }
  }

  /// The checksum of the result before it gets its name, and the seconds that it took.
  package struct Sum {
    /// SHA-256 of the result's file, in hexadecimal.
    package let sha256: String
    /// Seconds that it took.
    package let seconds: Double
  }

  /// What was done.
  package struct Outcome<Result> {
    /// What the maker wanted to know.
    package let result: Result
    /// The checksum of the result.
    package let sum: Sum
    /// Where the result is, without links.
    package let target: String
    /// The old store; `nil` where it was not to be kept, or the result is elsewhere.
    package let backupPath: String?
    /// SHA-256 of the backup's file, in hexadecimal; its -wal, where it has one, is not in it.
    package let backupSHA256: String?
    /// What could not be as it was, as sentences.
    package let notes: [String]
  }

  /// Makes the result, and puts it in place.
  ///
  /// - Parameters:
  ///   - make: makes it at one of the paths that it is given, and verifies it.
  ///   - confirm: asked last; throws where the result is to be thrown away.
  /// - Throws: ``CoreDataError``: refused, failed, or cancelled. The store is as it was then.
  package func run<Result>(
    meter: ProgressMeter, make: (Work) throws -> Made<Result>,
    confirm: (Made<Result>, Sum) throws -> Void
  ) throws -> Outcome<Result> {
    // A link to a store stays a link: everything happens where it leads.
    let path = FileSystem.canonical(storePath)
    let target = output.map(FileSystem.place) ?? path
    if let error = refusalToWrite(path, target) { throw error }
    // A run that writes elsewhere only reads the store: it needs the place it writes to for itself.
    let journal = try MigrationJournal(storePath: target, for: operation)
    // Kept to the end: letting go of it ends its lock.
    return try withExtendedLifetime(journal) {
      try run(path, target, journal, meter, make, confirm)
    }
  }

  /// Does something beside the store, with the store for itself and what an interrupted run left put
  /// right; the store stays the file that it is.
  ///
  /// - Returns: what `body` answers, and what was put right, as sentences.
  package func holdingStore<Result>(
    _ body: () throws -> Result
  ) throws -> (result: Result, notes: [String]) {
    let path = FileSystem.canonical(storePath)
    if let error = FileSystem.refusal(toWrite: FileSystem.parent(of: path) ?? ".") { throw error }
    let journal = try MigrationJournal(storePath: path, for: operation)
    return try withExtendedLifetime(journal) {
      do {
        try refuseStoreInUse(path)
        let result = try body()
        return (result, journal.recovered + journal.finish())
      } catch {
        journal.finish()
        throw journal.completed(error, at: storePath)
      }
    }
  }

  private func run<Result>(
    _ path: String, _ target: String, _ journal: MigrationJournal, _ meter: ProgressMeter,
    _ make: (Work) throws -> Made<Result>, _ confirm: (Made<Result>, Sum) throws -> Void
  ) throws -> Outcome<Result> {
    try refuseStoreInUse(path)
    let fingerprint = StoreFingerprint(of: path)
    // What is made in several steps goes from one to the other and back.
    let work = Work(
      storePath: path, temporaries: [journal.workPath, journal.workPath + ".next"],
      recovered: journal.recovered)
    let backup = backupPath(journal.names)
    // What becomes the backup is read while the result is made; beside a log SQLite holds locks on it,
    // which would end with that.
    let isLogged = StoreSuffix.content.contains { FileSystem.status(path + $0) != nil }
    let early = backup == nil || isLogged ? nil : EarlySum(of: path)
    do {
      let made = try made(work, fingerprint, make, beside: early, meter)
      try meter.begin(.replace)
      let hashing = meter.elapsed
      // What is hashed is what was verified and what gets the name: one open file, or the same one as it
      // was then.
      _ = try? made.sum?.wait()
      let file = try VerifiedFile(made.file)
      let sha256 = try made.sum?.sum(of: file.path) ?? made.file.sha256()
      let sum = Sum(sha256: sha256, seconds: meter.elapsed - hashing)
      try confirm(made, sum)
      if output == nil, try setsLogAside || hasForeignLog(path) { try setLogAside(path, journal) }
      var notes = try putInPlace(
        file, made.added, path, target, backup, fingerprint, journal, meter)
      meter.finish()
      notes += journal.finish()
      return Outcome(
        result: made.result, sum: sum, target: target, backupPath: backup,
        // It is in place: what cannot be determined of the backup is no failure.
        backupSHA256: backup.flatMap { early?.sum(of: $0) ?? (try? FileSystem.sha256($0)) },
        notes: notes)
    } catch {
      journal.finish()
      if error is any AbandonedWork { throw error }
      throw journal.completed(StepSequence.translated(error, path: storePath), at: storePath)
    }
  }

  /// What is made, and that the store was the same one throughout: whatever else fails in a store
  /// that changes while it is read, the change is the reason.
  private func made<Result>(
    _ work: Work, _ fingerprint: StoreFingerprint, _ make: (Work) throws -> Made<Result>,
    beside early: EarlySum?, _ meter: ProgressMeter
  ) throws -> Made<Result> {
    // The cut-over's locks must not end with it.
    defer { _ = try? early?.wait() }
    let made: Made<Result>
    do {
      made = try make(work)
    } catch {
      early?.stop()
      // Whatever fails then may do so because a statement was interrupted.
      if meter.shouldStop { throw ProgressMeter.cancelled }
      if StepSequence.isOfSource(error), StoreFingerprint(of: work.storePath) != fingerprint {
        throw StoreFingerprint.changed(storePath)
      }
      throw error
    }
    guard StoreFingerprint(of: work.storePath) == fingerprint else {
      throw StoreFingerprint.changed(storePath)
    }
    return made
  }

  private func putInPlace(
    _ file: VerifiedFile, _ added: AddedFiles, _ path: String, _ target: String,
    _ backup: String?, _ fingerprint: StoreFingerprint, _ journal: MigrationJournal,
    _ meter: ProgressMeter
  ) throws -> [String] {
    guard output == nil else {
      return try ResultOutput(
        path: target, result: file, journal: journal, source: StoreFiles(path: path), added: added,
        check: meter.checkCancelled, before: before
      ).run()
    }
    var cutover = Cutover(
      storePath: target, result: file, fingerprint: fingerprint,
      logs: try hasForeignLog(target) ? .dropped : .merged,
      backupPath: backup, attributesPath: target)
    if !added.isEmpty {
      let staged = journal.workPath + MigrationJournal.externalSuffix
      try added.copy(to: staged, check: meter.checkCancelled)
      cutover.addedSupportPath = staged
    }
    cutover.before = {
      if $0 == .lock { try meter.checkCancelled() }
      try before($0)
    }
    return try cutover.run(journal).notes
  }

  private var operation: MigrationJournal.Operation {
    guard output == nil else { return .output }
    return switch deed {
    case .migration: .migration
    case .repair: .repair
    case .edit: .edit
    }
  }

  /// What a person is advised to repeat.
  private var verb: String {
    switch deed {
    case .migration: "migrate"
    case .repair: "repair"
    case .edit: "edit"
    }
  }

  private func backupPath(_ names: StoreNames) -> String? {
    guard output == nil, keepsBackup else { return nil }
    return names.path(
      deed == .repair
        ? names.repairBackup(suffix: backupSuffix) : names.migrationBackup(suffix: backupSuffix))
  }

  /// Whether the -wal beside a store is another store's: SQLite would write its pages into the old store.
  private func hasForeignLog(_ path: String) throws -> Bool {
    try WriteAheadLog(besideStore: path).unapplied?.reason == .foreign
  }

  /// A -wal that is not applied holds what nobody can read yet: it is kept under another name, since
  /// its own is the new store's.
  private func setLogAside(_ path: String, _ journal: MigrationJournal) throws {
    let (names, log) = (journal.names, journal.names.store + "-wal")
    guard names.file(log) != nil else { return }
    // Under a name of the run's own until it is whole.
    let work = FileSystem.name(of: journal.workPath + MigrationJournal.copySuffix) + "-wal"
    try FileSystem.copy(names.path(log), to: names.path(work)).sync()
    var name = log + ".unapplied"
    var number = 2
    while names.file(name) != nil {
      name = "\(log)-\(number).unapplied"
      number += 1
    }
    try names.rename(work, to: name)
  }
}

/// What is refused before anything is made.
extension StoreReplacement {
  /// - Throws: ``CoreDataError`` of kind refused where the result cannot be put where it is to be.
  package func refuseOutput() throws {
    guard let output else { return }
    if let refusal = OutputPlace.refusal(
      toWrite: "the result", at: output, besides: [storePath]),
      FileSystem.status(output) == nil
    {
      throw refusal
    }
    guard FileIdentity(of: output) == nil else {
      throw CoreDataError(
        .refused, "the output exists already", path: output,
        hint: "Name a file that does not exist.")
    }
    for suffix in StoreSuffix.content {
      guard let there = try FileSystem.present(output + suffix),
        there.kind != .file || there.size > 0
      else { continue }
      // SQLite would take it for the output's own.
      throw CoreDataError(
        .refused, "a \(suffix) is where the output's own would be", path: output + suffix,
        hint: "Name another output, or move that file away.")
    }
  }

  /// - Throws: ``CoreDataError`` of kind refused where there is too little room.
  package func refuseSpace(needed: Int, free: Int?) throws(CoreDataError) {
    guard let free, free < needed else { return }
    throw CoreDataError(
      .refused, code: .migrationManagerDestinationStore,
      "not enough space: about \(NumberText.bytes(needed)) are needed and \(NumberText.bytes(free)) are free",
      path: output ?? storePath,
      advice: "Free some space, or \(elsewhere).")
  }

  /// How the result is written elsewhere. A plan and a rehearsal of a migration are asked as well, which take no
  /// output of their own.
  private var elsewhere: Advice {
    deed == .migration
      ? "write the result elsewhere: \(.deed("migration"), of: [ShellText.quoted(storePath)]) \(.output, of: ["FILE"])"
      : "write the result elsewhere with \(.output)"
  }

  /// Refuses what a run would refuse before it begins: for one that is only tried.
  ///
  /// - Throws: ``CoreDataError`` of kind refused.
  package func refuseHindered() throws {
    if let first = hindrances().first { throw first }
  }

  /// What would refuse a run before it begins, as things are now; found by looking alone.
  package func hindrances() -> [CoreDataError] {
    let path = FileSystem.canonical(storePath)
    let asked: [() throws -> Void] = [
      { try refuseOutput() }, { try refuseStoreInUse(path) },
      {
        if let error = refusalToWrite(path, output.map(FileSystem.place) ?? path) { throw error }
      },
    ]
    return asked.compactMap { ask in
      do {
        try ask()
        return nil
      } catch {
        return CoreDataError(error, or: .refused)
      }
    }
  }

  /// Reported before the work, not after it.
  private func refusalToWrite(_ path: String, _ target: String) -> CoreDataError? {
    (output == nil ? FileSystem.refusal(toWrite: path) : nil)
      ?? FileSystem.refusal(toWrite: FileSystem.parent(of: target) ?? ".")
  }

  private func refuseStoreInUse(_ path: String) throws {
    guard output == nil else { return }
    try Cutover.requireFiles(beside: path)
    if let user = StoreLock.user(of: path) {
      throw StoreLock.inUse(
        storePath, by: user, to: verb)
    }
    if StoreFiles(path: path).hasUnfinishedChange {
      throw CoreDataError(
        .refused, code: .persistentStoreOpen,
        StoreFiles.unfinishedChange, path: storePath,
        advice: "Let the app open the store once, or \(elsewhere).")
    }
  }
}

/// Thrown by work that ends without a result and did not fail: it reaches the caller unchanged.
package protocol AbandonedWork: Error {}

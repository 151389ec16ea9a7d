import Files
import ManagedModel
import ManagedStore
import SQLite

/// One migration from the first look to the receipt.
struct MigrationRun {
  let plan: MigrationPlan
  let options: MigrationOptions
  /// Called before each step of the cut-over, for tests that let it fail or die there.
  var before: (Cutover.Step) throws -> Void = { _ in }
  /// Runs after each step, before it is verified.
  var beforeVerification: (Connection) throws -> Void = { _ in }

  func run(
    isCancelled: @escaping () -> Bool, progress: @escaping (MigrationProgress) -> Void
  ) throws -> MigrationReceipt {
    try refuse()
    // Written elsewhere, the result is a copy.
    guard !plan.isNothingToDo || options.output != nil else {
      throw CoreDataError(
        .usage, "there is nothing to do: the store is of that model already", path: plan.storePath)
    }
    // A link to a store stays a link: everything happens where it leads.
    let storePath = FileSystem.canonical(plan.storePath)
    let target = options.output.map(FileSystem.place) ?? storePath
    if let error = refusalToWrite(storePath, target) { throw error }
    // A run that writes elsewhere only reads the store: it needs the place it writes to for itself.
    let journal = try MigrationJournal(
      storePath: target, for: options.output == nil ? .migration : .output)
    // Kept to the end: letting go of it ends its lock.
    return try withExtendedLifetime(journal) {
      try run(storePath, target, journal, ProgressMeter(isCancelled: isCancelled, report: progress))
    }
  }

  private func run(
    _ storePath: String, _ target: String, _ journal: MigrationJournal, _ meter: ProgressMeter
  ) throws -> MigrationReceipt {
    try refuseStoreInUse(storePath)
    let fingerprint = StoreFingerprint(of: storePath)
    // A chain goes from one to the other and back.
    let temporaries = [journal.workPath, journal.workPath + ".next"]
    let backup =
      options.output == nil && options.keepsBackup
      ? journal.names.path(journal.names.migrationBackup(suffix: options.backupSuffix)) : nil
    do {
      var done = try steps(
        storePath, temporaries,
        StepSequence(
          plan: plan, meter: meter, recovered: journal.recovered,
          beforeVerification: beforeVerification), fingerprint)
      try meter.begin(.replace)
      let hashing = meter.elapsed
      // What is hashed is what was verified and what gets the name: one open file.
      let result = try VerifiedFile(done.path, expected: done.file)
      let checksum = try result.sha256()
      done.verificationSeconds += meter.elapsed - hashing
      try confirm(done, checksum, meter)
      if options.output == nil, plan.losses.contains(where: \.isOfLog) {
        try setLogAside(storePath)
      }
      if options.output == nil {
        var cutover = Cutover(
          storePath: target, result: result, fingerprint: fingerprint, logs: .merged,
          backupPath: backup, attributesPath: target)
        cutover.before = {
          if $0 == .lock { try meter.checkCancelled() }
          try before($0)
        }
        done.notes += try cutover.run(journal).notes
      } else {
        done.notes += try ResultOutput(
          path: target, result: result, journal: journal, source: StoreFiles(path: storePath),
          check: meter.checkCancelled, before: before
        ).run()
      }
      meter.finish()
      done.notes += journal.finish()
      var receipt = receipt(done, backup: backup, target: target, meter: meter)
      receipt.resultSHA256 = checksum
      // It is in place: what cannot be told of the backup is no failure.
      receipt.backupSHA256 = backup.flatMap { try? FileSystem.sha256($0) }
      return receipt
    } catch {
      journal.finish()
      throw journal.completed(
        StepSequence.translated(error, path: plan.storePath), at: plan.storePath)
    }
  }

  /// The steps, and that the store was the same one throughout: whatever else fails in a store that
  /// changes while it is read, the change is the reason.
  private func steps(
    _ storePath: String, _ temporaries: [String], _ sequence: StepSequence,
    _ fingerprint: StoreFingerprint
  ) throws -> StepSequence.Result {
    let result: StepSequence.Result
    do {
      result = try sequence.run(from: storePath, through: temporaries)
    } catch {
      if StepSequence.isOfSource(error), StoreFingerprint(of: storePath) != fingerprint {
        throw StoreFingerprint.changed(plan.storePath)
      }
      throw error
    }
    guard StoreFingerprint(of: storePath) == fingerprint else {
      throw StoreFingerprint.changed(plan.storePath)
    }
    return result
  }

  /// A -wal that is not applied holds what nobody can read yet: it is kept under another name, since
  /// its own is the new store's.
  private func setLogAside(_ storePath: String) throws {
    let log = StoreFiles(path: storePath).walPath
    guard FileSystem.status(log) != nil else { return }
    var name = log + ".unapplied"
    var number = 2
    while FileSystem.status(name) != nil {
      name = "\(log)-\(number).unapplied"
      number += 1
    }
    try FileSystem.copy(log, to: name)
    try FileSystem.sync(name)
  }

  /// Asks before the result gets its name; the time of the answer is not the migration's.
  private func confirm(
    _ done: StepSequence.Result, _ checksum: String, _ meter: ProgressMeter
  ) throws {
    guard let confirmation = options.confirmation else { return try meter.checkCancelled() }
    var sofar = receipt(done, backup: nil, target: done.path, meter: meter)
    sofar.resultSHA256 = checksum
    let isConfirmed = meter.pausing { confirmation(sofar) }
    try meter.checkCancelled()
    guard isConfirmed else {
      throw CoreDataError(
        .cancelled, code: .migrationCancelled, "the result was thrown away", path: plan.storePath,
        hint: "Nothing was changed: the store is as it was.")
    }
  }

  private func receipt(
    _ done: StepSequence.Result, backup: String?, target: String, meter: ProgressMeter
  ) -> MigrationReceipt {
    var receipt = MigrationReceipt(
      storePath: plan.storePath, resultPath: options.output ?? plan.storePath,
      from: plan.steps.first?.from ?? "", to: plan.steps.last?.to ?? "", strategy: plan.strategy,
      entities: done.report.entities, links: done.report.links, losses: plan.losses,
      verified: done.report.verified, uuid: done.metadata.uuid,
      checksum: plan.steps.last?.destination.versionChecksum ?? "", notes: plan.notes + done.notes,
      seconds: meter.elapsed, verificationSeconds: done.verificationSeconds,
      bytes: FileSystem.status(target)?.size ?? 0, backupPath: backup, steps: plan.steps.count)
    receipt.externalData = done.externalData
    return receipt
  }

  /// Told before the work, not after it.
  private func refusalToWrite(_ storePath: String, _ target: String) -> CoreDataError? {
    (options.output == nil ? FileSystem.refusal(toWrite: storePath) : nil)
      ?? FileSystem.refusal(toWrite: FileSystem.parent(of: target) ?? ".")
  }

  private func refuseStoreInUse(_ storePath: String) throws {
    guard options.output == nil else { return }
    if let user = StoreLock.user(of: storePath) {
      throw CoreDataError(
        .failed, code: .persistentStoreOpen, "another program (process \(user)) is using the store",
        path: plan.storePath, hint: "Close it and migrate again. The store is as it was.")
    }
    if (FileSystem.status(storePath + "-journal")?.size ?? 0) > 512 {
      throw CoreDataError(
        .refused, code: .persistentStoreOpen,
        "the store's last change was cut off: a -journal lies beside it", path: plan.storePath,
        advice: "Write the result elsewhere with \(.output), or let the app open the store once.")
    }
  }

  private func refuse() throws {
    let losses = plan.unallowedLosses(options.allowedLosses)
    if let loss = losses.first {
      let count = plan.failures.count
      let others =
        count == 0
        ? ""
        : ". Accepted or not, the data fail \(count == 1 ? "a check" : "\(count) checks") as well."
      throw CoreDataError(
        .refused,
        "the migration would lose \(loss.values) \(loss.noun)"
          + (losses.count > 1
            ? ", and more in \(losses.count - 1) other \(losses.count == 2 ? "place" : "places")"
            : ""),
        path: plan.storePath, entity: loss.isOfLog ? nil : loss.entity, property: loss.property,
        advice:
          "\(loss.suggestion.map { $0 + " " } ?? "")To accept: \(.allowedLosses, of: losses.map(\.name))\(others)"
      )
    }
    if let check = plan.failures.first {
      throw check.refusal(path: plan.storePath, hint: check.hint)
    }
    if let output = options.output {
      if let refusal = OutputPlace.refusal(
        toWrite: "the result", at: output, besides: [plan.storePath]),
        FileSystem.status(output) == nil
      {
        throw refusal
      }
      guard FileSystem.status(output) == nil else {
        throw CoreDataError(
          .refused, "the output exists already", path: output,
          hint: "Name a file that does not exist.")
      }
      for suffix in ["-wal", "-journal"] where (FileSystem.status(output + suffix)?.size ?? 0) > 0 {
        // SQLite would take it for the output's own.
        throw CoreDataError(
          .refused, "a \(suffix) lies where the output's own would be", path: output + suffix,
          hint: "Name another output, or move that file away.")
      }
    }
    if let free = plan.bytesFree, free < plan.bytesNeeded {
      throw CoreDataError(
        .refused, code: .migrationManagerDestinationStore,
        "not enough space: about \(plan.bytesNeeded >> 20) MB are needed and \(free >> 20) MB are free",
        path: options.output ?? plan.storePath,
        advice: "Free some space, or write elsewhere with \(.output).")
    }
  }
}

import ManagedModel
import ManagedStore
import SQLite

/// One migration from the first look to the receipt.
struct MigrationRun {
  let plan: MigrationPlan
  let options: MigrationOptions
  var confirmCutover: (MigrationReceipt) -> Bool = { _ in true }

  func run(
    isCancelled: @escaping () -> Bool, progress: @escaping (MigrationProgress) -> Void
  ) throws -> MigrationReceipt {
    try refuse()
    guard !plan.isNothingToDo else {
      throw CoreDataError(
        .usage, "there is nothing to do: the store is of that model already", path: plan.storePath)
    }
    // A link to a store stays a link: everything happens where it leads.
    let storePath = FileSystem.canonical(plan.storePath)
    let target = options.output.map(absolute) ?? storePath
    if let error = refusalToWrite(storePath, target) { throw error }
    // A run that writes elsewhere only reads the store: it needs the place it writes to for itself.
    let journal = try MigrationJournal(storePath: target)
    // Kept to the end: letting go of it ends its lock.
    return try withExtendedLifetime(journal) {
      try run(
        storePath, target, journal,
        ProgressMeter(isCancelled: isCancelled, report: progress))
    }
  }

  private func run(
    _ storePath: String, _ target: String, _ journal: MigrationJournal, _ meter: ProgressMeter
  ) throws -> MigrationReceipt {
    try refuseStoreInUse(storePath)
    let fingerprint = StoreFingerprint(of: storePath)
    let temporary = MigrationJournal.temporaryPath(beside: target)
    // A chain goes from one to the other and back.
    let temporaries = [temporary, temporary + ".next"]
    let all = temporaries + [temporary + MigrationJournal.copySuffix]
    let backup =
      options.output == nil && options.keepsBackup ? backupPath(of: target) : nil
    try journal.note(temporaries: all, backup: backup)
    for path in all { MigrationJournal.removeTemporary(path) }
    do {
      var done = try steps(
        storePath, temporaries,
        StepSequence(plan: plan, meter: meter, recovered: journal.recovered),
        fingerprint)
      try meter.begin(.replace)
      let hashing = meter.elapsed
      let checksum = try FileSystem.sha256(done.path)
      done.verificationSeconds += meter.elapsed - hashing
      try confirm(done, checksum, meter)
      if options.output == nil {
        try Cutover(
          storePath: target, resultPath: done.path, fingerprint: fingerprint, backupPath: backup,
          before: { if $0 == .lock { try meter.checkCancelled() } }
        ).run()
      } else {
        try ResultOutput(
          path: target, resultPath: done.path, temporary: temporary,
          source: StoreFiles(path: storePath), check: meter.checkCancelled
        ).run()
      }
      meter.finish()
      var receipt = receipt(done, backup: backup, target: target, meter: meter)
      receipt.resultSHA256 = checksum
      // It is in place: what cannot be told of the backup is no failure.
      receipt.backupSHA256 = backup.flatMap { try? FileSystem.sha256($0) }
      return receipt
    } catch {
      for path in all { MigrationJournal.removeTemporary(path) }
      throw StepSequence.translated(error, path: plan.storePath)
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

  /// Asks before the result gets its name; the time of the answer is not the migration's.
  private func confirm(
    _ done: StepSequence.Result, _ checksum: String, _ meter: ProgressMeter
  ) throws {
    var sofar = receipt(done, backup: nil, target: done.path, meter: meter)
    sofar.resultSHA256 = checksum
    let isConfirmed = meter.pausing { confirmCutover(sofar) }
    try meter.checkCancelled()
    guard isConfirmed else {
      throw CoreDataError(
        .cancelled, code: 134120, "the result was thrown away", path: plan.storePath,
        hint: "Nothing was changed: the store is as it was.")
    }
  }

  private func receipt(
    _ done: StepSequence.Result, backup: String?, target: String, meter: ProgressMeter
  ) -> MigrationReceipt {
    var receipt = MigrationReceipt(
      storePath: plan.storePath, resultPath: options.output ?? plan.storePath,
      from: plan.steps.first?.from ?? "", to: plan.steps.last?.to ?? "", strategy: plan.strategy,
      entities: done.report.entities, edges: done.report.edges, losses: plan.losses,
      verified: done.report.verified, uuid: done.metadata.uuid,
      checksum: plan.steps.last?.destination.versionChecksum ?? "",
      notes: plan.notes + done.notes, seconds: meter.elapsed,
      verificationSeconds: done.verificationSeconds, bytes: FileSystem.status(target)?.size ?? 0,
      backupPath: backup, steps: plan.steps.count)
    receipt.externalData = done.externalData
    return receipt
  }

  /// The journal outlives this process and its working folder.
  private func absolute(_ path: String) -> String {
    FileSystem.canonical(FileSystem.parent(of: path) ?? ".") + "/" + FileSystem.name(of: path)
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
        .failed, code: 134080, "another program (process \(user)) is using the store",
        path: plan.storePath, hint: "Close it and migrate again. The store is as it was.")
    }
    if (FileSystem.status(storePath + "-journal")?.size ?? 0) > 512 {
      throw CoreDataError(
        .refused, code: 134080, "the store's last change was cut off: a -journal lies beside it",
        path: plan.storePath,
        hint: "Write the result elsewhere with --output, or let the app open the store once.")
    }
  }

  private func refuse() throws {
    let losses = plan.unallowedLosses(options.allowedLosses)
    if let loss = losses.first {
      throw CoreDataError(
        .refused,
        "the migration would lose \(loss.values) \(loss.property == nil ? "objects" : "values")"
          + (losses.count > 1
            ? ", and more in \(losses.count - 1) other \(losses.count == 2 ? "place" : "places")"
            : ""),
        path: plan.storePath, entity: loss.entity, property: loss.property,
        hint: (loss.suggestion.map { $0 + " " } ?? "") + "To accept: "
          + losses.map { "--allow-loss \($0.name)" }.joined(separator: " ")
          + (plan.failures.isEmpty
            ? ""
            : ". Accepted or not, the data fail \(plan.failures.count == 1 ? "a check" : "\(plan.failures.count) checks") as well.")
      )
    }
    if let check = plan.failures.first {
      throw CoreDataError(
        .refused, code: check.code,
        check.message + (check.rows == 0 ? "" : ", in \(check.rows) rows")
          + (check.first.isEmpty
            ? "" : " (first: \(check.first.map(\.description).joined(separator: ", ")))"),
        path: plan.storePath, entity: check.entity, property: check.property, hint: check.hint)
    }
    if let output = options.output {
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
        .refused, code: 134160,
        "not enough space: about \(plan.bytesNeeded >> 20) MB are needed and \(free >> 20) MB are free",
        path: options.output ?? plan.storePath,
        hint: "Free some space, or write elsewhere with --output.")
    }
  }

  /// A free name of the store's stem: external data is found by the stem, so the backup still
  /// finds its own.
  private func backupPath(of path: String) -> String {
    let folder = FileSystem.parent(of: path) ?? "."
    let suffix = String(options.backupSuffix.map { $0.isLetter || $0.isNumber ? $0 : "-" })
    let base = FileSystem.stem(of: path) + ".backup-" + suffix
    let names = (try? FileSystem.list(folder)) ?? []
    let isTaken = names.contains { $0 == base || $0.hasPrefix(base + "-") }
    guard isTaken else { return folder + "/" + base }
    // Above all numbers there: the newest backup must have the highest.
    return
      "\(folder)/\(base)-\(max(2, StoreBackup.nextNumber(in: names, after: [base + "-"])))"
  }
}

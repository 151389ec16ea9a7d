import ManagedModel
import ManagedStore
import SQLite

/// One migration from the first look to the receipt.
struct MigrationRun {
  let plan: MigrationPlan
  let options: MigrationOptions

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
    // A run that writes elsewhere only reads the store: it needs the place it writes to for itself.
    let journal = try MigrationJournal(storePath: target)
    try refuseStoreInUse(storePath)
    let fingerprint = StoreFingerprint(of: storePath)
    let temporary = MigrationJournal.temporaryPath(beside: target)
    // A chain goes from one to the other and back.
    let temporaries = [temporary, temporary + ".next"]
    try journal.note(temporaries: temporaries)
    for path in temporaries { MigrationJournal.removeTemporary(path) }
    do {
      let meter = ProgressMeter(isCancelled: isCancelled, report: progress)
      let done = try StepSequence(plan: plan, meter: meter, recovered: journal.recovered).run(
        from: storePath, through: temporaries)
      try meter.begin(.replace)
      let checksum = try FileSystem.sha256(done.path)
      let backup = try putInPlace(
        done.path, target: target, files: StoreFiles(path: storePath), fingerprint: fingerprint)
      meter.finish()
      var receipt = receipt(done, backup: backup, target: target, meter: meter)
      receipt.externalData = done.externalData
      receipt.resultSHA256 = checksum
      // It is in place: what cannot be told of the backup is no failure.
      receipt.backupSHA256 = backup.flatMap { try? FileSystem.sha256($0) }
      return receipt
    } catch {
      for path in temporaries { MigrationJournal.removeTemporary(path) }
      throw StepSequence.translated(error, path: plan.storePath)
    }
  }

  private func receipt(
    _ done: StepSequence.Result, backup: String?, target: String, meter: ProgressMeter
  ) -> MigrationReceipt {
    MigrationReceipt(
      storePath: plan.storePath, resultPath: options.output ?? plan.storePath,
      from: plan.steps.first?.from ?? "", to: plan.steps.last?.to ?? "", strategy: plan.strategy,
      entities: done.report.entities, edges: done.report.edges, losses: plan.losses,
      verified: done.report.verified, uuid: done.metadata.uuid,
      checksum: plan.steps.last?.destination.versionChecksum ?? "",
      notes: plan.notes + done.notes, seconds: meter.elapsed,
      verificationSeconds: done.verificationSeconds, bytes: FileSystem.status(target)?.size ?? 0,
      backupPath: backup, steps: plan.steps.count)
  }

  /// The journal outlives this process and its working folder.
  private func absolute(_ path: String) -> String {
    FileSystem.canonical(FileSystem.parent(of: path) ?? ".") + "/" + FileSystem.name(of: path)
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
    }
    if let free = plan.bytesFree, free < plan.bytesNeeded {
      throw CoreDataError(
        .refused, code: 134160,
        "not enough space: about \(plan.bytesNeeded >> 20) MB are needed and \(free >> 20) MB are free",
        path: options.output ?? plan.storePath,
        hint: "Free some space, or write elsewhere with --output.")
    }
  }

  private func putInPlace(
    _ result: String, target: String, files: StoreFiles, fingerprint: StoreFingerprint
  ) throws -> String? {
    if options.output != nil {
      try copyExternalData(of: files, to: target)
      try FileSystem.sync(result)
      guard FileSystem.status(target) == nil else {
        throw CoreDataError(.failed, "the output appeared meanwhile", path: target)
      }
      try FileSystem.rename(result, to: target)
      try FileSystem.sync(FileSystem.parent(of: target) ?? ".")
      return nil
    }
    let backup = options.keepsBackup ? backupPath(of: target) : nil
    try Cutover(
      storePath: target, resultPath: result, fingerprint: fingerprint, backupPath: backup
    ).run()
    return backup
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

  /// The result's own copies, compared by content.
  private func copyExternalData(of files: StoreFiles, to target: String) throws {
    let from = files.externalDataFolder
    guard FileSystem.isDirectory(from) else { return }
    let to = StoreFiles(path: target).externalDataFolder
    guard to != from else { return }
    try FileSystem.makeDirectory(to)
    for name in try FileSystem.list(from) where FileSystem.isFile(from + "/" + name) {
      try FileSystem.copy(from + "/" + name, to: to + "/" + name)
      guard
        Digest.sha256(try FileSystem.read(to + "/" + name))
          == Digest.sha256(try FileSystem.read(from + "/" + name))
      else {
        throw CoreDataError(
          .failed, "an external data file is not what was copied", path: to + "/" + name)
      }
      try FileSystem.sync(to + "/" + name)
    }
  }
}

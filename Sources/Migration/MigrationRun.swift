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
    guard let step = plan.steps.first else {
      throw CoreDataError(.failed, code: 134140, "the plan has no step", path: plan.storePath)
    }
    guard !plan.isNothingToDo else {
      throw CoreDataError(
        .usage, "there is nothing to do: the store is of that model already", path: plan.storePath)
    }
    // A link to a store stays a link: everything happens where it leads.
    let storePath = FileSystem.canonical(plan.storePath)
    let target = options.output.map(absolute) ?? storePath
    let journal = try MigrationJournal(storePath: storePath)
    if options.output == nil, let user = StoreLock.user(of: storePath) {
      throw CoreDataError(
        .failed, code: 134080, "another program (process \(user)) is using the store",
        path: plan.storePath, hint: "Close it and migrate again. The store is as it was.")
    }
    if options.output == nil, (FileSystem.status(storePath + "-journal")?.size ?? 0) > 512 {
      throw CoreDataError(
        .refused, code: 134080, "the store's last change was cut off: a -journal lies beside it",
        path: plan.storePath,
        hint: "Write the result elsewhere with --output, or let the app open the store once.")
    }
    let fingerprint = StoreFingerprint(of: storePath)
    let source = try Store(path: storePath, model: step.source)
    guard source.modelMatches else {
      throw CoreDataError(
        .refused, code: 134130, "the store is no longer of the model it was planned for",
        path: plan.storePath, hint: "Plan again.")
    }
    let temporary = MigrationJournal.temporaryPath(beside: target)
    try journal.note(temporary: temporary)
    MigrationJournal.removeTemporary(temporary)
    do {
      return try run(
        step, source: source, temporary: temporary, target: target, fingerprint: fingerprint,
        meter: ProgressMeter(parts: parts(of: step), isCancelled: isCancelled, report: progress))
    } catch {
      MigrationJournal.removeTemporary(temporary)
      throw translated(error)
    }
  }

  /// The journal outlives this process and its working folder.
  private func absolute(_ path: String) -> String {
    FileSystem.canonical(FileSystem.parent(of: path) ?? ".") + "/" + FileSystem.name(of: path)
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
          + (plan.checks.isEmpty
            ? ""
            : ". Accepted or not, the data fail \(plan.checks.count == 1 ? "a check" : "\(plan.checks.count) checks") as well.")
      )
    }
    if let check = plan.checks.first {
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

  private func parts(of step: MigrationPlan.Step) -> [MigrationProgress.Part] {
    let rows = step.mapping.entityMappings.filter { $0.source != nil && $0.destination != nil }
    var parts = [
      MigrationProgress.Part(
        kind: .copy, title: "copy store", unit: .bytes, total: plan.storeBytes)
    ]
    parts += rows.map {
      MigrationProgress.Part(
        kind: .entity, title: InPlaceMigration.title(of: $0), unit: .rows,
        total: step.rows[$0.name] ?? 0)
    }
    parts.append(.init(kind: .relationships, title: "relationships", unit: .items, total: 1))
    parts.append(
      .init(
        kind: .indexes, title: "indexes", unit: .items,
        total: StoreSchema(model: step.destination).indexStatements().count))
    parts.append(
      .init(
        kind: .verify, title: "verify", unit: .rows,
        total: rows.reduce(0) { $0 + (step.rows[$1.name] ?? 0) }))
    parts.append(.init(kind: .replace, title: "put in place", unit: .items, total: 1))
    return parts
  }

  private func run(
    _ step: MigrationPlan.Step, source: Store, temporary: String, target: String,
    fingerprint: StoreFingerprint, meter: ProgressMeter
  ) throws -> MigrationReceipt {
    try meter.begin(.copy)
    // The clone may be read by those who may read the store, from its first byte on.
    try FileSystem.createEmpty(
      temporary, permissions: FileSystem.status(source.path)?.permissions ?? 0o600)
    let connection = try Connection(path: temporary, mode: .readWrite)
    connection.onProgress { meter.shouldStop }
    try copy(source, to: connection, meter: meter)
    try connection.run(
      "ATTACH DATABASE ? AS src", [.text(source.connection.uri)])
    let schemas = StepSchemas(store: source, mapping: step.mapping, destination: step.destination)
    try InPlaceMigration(
      step: step, schemas: schemas, connection: connection, meter: meter,
      archive: plan.destinationArchive
    ).run()
    let verificationStart = meter.elapsed
    let verified = try Verification(
      step: step, schemas: schemas, connection: connection, meter: meter, path: plan.storePath
    ).run()
    try connection.execute("DETACH DATABASE src")
    // Apple's stores say in their header that they are written through a -wal.
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL")
    connection.onProgress(nil)
    connection.close()
    let result = try reopened(temporary, step: step)
    let verificationSeconds = meter.elapsed - verificationStart
    try meter.begin(.replace)
    let backup = try putInPlace(
      temporary, target: target, source: source, fingerprint: fingerprint)
    meter.finish()
    return MigrationReceipt(
      storePath: plan.storePath, resultPath: options.output ?? plan.storePath, from: step.from,
      to: step.to, strategy: plan.strategy, entities: verified.entities, edges: verified.edges,
      losses: plan.losses, verified: verified.verified, uuid: result.uuid,
      checksum: step.destination.versionChecksum, notes: plan.notes, seconds: meter.elapsed,
      verificationSeconds: verificationSeconds, bytes: FileSystem.status(target)?.size ?? 0,
      backupPath: backup)
  }

  private func copy(_ source: Store, to connection: Connection, meter: ProgressMeter) throws {
    try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    let pageSize = Int(try source.connection.value("PRAGMA page_size")?.integer ?? 4096)
    _ = try source.connection.backup(to: connection) { done, total in
      try meter.update(done: done * pageSize, total: total * pageSize, bytes: done * pageSize)
      return true
    }
  }

  /// Opens the clone as any store is opened: the model cache inflates, its hashes are those in the
  /// metadata and those of the destination, and the identity is the source's.
  private func reopened(_ path: String, step: MigrationPlan.Step) throws -> StoreMetadata {
    let store = try Store(path: path)
    guard store.modelMatches, store.metadata.versionHashes == step.destination.versionHashes else {
      throw CoreDataError(
        .failed, code: 134110, "verification failed: the version hashes are not the destination's",
        path: plan.storePath)
    }
    return store.metadata
  }

  private func putInPlace(
    _ temporary: String, target: String, source: Store, fingerprint: StoreFingerprint
  ) throws -> String? {
    if options.output != nil {
      try copyExternalData(of: source, to: target)
      try FileSystem.sync(temporary)
      guard FileSystem.status(target) == nil else {
        throw CoreDataError(.failed, "the output appeared meanwhile", path: target)
      }
      try FileSystem.rename(temporary, to: target)
      try FileSystem.sync(FileSystem.parent(of: target) ?? ".")
      return nil
    }
    let backup = options.keepsBackup ? backupPath(of: target) : nil
    try Cutover(
      storePath: target, resultPath: temporary, fingerprint: fingerprint, backupPath: backup
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

  private func copyExternalData(of source: Store, to target: String) throws {
    let from = source.files.externalDataFolder
    guard FileSystem.isDirectory(from) else { return }
    let to = StoreFiles(path: target).externalDataFolder
    guard to != from else { return }
    try FileSystem.makeDirectory(to)
    for name in try FileSystem.list(from) where FileSystem.isFile(from + "/" + name) {
      try FileSystem.copy(from + "/" + name, to: to + "/" + name)
    }
  }

  private func translated(_ error: any Error) -> any Error {
    if let error = error as? CoreDataError { return error.at(path: plan.storePath) }
    guard let error = error as? SQLiteError else { return error }
    if error.isInterrupted {
      return CoreDataError(
        .cancelled, code: 134120, "cancelled", path: plan.storePath,
        hint: "Nothing was changed: the store is as it was.")
    }
    if error.isConstraint {
      return CoreDataError(
        .failed, code: 134111, "constraint violation: \(error.message)", path: plan.storePath,
        hint: "The store is as it was.")
    }
    return CoreDataError(sqlite: error, path: plan.storePath, kind: .failed)
  }
}

import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Puts right what is wrong with a store as far as that can be known, as a migration works: planned
/// first, on a copy, verified, one rename, with a backup and a list of every change.
///
/// What SQLite does not read is refused: that is for salvaging.
package enum StoreRepair {
  /// Repairs a store.
  ///
  /// - Parameter progress: called between batches; `isCancelled` is asked as often.
  /// - Throws: ``CoreDataError``: unreadable where only salvaging helps, refused, failed, or
  ///   cancelled. The store is as it was then.
  package static func run(
    path: String, options: RepairOptions = RepairOptions(),
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> Repaired {
    try run(path: path, options: options, isCancelled: isCancelled, progress: progress) { _ in }
  }

  /// - Parameter before: called before each step of the cut-over, for tests that let it fail there.
  static func run(
    path: String, options: RepairOptions, isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in },
    before: @escaping (StoreReplacement.CutoverStep) throws -> Void
  ) throws -> Repaired {
    do {
      return try Connection.stoppingAll(when: isCancelled) {
        try repaired(path, options, isCancelled, progress, before)
      }
    } catch let error as SQLiteError {
      throw error.isInterrupted
        ? ProgressMeter.cancelled.at(path: path)
        : CoreDataError(sqlite: error, path: path, kind: .failed)
    } catch let error as CoreDataError {
      throw error.at(path: path)
    }
  }

  private static func repaired(
    _ path: String, _ options: RepairOptions, _ isCancelled: @escaping () -> Bool,
    _ progress: @escaping (MigrationProgress) -> Void,
    _ before: @escaping (StoreReplacement.CutoverStep) throws -> Void
  ) throws -> Repaired {
    let plan = try RepairPlan(of: path, options, isCancelled: isCancelled)
    var receipt = RepairReceipt(storePath: path, faults: plan.faults)
    guard !plan.faults.isEmpty else {
      receipt.left = plan.before.findings.filter(\.isLeft)
      if !options.isRehearsal, options.output == nil {
        receipt.notes = StoreMigration.cleanUp(after: path)
      }
      return Repaired(receipt: receipt, log: nil)
    }
    try DeletionGuard(plan: plan, options: options).check(isCancelled: isCancelled)
    let meter = ProgressMeter(isCancelled: isCancelled, report: progress)
    let log = try RepairLog(of: FileSystem.canonical(path))
    if RepairRoom.movesFilesAlone(plan.kinds), options.output == nil {
      return try tidy(path, options, &receipt, log)
    }
    let run = RepairRun(plan: plan, options: options, meter: meter, log: log)
    let done: RepairRun.Done
    do {
      done =
        options.isRehearsal
        ? try rehearse(run, path) : try replace(run, path, &receipt, before)
    } catch let nothing as RepairRun.Nothing {
      receipt.left = plan.before.findings.filter(\.isLeft)
      receipt.notes += nothing.notes
      return Repaired(receipt: receipt, log: nil)
    }
    receipt.left = done.verification.left
    receipt.verified = done.verification.verified
    receipt.uuid = done.verification.uuid
    receipt.notes += done.notes
    receipt.verificationSeconds += done.verificationSeconds
    receipt.kinds = done.kinds
    if !options.isRehearsal, receipt.orphanFolder == nil {
      // They are where they were. What is not in the receipt any more does no harm in the list.
      receipt.kinds.removeAll { $0.name == FindingKind.externalOrphaned.rawValue }
      try? log.forget(.externalOrphaned)
    }
    receipt.seconds = meter.elapsed
    return Repaired(receipt: receipt, log: run.log)
  }

  /// Files alone are moved aside: the store stays the file that it is.
  private static func tidy(
    _ path: String, _ options: RepairOptions, _ receipt: inout RepairReceipt, _ log: RepairLog
  ) throws -> Repaired {
    let target = FileSystem.canonical(path)
    let store = try Diagnosis.open(path, StoreFiles(path: target), model: options.model)
    let orphans = try OrphanedFiles(of: store, at: target)
    for change in orphans.changes { try log.add(change) }
    receipt.kinds = try log.kinds()
    if !options.isRehearsal {
      let done = try StoreReplacement(.repair, of: path).holdingStore { try orphans.move() }
      receipt.orphanFolder = done.result.folder
      receipt.notes = done.notes + done.result.notes
      if done.result.folder != nil {
        receipt.resultPath = path
        receipt.bytes = FileSystem.status(target)?.size ?? 0
      }
    }
    receipt.uuid = store.metadata.uuid
    return Repaired(receipt: receipt, log: log)
  }

  /// All of it on a private copy.
  private static func rehearse(_ run: RepairRun, _ path: String) throws -> RepairRun.Done {
    try StoreReplacement(.repair, of: path).refuseHindered()
    let folder = try PrivateFolder()
    return try withExtendedLifetime(folder) {
      try run.make(
        from: FileSystem.canonical(path),
        through: [folder.path + "/repaired", folder.path + "/repaired.next"]
      ).done
    }
  }

  private static func replace(
    _ run: RepairRun, _ path: String, _ receipt: inout RepairReceipt,
    _ before: @escaping (StoreReplacement.CutoverStep) throws -> Void
  ) throws -> RepairRun.Done {
    var replacement = StoreReplacement(.repair, of: path)
    replacement.output = run.options.output
    replacement.keepsBackup = run.options.keepsBackup
    replacement.before = before
    try replacement.refuseOutput()
    let place = FileSystem.parent(of: run.options.output ?? path) ?? "."
    try replacement.refuseSpace(
      needed: RepairRoom.bytesNeeded(for: run.plan.kinds, of: path),
      free: FileSystem.freeSpace(at: place))
    let outcome = try replacement.run(meter: run.meter) { work in
      var made = try run.make(from: work.storePath, through: work.temporaries)
      made.done.notes = work.recovered + made.done.notes
      return .init(file: made.file, result: made.done)
    } confirm: { _, _ in
      try run.meter.checkCancelled()
    }
    receipt.resultPath = run.options.output ?? path
    receipt.backupPath = outcome.backupPath
    receipt.checksums = (outcome.sum.sha256, outcome.backupSHA256)
    receipt.notes += outcome.notes
    receipt.verificationSeconds += outcome.sum.seconds
    receipt.bytes = FileSystem.status(outcome.target)?.size ?? 0
    receipt.orphanFolder = moveOrphans(run, outcome.target, &receipt.notes)
    return outcome.result
  }

  /// The store is in place: what cannot be moved now is no failure.
  private static func moveOrphans(
    _ run: RepairRun, _ target: String, _ notes: inout [String]
  ) -> String? {
    guard run.plan.kinds.contains(.externalOrphaned) else { return nil }
    do {
      let original = StoreFiles(path: FileSystem.canonical(run.plan.before.path))
      // Beside the original, its files are those of the output, too.
      guard
        target == original.path
          || StoreFiles(path: target).supportFolder
            != original.supportFolder
      else { return nil }
      let orphans = try OrphanedFiles(of: Store(path: target), at: target)
      let moved = try orphans.move()
      notes += moved.notes
      return moved.folder
    } catch {
      let error = CoreDataError(error, or: .failed)
      let path = error.path.map { " (\(FileSystem.name(of: $0)))" } ?? ""
      notes.append("Unreferenced files could not be moved aside: \(error.message)\(path).")
      return nil
    }
  }
}

extension Finding {
  /// Whether a repair reports it as left.
  var isLeft: Bool { severity != .note && kind != .interrupted }
}

/// One repair: a copy of the store, every fault mended in it, and a second look at the result.
struct RepairRun {
  let plan: RepairPlan
  let options: RepairOptions
  let meter: ProgressMeter
  let log: RepairLog

  /// Thrown where there is nothing after all that can be mended: the copy goes.
  struct Nothing: AbandonedWork {
    let notes: [String]
  }

  /// What was made and found right.
  struct Done {
    var verification: RepairVerification.Result
    var verificationSeconds: Double
    /// What was changed, by kind.
    var kinds: [RepairReceipt.Kind]
    var notes: [String]
  }

  /// - Parameters:
  ///   - storePath: the store itself, which is only read.
  ///   - temporaries: two paths that are free.
  func make(
    from storePath: String, through temporaries: [String]
  ) throws -> (file: NewFile, done: Done) {
    do {
      return try made(from: storePath, through: temporaries)
    } catch let error as SQLiteError where error.isDamage {
      let place = StorePlace(path: plan.before.path, model: options.modelName)
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "not repaired: SQLite cannot write the data into a sound file (\(error.message))",
        path: plan.before.path,
        advice: Remedy.salvage.command(for: .pageUnreadable, place).map { "What helps: \($0)" })
    }
  }

  private func made(
    from storePath: String, through temporaries: [String]
  ) throws -> (file: NewFile, done: Done) {
    let files = StoreFiles(path: storePath)
    let source = try Diagnosis.open(plan.before.path, files, model: model)
    return try source.stopping(when: { [meter] in meter.shouldStop }) {
      try source.inspect()
      let objects = try source.modelSource == .raw ? 0 : source.counts().values.reduce(0, +)
      let total = FileSystem.status(files.path)?.size ?? 0
      try meter.begin(
        step: 1, of: 1,
        parts: [
          .init(kind: .copy, title: "copy store", unit: .bytes, total: total),
          .init(kind: .edit, title: "mend", unit: .items, total: plan.kinds.count),
          .init(kind: .verify, title: "verify", unit: .rows, total: objects),
          .init(kind: .replace, title: "put in place", unit: .items, total: 1),
        ])
      var made = try RepairCopy(
        source: source, kinds: plan.kinds, meter: meter, temporaries: temporaries
      ).run()
      try mend(&made, source)
      guard try !log.isEmpty() else {
        throw Nothing(notes: made.notes)
      }
      try meter.begin(.verify)
      let start = meter.elapsed
      let verification = try RepairVerification(
        plan: plan, source: source, options: options, log: log, meter: meter
      ).run(made.path)
      return (
        made.file,
        Done(
          verification: verification, verificationSeconds: meter.elapsed - start,
          kinds: try log.kinds(), notes: made.notes + verification.notes)
      )
    }
  }

  /// The model that was given, unless the store has one of its own that is right.
  private var model: Model? {
    plan.before.modelSource == .file ? options.model : nil
  }

  private func mend(_ made: inout RepairCopy.Made, _ source: Store) throws {
    try meter.begin(.edit)
    let connection = made.connection
    var names = source.modelSource == .raw ? [:] : source.entityNames
    if source.modelSource != .raw {
      for (name, number) in source.schema.numbers { names[number] = name }
    }
    try log.attach(to: connection, names)
    let work = RepairWork(
      source: source, connection: connection, options: options, kinds: plan.kinds, meter: meter)
    for index in made.indexes {
      try work.note(
        RepairChange(
          kind: FindingKind.indexWrong.rawValue, entity: index.table, property: index.name,
          old: "did not match its table", new: "rebuilt"))
    }
    for kind in [FindingKind.freelist, .pointerMap] where plan.kinds.contains(kind) {
      try work.note(RepairChange(kind: kind.rawValue, new: "the file was rewritten"))
    }
    if plan.kinds.contains(.externalOrphaned) {
      let orphans = try OrphanedFiles(of: source, at: source.files.path)
      for change in orphans.changes { try work.note(change) }
    }
    let triggers = try TriggerMending(work)
    var broken: [String] = []
    let steps: [() throws -> Void] = [
      TableMending(work: work).run, BookkeepingMending(work: work).run, HistoryMending(work).run,
      EntityMending(work).run, { try UniquenessMending(work)?.run() },
      LinkMending(work).run, OneToOneMending(work).run, OrderMending(work).run,
      ExternalMending(work).run, JoinNameMending(work).run,
      ColumnNameMending(work: work).run,
      { broken += try MissingIndexMending(work: work).run() },
    ]
    for step in steps {
      try connection.transaction { try step() }
      try meter.checkCancelled()
    }
    made.notes += broken
    for index in made.later { try remake(index, &made) }
    try triggers.finish()
    try connection.execute("DETACH DATABASE log")
    if source.isLogged { try connection.closeAsLogged() } else { connection.close() }
  }

  /// An index that asks objects to differ.
  private func remake(
    _ index: (name: String, sql: String), _ made: inout RepairCopy.Made
  ) throws {
    do {
      try made.connection.create(.index, index.sql)
    } catch let error as SQLiteError where error.isConstraint {
      made.notes.append(RepairWork.brokenIndex(index.name))
    }
  }
}

import Files
import ManagedModel
import ManagedStore
import SQLite

/// One migration from the first look to the receipt.
struct MigrationRun {
  let plan: MigrationPlan
  let options: MigrationOptions
  /// Called before each step of the cut-over, for tests that let it fail or die there.
  var before: (StoreReplacement.CutoverStep) throws -> Void = { _ in }
  /// Runs after each step, before it is verified.
  var beforeVerification: (Connection) throws -> Void = { _ in }

  func run(
    isCancelled: @escaping () -> Bool, progress: @escaping (MigrationProgress) -> Void
  ) throws -> MigrationReceipt {
    try refuse()
    // Written elsewhere, the result is a copy.
    guard !plan.isNothingToDo || options.output != nil else {
      throw CoreDataError(
        .usage, "there is nothing to do: the store already has that model", path: plan.storePath)
    }
    var replacement = StoreReplacement(.migration, of: plan.storePath)
    replacement.output = options.output
    replacement.keepsBackup = options.keepsBackup
    replacement.backupSuffix = options.backupSuffix
    replacement.setsLogAside = plan.losses.contains(where: \.isOfLog)
    replacement.before = before
    let meter = ProgressMeter(isCancelled: isCancelled, report: progress)
    let outcome = try Connection.stoppingAll(when: isCancelled) {
      try put(replacement, meter)
    }
    var receipt = receipt(outcome.result, outcome.sum, target: outcome.target, meter: meter)
    receipt.notes += outcome.notes
    receipt.backupPath = outcome.backupPath
    receipt.backupSHA256 = outcome.backupSHA256
    return receipt
  }

  private func put(
    _ replacement: StoreReplacement, _ meter: ProgressMeter
  ) throws -> StoreReplacement.Outcome<StepSequence.Result> {
    try replacement.run(meter: meter) { work in
      let done = try StepSequence(
        plan: plan, meter: meter, recovered: work.recovered,
        beforeVerification: beforeVerification
      ).run(from: work.storePath, through: work.temporaries)
      guard let file = done.file else {
        throw CoreDataError(
          .failed, code: .migrationMissingMappingModel, "the plan has no step", path: plan.storePath
        )
      }
      return .init(file: file, result: done, sum: done.sum)
    } confirm: { made, sum in
      try confirm(made.result, sum, meter)
    }
  }

  /// Asks before the result gets its name; the time of the answer is not the migration's.
  private func confirm(
    _ done: StepSequence.Result, _ sum: StoreReplacement.Sum, _ meter: ProgressMeter
  ) throws {
    guard let confirmation = options.confirmation else { return try meter.checkCancelled() }
    let sofar = receipt(done, sum, target: done.path, meter: meter)
    let isConfirmed = meter.pausing { confirmation(sofar) }
    try meter.checkCancelled()
    guard isConfirmed else {
      throw CoreDataError(
        .cancelled, code: .migrationCancelled, "the result was discarded", path: plan.storePath,
        hint: "The store is unchanged.")
    }
  }

  private func receipt(
    _ done: StepSequence.Result, _ sum: StoreReplacement.Sum, target: String, meter: ProgressMeter
  ) -> MigrationReceipt {
    var receipt = MigrationReceipt(
      storePath: plan.storePath, resultPath: options.output ?? plan.storePath,
      from: plan.steps.first?.from ?? "", to: plan.steps.last?.to ?? "", strategy: plan.strategy,
      entities: done.report.entities, links: done.report.links, losses: plan.losses,
      verified: done.report.verified, uuid: done.metadata.uuid,
      checksum: plan.steps.last?.destination.versionChecksum ?? "", notes: plan.notes + done.notes,
      seconds: meter.elapsed, verificationSeconds: done.verificationSeconds + sum.seconds,
      bytes: FileSystem.status(target)?.size ?? 0, backupPath: nil, steps: plan.steps.count)
    receipt.externalData = done.externalData
    receipt.resultSHA256 = sum.sha256
    return receipt
  }

  private func refuse() throws {
    let losses = plan.unallowedLosses(options.allowedLosses)
    if let loss = losses.first {
      let count = plan.failures.count
      let others =
        count == 0
        ? ""
        : ". Even then the migration is refused: the data also fail \(count == 1 ? "a check" : "\(count) checks")."
      throw CoreDataError(
        .refused,
        "the migration would lose \(loss.values) \(loss.noun)"
          + (losses.count > 1
            ? ", and data in \(NumberText.counted(losses.count - 1, "other place"))"
            : ""),
        path: plan.storePath, entity: loss.isOfFile ? nil : loss.entity, property: loss.property,
        advice:
          "\(loss.suggestion.map { $0 + " " } ?? "")To accept: \(.allowedLosses, of: losses.map(\.name))\(others)"
      )
    }
    if let check = plan.failures.first {
      throw check.refusal(
        path: plan.storePath, advice: check.advice ?? "\(check.hint)")
    }
    var replacement = StoreReplacement(.migration, of: plan.storePath)
    replacement.output = options.output
    try replacement.refuseOutput()
    try replacement.refuseSpace(needed: plan.bytesNeeded, free: plan.bytesFree)
  }
}

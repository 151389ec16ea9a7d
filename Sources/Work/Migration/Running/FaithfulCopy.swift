import Files
import ManagedModel
import ManagedStore
import SQLite

/// A store that is of the wanted model already, copied to another file and compared.
struct FaithfulCopy {
  let plan: MigrationPlan
  let meter: ProgressMeter

  /// - Parameters:
  ///   - storePath: the store itself, which is only read.
  ///   - path: becomes the copy.
  func run(from storePath: String, into path: String) throws -> StepSequence.Result {
    let files = StoreFiles(path: storePath)
    guard let step = plan.steps.first else {
      throw CoreDataError(
        .failed, code: .migrationMissingMappingModel, "the plan has no step", path: plan.storePath)
    }
    let source = try Store(path: storePath, files: files, model: step.source)
    let parts: [MigrationProgress.Part] = [
      .init(kind: .copy, title: "copy store", unit: .bytes, total: plan.storeBytes),
      .init(
        kind: .verify, title: "verify", unit: .rows,
        total: try source.counts().values.reduce(0, +)),
      .init(kind: .replace, title: "put in place", unit: .items, total: 1),
    ]
    try meter.begin(step: 1, of: 1, parts: parts)
    // Its owner's only until it is put in place.
    let file = try FileSystem.createEmpty(path)
    try StepRun.clone(source, to: file, meter)
    if source.access != .immutable {
      try Connection(path: path, mode: .made).closeAsLogged()
    }
    try meter.begin(.verify)
    let start = meter.elapsed
    let copy = try Store(
      path: path, files: StoreFiles(path: path, externalDataOf: files), model: step.source)
    let report = try StoreVerification.compare(
      before: source, after: copy, mapping: step.mapping, isCancelled: { meter.shouldStop })
    try report.requireEqual(or: "a copy differs from its original")
    try copy.requireIdentity(
      of: source, hashes: source.metadata.versionHashes, what: "copy", plan.storePath)
    return StepSequence.Result(
      path: path, file: file, report: report, metadata: copy.metadata,
      verificationSeconds: meter.elapsed - start,
      notes: ["The store already had that model: this is a copy of it."],
      externalData: try copy.externalData())
  }
}

extension Store {
  /// That the store has the identity of what it was made of, and the hashes that it must have.
  func requireIdentity(
    of source: Store, hashes: [String: VersionHash], what: String, _ path: String
  ) throws {
    guard modelMatches, metadata.versionHashes == hashes, metadata.uuid == source.metadata.uuid
    else {
      throw CoreDataError(
        .failed, code: .migration,
        "verification failed: the \(what)'s version hashes or identity are not what they should be",
        path: path)
    }
  }
}

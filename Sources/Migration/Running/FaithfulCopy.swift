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
      .init(kind: .verify, title: "verify", unit: .rows, total: try rows(of: source)),
      .init(kind: .replace, title: "put in place", unit: .items, total: 1),
    ]
    try meter.begin(step: 1, of: 1, parts: parts)
    // Its owner's only until it is put in place.
    let file = try FileSystem.createEmpty(path)
    try StepRun.clone(source, to: path, meter)
    if source.access != .immutable { try Self.markAsLogged(path) }
    try meter.begin(.verify)
    let start = meter.elapsed
    let copy = try Store(
      path: path, files: StoreFiles(path: path, externalDataOf: files), model: step.source)
    let report = try StoreVerification.compare(
      before: source, after: copy, mapping: step.mapping,
      isCancelled: { meter.shouldStop })
    if let difference = report.differences.first {
      throw CoreDataError(
        .failed, code: .migration, "verification failed: \(difference.message)",
        path: plan.storePath, entity: difference.entity, property: difference.property,
        hint: "The store is as it was. Please report this: a copy is not what was copied.")
    }
    guard copy.metadata.uuid == source.metadata.uuid,
      copy.metadata.versionHashes == source.metadata.versionHashes
    else {
      throw CoreDataError(
        .failed, code: .migration,
        "verification failed: the copy's version hashes or identity are not what they should be",
        path: plan.storePath)
    }
    return StepSequence.Result(
      path: path, file: file, report: report, metadata: copy.metadata,
      verificationSeconds: meter.elapsed - start,
      notes: ["The store was of that model already: this is a copy of it."],
      externalData: try copy.externalData())
  }

  private func rows(of store: Store) throws -> Int { try store.counts().values.reduce(0, +) }

  /// Apple's stores say in their header that they are written through a -wal.
  private static func markAsLogged(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL")
    connection.close()
  }
}

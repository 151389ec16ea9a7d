import Files
import ManagedModel
import ManagedStore
import SQLite

/// One step from a store into a temporary file, carried out and verified.
struct StepRun {
  let step: MigrationStep
  let source: Store
  /// The destination model's own archive, where it came as one.
  let archive: [UInt8]?
  let policies: PolicyBindings
  let meter: ProgressMeter
  /// Runs between making and verifying; tests break the result here.
  var beforeVerification: (Connection) throws -> Void = { _ in }

  struct Result {
    var file: FileIdentity
    var report: VerificationReport
    var verificationSeconds: Double
  }

  func run(into path: String) throws -> Result {
    // Its owner's only until it is put in place: then those may read it who may read the store.
    let file = try FileSystem.createEmpty(path)
    let made = try StepMaking(
      step, from: source, into: path, archive: archive, policies: policies, meter: meter
    ) { [meter] in $0.onProgress { meter.shouldStop } }
    try made.run()
    let (connection, schemas) = (made.connection, made.completion.schemas)
    let start = meter.elapsed
    if made.policies != nil {
      try Validation(step: step, schemas: schemas, connection: connection).run()
    }
    try beforeVerification(connection)
    let report = try Verification(
      step: step, schemas: schemas, contents: made.contents, connection: connection, meter: meter,
      madeByPolicies: made.policies?.made ?? [:], policyMappings: step.policyMappings(policies),
      filePath: path, sourcePath: source.access == .immutable ? source.files.path : nil
    ).run()
    try report.requireEqual(or: "the migration did not do what it planned")
    try connection.execute("DETACH DATABASE src")
    try connection.closeAsLogged()
    return Result(file: file, report: report, verificationSeconds: meter.elapsed - start)
  }

  /// A copy of the file itself where nothing can be in a log; else one that SQLite makes.
  static func clone(_ source: Store, to path: String, _ meter: ProgressMeter) throws {
    try meter.begin(.copy)
    try source.connection.clone(source.files, readAs: source.access, to: path, meter)
  }
}

extension MigrationStep {
  /// Mappings (by name) that a Swift policy carries out.
  func policyMappings(_ policies: PolicyBindings) -> Set<String> {
    Set(mapping.entityMappings.filter { policies.type(for: $0) != nil }.map(\.name))
  }

  /// Whether all of it can be done as lightweight migration does it.
  func isInferredOnly(_ policies: PolicyBindings) -> Bool {
    mapping.kind == .inferred && policyMappings(policies).isEmpty
  }
}

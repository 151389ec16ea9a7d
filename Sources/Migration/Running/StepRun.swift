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
  /// Whether the result is to stay: it is brought to the disk while it is verified.
  var isToStay = false
  /// Runs between making and verifying; tests break the result here.
  var beforeVerification: (Connection) throws -> Void = { _ in }

  struct Result {
    var file: NewFile
    var report: VerificationReport
    var verificationSeconds: Double
    /// The sum of a result that is to stay.
    var sum: EarlySum?
  }

  func run(into path: String) throws -> Result {
    // Its owner's only until it is put in place: then those may read it who may read the store.
    let file = try FileSystem.createEmpty(path)
    let made = try StepMaking(
      step, from: source, into: file, archive: archive, policies: policies, meter: meter
    ) { [meter] in $0.onProgress { meter.shouldStop } }
    try made.run()
    let (connection, schemas) = (made.connection, made.completion.schemas)
    let start = meter.elapsed
    try beforeVerification(connection)
    try connection.markAsLogged()
    let sync = isToStay ? EarlySync(of: path) : nil
    let sum = isToStay ? EarlySum(of: path) : nil
    var isVerified = false
    defer { if !isVerified { sum?.stop() } }
    var facts: ReadFacts?
    let verification = Verification(
      step: step, schemas: schemas, contents: made.contents, connection: connection, meter: meter,
      madeByPolicies: made.policies?.made ?? [:], policyMappings: step.policyMappings(policies),
      filePath: path, sourcePath: source.wholeFile
    )
    let reason = "the migration did not do what it planned"
    let report: VerificationReport
    if made.policies == nil {
      report = try verification.run()
    } else {
      report = try verification.run(asking: schemas.destination.questions, &facts)
      // Where the file is not what it should be, its rows cannot be asked.
      if facts == nil { try report.requireEqual(or: reason) }
      try Validation(step: step, schemas: schemas, connection: connection, facts: facts).run()
    }
    try report.requireEqual(or: reason)
    try connection.execute("DETACH DATABASE src")
    // The disk shows an error only once.
    try sync?.wait()
    try connection.closeAsLogged()
    try file.requireName()
    isVerified = true
    return Result(
      file: file, report: report, verificationSeconds: meter.elapsed - start, sum: sum)
  }

  /// A copy of the file itself where nothing can be in a log; else one that SQLite makes.
  static func clone(_ source: Store, to file: NewFile, _ meter: ProgressMeter) throws {
    try meter.begin(.copy)
    try source.connection.clone(source.files, readAs: source.access, to: file, meter)
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

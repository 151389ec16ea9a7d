import Files
import ManagedModel
import ManagedStore
import SQLite

/// A step laid out on a connection to its result, which is made as the strategy says; verifying it is
/// another matter.
struct StepMaking {
  let completion: StepCompletion
  let contents: MigratedContents
  /// Runs the mappings that are carried out object by object.
  let policies: PolicyRun?

  var connection: Connection { completion.connection }

  /// Clones the store or prepares a new file, and lays the step out.
  ///
  /// - Parameters:
  ///   - source: what is read.
  ///   - decisive: the store whose rows decide what rows decide, where the source has none.
  ///   - archive: the destination model's own archive, where it came as one.
  ///   - file: an empty file that was made for it.
  ///   - attached: called when the source is attached, before anything is made.
  init(
    _ step: MigrationStep, from source: Store, decidedBy decisive: Store? = nil, into file: NewFile,
    archive: [UInt8]?, policies bindings: PolicyBindings, meter: ProgressMeter,
    attached: (Connection) -> Void
  ) throws {
    if step.strategy == .inPlace { try StepRun.clone(source, to: file, meter) }
    // No journal, and indexes get other names through the schema table: not defensive.
    let connection = try Connection(path: file.path, mode: .made, isDefensive: false)
    // The code of a policy may make any value; SQL makes none that is longer than the store.
    if step.policyMappings(bindings).isEmpty { connection.limitValues() }
    if step.strategy == .copy { try CopyingMigration.prepare(connection, like: source) }
    try connection.attachSource(source, functionsOf: decisive)
    attached(connection)
    var schemas = StepSchemas(store: decisive ?? source, step: step)
    if step.strategy == .inPlace || step.isInferredOnly(bindings) {
      contents = MigratedContents(schemas)
      policies = nil
    } else {
      let mapped = try MappingLayout(
        schemas, connection: connection, policies: step.policyMappings(bindings))
      schemas.renumbered = mapped.renumbered
      contents = MigratedContents(mapped)
      policies = try PolicyRun(mapped, bindings: bindings, connection: connection, meter: meter)
    }
    var completion = StepCompletion(
      step: step, schemas: schemas, connection: connection, meter: meter, archive: archive)
    completion.isByPolicies = !step.policyMappings(bindings).isEmpty
    self.completion = completion
  }

  /// Makes the result.
  func run() throws {
    switch completion.step.strategy {
    case .inPlace: try InPlaceMigration(completion: completion, contents: contents).run()
    case .copy:
      try CopyingMigration(completion: completion, contents: contents, policies: policies).run()
    }
  }
}

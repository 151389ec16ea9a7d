import ManagedModel
import ManagedStore
import SQLite

/// Makes the result of one step as its strategy says; verifying it is another matter.
struct StepMaking {
  let step: MigrationStep
  /// What is read.
  let source: Store
  /// The store whose rows decide what rows decide; the source, unless that has none.
  let decisive: Store
  /// The destination model's own archive, where it came as one.
  let archive: [UInt8]?
  let policies: PolicyBindings
  let meter: ProgressMeter

  struct Made {
    let connection: Connection
    let schemas: StepSchemas
    let contents: MigratedContents
    let policies: PolicyRun?
  }

  /// - Parameters:
  ///   - path: an empty file.
  ///   - attached: called when the source is attached, before anything is made.
  func run(into path: String, attached: (Connection) -> Void) throws -> Made {
    if step.strategy == .inPlace { try StepRun.clone(source, to: path, meter) }
    let connection = try Connection(path: path, mode: .readWrite)
    try MigrationFunctions.define(on: connection, store: decisive)
    if step.strategy == .copy { try CopyingMigration.prepare(connection, like: source) }
    try connection.attach(source.connection, as: "src")
    attached(connection)
    var schemas = StepSchemas(store: decisive, step: step)
    let contents: MigratedContents
    var run: PolicyRun?
    if step.strategy == .inPlace || step.isInferredOnly(policies) {
      contents = MigratedContents(schemas)
    } else {
      let mapped = try MappingLayout(
        schemas, connection: connection, policies: step.policyMappings(policies))
      schemas.renumbered = mapped.renumbered
      contents = MigratedContents(mapped)
      run = try PolicyRun(mapped, bindings: policies, connection: connection, meter: meter)
    }
    let shared = InPlaceMigration(
      step: step, schemas: schemas, connection: connection, meter: meter, archive: archive)
    switch step.strategy {
    case .inPlace: try shared.run()
    case .copy: try CopyingMigration(shared: shared, contents: contents, policies: run).run()
    }
    return Made(connection: connection, schemas: schemas, contents: contents, policies: run)
  }
}

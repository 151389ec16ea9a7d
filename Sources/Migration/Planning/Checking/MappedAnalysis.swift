import ManagedModel
import ManagedStore
import SQLite

/// What a mapping model, a recipe or a policy would do to a store: losses, checks, first rows.
struct MappedAnalysis {
  let step: MigrationStep
  let store: Store
  let schemas: StepSchemas
  let mapped: MappingLayout
  /// Its links by declaring entity and relationship, and its rows by table: each relationship asks for them.
  let links: [[String]: [LinkProgram]]
  let rows: [String: [RowProgram]]
  /// What the links of one-to-ones come to; `nil` where policies take part, which nobody can foretell.
  let planned: PlannedPairs?
  let connection: Connection
  let data: SourceData

  /// Compiles everything against the store, in a scratch database.
  ///
  /// - Throws: ``CoreDataError``: 134170 for a policy class that nothing stands in for, usage for an
  ///   expression that does not compile.
  init(
    step: MigrationStep, store: Store, policies: PolicyBindings,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    self.step = step
    self.store = store
    for entityMapping in step.mapping.entityMappings {
      guard let policy = entityMapping.policy, policies.type(for: entityMapping) == nil else {
        continue
      }
      throw CoreDataError(
        .refused, code: .entityMigrationPolicy,
        "the mapping “\(entityMapping.name)” is carried out by the class \(policy), which is in the app",
        path: store.path, entity: entityMapping.destination ?? entityMapping.source,
        advice:
          "Say what it does in a recipe, under policies: { \"\(policy)\": … }, and give that with \(.documents); or bind a Swift EntityMigrationPolicy to its name."
      )
    }
    connection = try .scratch(over: store, isCancelled: isCancelled)
    schemas = StepSchemas(store: store, step: step)
    mapped = try MappingLayout(
      schemas, connection: connection, policies: step.policyMappings(policies))
    links = Dictionary(grouping: mapped.links) { [$0.entity, $0.relationship] }
    rows = Dictionary(grouping: mapped.rows, by: \.table)
    data = SourceData(store: store)
    planned =
      mapped.policyMappings.isEmpty && !schemas.loose.isEmpty
      ? try PlannedPairs(
        schemas.loose, links: PlannedPairs.ordered(mapped.links, by: step.mapping),
        connection: connection) : nil
  }

  /// Things to know that are neither losses nor failures.
  var notes: [String] {
    var notes: [String] = []
    for entityMapping in step.mapping.entityMappings {
      guard let from = entityMapping.source else { continue }
      if let to = entityMapping.destination,
        mapped.keys[entityMapping.name].map({ $0.distance != 0 }) == true,
        step.rows[entityMapping.name] ?? 0 > 0
      {
        notes.append(
          "Objects of \(from) get new keys as \(to): what refers to them by key outside the store (object URIs, history, CloudKit) no longer finds them."
        )
      }
      if mapped.isPolicy(entityMapping) {
        notes.append(
          "A Swift policy decides what becomes of \(from) (\(entityMapping.name)): what it leaves out is not known in advance."
        )
      }
    }
    return notes
  }
}

import ManagedModel
import ManagedStore
import Migration

extension Store {
  /// The plan of a migration to a model that no file has, from the store's own or `source`.
  public func plan(
    to destination: Model, names: (from: String, to: String), source: Model? = nil,
    archive: [UInt8]? = nil, output: String? = nil, through versions: ModelVersions? = nil,
    documents: MappingDocuments = MappingDocuments(), policies: PolicyBindings = PolicyBindings(),
    strategy: MigrationPlan.Strategy? = nil
  ) throws -> MigrationPlan {
    try StoreMigration.plan(
      self,
      request(
        to: destination, names: names, source: source, archive: archive, output: output,
        through: versions, documents: documents, policies: policies, strategy: strategy))
  }

  /// What ``plan(to:names:source:archive:output:through:documents:policies:strategy:)`` asks for.
  public func request(
    to destination: Model, names: (from: String, to: String), source: Model? = nil,
    archive: [UInt8]? = nil, output: String? = nil, through versions: ModelVersions? = nil,
    documents: MappingDocuments = MappingDocuments(), policies: PolicyBindings = PolicyBindings(),
    strategy: MigrationPlan.Strategy? = nil
  ) -> MigrationRequest {
    var request = MigrationRequest(
      to: .init(model: destination, name: names.to, path: "", archive: archive))
    request.source = .init(model: source ?? wholeModel, name: names.from, path: "")
    request.versions = versions
    request.documents = documents
    request.policies = policies
    request.strategy = strategy
    request.output = output
    return request
  }

  /// The plan of steps that a test made.
  public func plan(
    steps: [MigrationStep], output: String? = nil, policies: PolicyBindings = PolicyBindings(),
    strategy: MigrationPlan.Strategy? = nil,
    isCancelled: @escaping () -> Bool = { false }
  ) throws -> MigrationPlan {
    var request = MigrationRequest(
      steps: steps,
      to: .init(model: steps.last?.destination ?? model, name: steps.last?.to ?? "", path: ""))
    request.policies = policies
    request.strategy = strategy
    request.output = output
    return try StoreMigration.plan(self, request, isCancelled: isCancelled)
  }

  /// The plan of what the stages that the store has before it do.
  public func plan(stages: StagedMigration, to destination: Model? = nil) throws -> MigrationPlan {
    try StoreMigration.plan(self, MigrationRequest(stages: stages, to: destination))
  }
}

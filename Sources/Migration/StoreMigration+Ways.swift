import ManagedModel
import ManagedStore

extension StoreMigration {
  /// Finds out what migrating a store would do, by the mappings that are written down and through
  /// the versions that lie between; writes nothing beside the store.
  ///
  /// - Parameters:
  ///   - names: what to call the two ends.
  ///   - source: the version of the app's model that made the store, where it is at hand.
  ///   - versions: the versions to go through; `nil` goes straight.
  ///   - documents: mapping models and recipes; each is used for the pair it is for.
  ///   - policies: Swift policies for the classes, or the entity mappings, that the mappings name.
  ///   - strategy: how to carry inferred steps out; `nil` takes what costs less.
  ///   - isCancelled: asked now and then, also within long SQL statements.
  /// - Throws: ``CoreDataError``: 134140 where there is no way, 134130 where the store's version is
  ///   unknown, 134170 for a policy that nothing stands in for, 134120 when cancelled.
  public static func plan(
    _ store: Store, to destination: Model, names: (from: String, to: String),
    source given: Model? = nil, archive: [UInt8]? = nil, output: String? = nil,
    through versions: ModelVersions?, documents: MappingDocuments = MappingDocuments(),
    policies: PolicyBindings = PolicyBindings(), strategy: MigrationPlan.Strategy? = nil,
    isCancelled: @escaping () -> Bool = { false }
  ) throws -> MigrationPlan {
    let source = given ?? store.model
    try refuseUnknownModel(of: store)
    let path = try way(
      from: source, to: destination, names: names, through: versions, documents: documents)
    return try plan(
      store,
      steps: path.steps.map {
        MigrationPlan.Step(
          from: $0.from, to: $0.to, source: $0.source, destination: $0.destination,
          mapping: $0.mapping, rows: [:])
      }, archive: archive, output: output, policies: policies, strategy: strategy,
      isCancelled: isCancelled)
  }

  /// The steps from one version to another.
  ///
  /// - Throws: ``CoreDataError`` 134140 where no way leads there, 134190 where one pair cannot be inferred.
  public static func way(
    from source: Model, to destination: Model, names: (from: String, to: String),
    through versions: ModelVersions?, documents: MappingDocuments
  ) throws -> MigrationPath {
    let ends = ModelVersions([
      .init(name: names.from, model: source), .init(name: names.to, model: destination),
    ])
    let path: MigrationPath
    do {
      path = try MigrationPath.find(
        from: source, to: destination, names: names, through: versions ?? ends,
        custom: { try documents.mapping(from: $0, to: $1, names: $2) })
    } catch let error as CoreDataError {
      if versions == nil, error.code == 134140,
        let misfit = documents.misfit(
          from: source, to: destination, names: names)
      {
        throw misfit
      }
      throw error
    }
    let isWritten = path.steps.contains {
      $0.mapping.kind == .mapping || $0.mapping.kind == .recipe
    }
    let isNothing = path.steps.allSatisfy { $0.mapping.kind == .none }
    if !isWritten, !isNothing,
      let misfit = documents.misfit(from: source, to: destination, names: names)
    {
      throw misfit
    }
    return path
  }
}

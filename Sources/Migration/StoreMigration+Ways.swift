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
    let path = try way(
      of: store, source: given, to: destination, names: names, through: versions,
      documents: documents)
    var steps = path.steps.map {
      MigrationPlan.Step(
        from: $0.from, to: $0.to, source: $0.source, destination: $0.destination,
        mapping: $0.mapping, rows: [:])
    }
    // The way's last model is a part; the store gets the whole one.
    if let last = steps.indices.last { steps[last].destination = destination }
    return try plan(
      store, steps: steps, archive: archive, output: output, policies: policies,
      strategy: strategy, isCancelled: isCancelled)
  }

  /// The steps that lead a store to a version of the model: of its configuration, where it has one.
  ///
  /// - Parameter given: the version of the app's model that made the store, where it is at hand; one
  ///   whose hashes are not the store's is ignored.
  /// - Throws: ``CoreDataError``: 134130 where the store's version is unknown; as the way between two
  ///   models does.
  public static func way(
    of store: Store, source given: Model? = nil, to destination: Model,
    names: (from: String, to: String), through versions: ModelVersions?,
    documents: MappingDocuments
  ) throws -> MigrationPath {
    try refuseUnknownModel(of: store)
    let source = store.source(given: given)
    do {
      return try way(
        from: source, to: destination, names: names, through: versions, documents: documents,
        of: store.part)
    } catch let error as CoreDataError {
      // Where it is about a document or a bundle, it says so already.
      throw error.path == nil ? error.at(path: store.path) : error
    }
  }

  /// The steps from one version to another.
  ///
  /// - Throws: ``CoreDataError`` 134140 where no way leads there, 134190 where one pair cannot be inferred.
  public static func way(
    from source: Model, to destination: Model, names: (from: String, to: String),
    through versions: ModelVersions?, documents: MappingDocuments
  ) throws -> MigrationPath {
    try way(
      from: source, to: destination, names: names, through: versions, documents: documents,
      of: StorePart(configuration: nil))
  }

  private static func way(
    from source: Model, to destination: Model, names: (from: String, to: String),
    through versions: ModelVersions?, documents: MappingDocuments, of part: StorePart
  ) throws -> MigrationPath {
    let (before, after) = (part.model(source), part.model(destination))
    // Straight, with nothing written down: what cannot be inferred is said by itself.
    if versions == nil, documents.isEmpty {
      return MigrationPath(steps: [
        .init(
          from: names.from, to: names.to, source: before, destination: after,
          mapping: try MappingInference.mapping(from: before, to: after))
      ])
    }
    let ends = ModelVersions([
      .init(name: names.from, model: before), .init(name: names.to, model: after),
    ])
    // Mappings are written for whole models.
    var wholes = Dictionary((versions?.versions ?? []).map { ($0.name, $0.model) }) { $1 }
    wholes[names.to] = destination
    wholes[names.from] = source
    let path: MigrationPath
    do {
      path = try MigrationPath.find(
        from: before, to: after, names: names, through: versions.map(part.versions) ?? ends,
        custom: { one, other, names in
          let (whole, next) = (wholes[names.from] ?? one, wholes[names.to] ?? other)
          return try documents.mapping(from: whole, to: next, names: names)
            .map { part.mapping($0, from: whole, to: next) }
        })
    } catch let error as CoreDataError {
      if versions == nil, error.code == 134140,
        let misfit = documents.misfit(from: source, to: destination, names: names)
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

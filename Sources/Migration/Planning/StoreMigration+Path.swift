import ManagedModel
import ManagedStore

extension StoreMigration {
  /// The steps that lead a store where a request asks, cut down to the store's configuration where it
  /// is of one.
  ///
  /// - Throws: ``CoreDataError``: 134130 where the store's version is unknown, 134140 where no path
  ///   leads there, 134190 where a step cannot be inferred; of stages 134504 where none knows the
  ///   store's version, 134505 for a store of another framework generation, 134506 where the store is
  ///   further than the destination.
  public static func path(of store: Store, _ request: MigrationRequest) throws -> MigrationPath {
    var path = try wholePath(of: store, request)
    path.steps = path.steps.map { $0.evaluatingDefaults() }
    return path
  }

  private static func wholePath(
    of store: Store, _ request: MigrationRequest
  ) throws -> MigrationPath {
    let part = store.part
    do {
      switch request.course {
      case .steps(let steps): return MigrationPath(steps: steps.map(part.step))
      case .stages(let stages):
        let steps = try stages.steps(from: store, to: request.destination.model)
        try refuseUnknownModel(of: store)
        return MigrationPath(steps: steps.map(part.step))
      case .found:
        try refuseUnknownModel(of: store)
        return try path(from: request.source(of: store), of: part, request)
      }
    } catch let error as CoreDataError {
      // Where it is about a document or a bundle, it says so already.
      throw error.at(path: store.path)
    }
  }

  private static func path(
    from source: (model: Model, name: String), of part: StorePart, _ request: MigrationRequest
  ) throws -> MigrationPath {
    let (documents, destination) = (request.documents, request.destination.model)
    let names = (from: source.name, to: request.destination.name)
    let (before, after) = (part.model(source.model), part.model(destination))
    // Straight, with nothing written down: what cannot be inferred is said by itself.
    if request.versions == nil, documents.isEmpty {
      return MigrationPath(steps: [
        MigrationStep(
          from: names.from, to: names.to, source: before, destination: after,
          mapping: try MappingInference.mapping(from: before, to: after))
      ])
    }
    let versions =
      request.versions.map(part.versions)
      ?? ModelVersions([
        .init(name: names.from, model: before), .init(name: names.to, model: after),
      ])
    // Mappings are written for whole models.
    var wholes = Dictionary((request.versions?.versions ?? []).map { ($0.name, $0.model) }) { $1 }
    wholes[names.to] = destination
    wholes[names.from] = source.model
    var misfit: CoreDataError? {
      documents.misfit(from: source.model, to: destination, names: names)
    }
    let path: MigrationPath
    do {
      path = try MigrationPath.find(
        from: before, to: after, names: names, through: versions,
        custom: { one, other, names in
          let (whole, next) = (wholes[names.from] ?? one, wholes[names.to] ?? other)
          return try documents.mapping(from: whole, to: next, names: names)
            .map { part.mapping($0, from: whole, to: next) }
        })
    } catch let error as CoreDataError {
      guard request.versions == nil, error.code == .migrationMissingMappingModel, let misfit else {
        throw error
      }
      throw misfit
    }
    let kinds = Set(path.steps.map(\.mapping.kind))
    if kinds.isDisjoint(with: [.mapping, .recipe]), kinds != [.none], let misfit { throw misfit }
    return path
  }

  static func refuseUnknownModel(of store: Store) throws {
    guard store.modelSource != .raw else {
      // What the store has lost is the likelier reason.
      if let gap = store.gaps.first {
        throw CoreDataError(
          .refused, code: .migrationMissingSourceModel, "the store's model was lost: \(gap)",
          path: store.path,
          advice: "Salvage the store first, or give its model with \(.source, "MODEL").")
      }
      throw CoreDataError(
        .refused, code: .migrationMissingSourceModel,
        "the store has no model in it, and none was found beside it",
        path: store.path, advice: "Give the one that made it with \(.source, "MODEL").")
    }
    guard store.modelMatches else {
      throw CoreDataError(
        .refused, code: .migrationMissingSourceModel,
        "the source model is not the one that made the store",
        path: store.path, advice: "Give the right one with \(.source, "MODEL").")
    }
  }
}

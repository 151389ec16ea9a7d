import ManagedModel
import ManagedStore
import Mapping
import ModelSearch

/// What a store is to become, and what it is based on.
///
///     var request = MigrationRequest(to: try ModelReference("App.xcdatamodeld@App 3").load())
///     request.documents = try MappingDocuments(paths: ["App 2 to 3.cdm"])
///     let plan = try StoreMigration.plan(store, request)
public struct MigrationRequest: Sendable {
  /// What references the destination.
  enum Course: Sendable {
    /// What is written down or can be inferred: straight, or through versions.
    case found
    case stages(StagedMigration)
    case steps([MigrationStep])
  }

  /// The whole model to migrate to, whatever part of it the store keeps; its archive, where it came
  /// as one, goes into the store as it is.
  public let destination: ModelReference.Loaded
  /// The version of the app's model that made the store: its renaming identifiers, which no hash
  /// shows and the model in the store may lack, say what is what.
  ///
  /// `nil`, or one whose hashes are not the store's: it is looked for among ``versions``, in the
  /// destination's bundle and in those that lie beside the store.
  public var source: ModelReference.Loaded?
  /// The versions to go through; `nil` goes straight.
  public var versions: ModelVersions?
  /// Mapping models and recipes; each is used for the pair of versions that it is for.
  public var documents = MappingDocuments()
  /// Swift policies for the classes, or the entity mappings, that the mappings name.
  public var policies = PolicyBindings()
  /// How inferred steps are carried out; `nil` takes what costs less.
  public var strategy: MigrationPlan.Strategy?
  /// Where the result is to go, for the check of free space; `nil`: in the place of the store.
  public var output: String?
  /// Where the store came from, for one that was copied: models lie beside it there.
  public var origin: String?
  let course: Course

  /// Asks for a version of the model.
  public init(to destination: ModelReference.Loaded) {
    self.destination = destination
    course = .found
  }

  /// Asks for what the stages that a store has before it do.
  ///
  /// What a handler may change is checked when it has run: such rules are remarks in the plan, and a
  /// row that still breaks one then is refused with its code. Losses are reported as the data are now.
  ///
  /// - Parameters:
  ///   - stages: all stages of the app.
  ///   - destination: the version to stop at; `nil` goes to the last.
  public init(stages: StagedMigration, to destination: Model? = nil) {
    self.destination = stages.destination(destination)
    course = .stages(stages)
  }

  /// Asks for steps that are known, the first from the store's own model.
  ///
  /// - Parameter destination: the last step's model, with its archive where it came as one.
  public init(steps: [MigrationStep], to destination: ModelReference.Loaded) {
    self.destination = destination
    course = .steps(steps)
  }

  /// The version that made a store, and what to call it.
  func source(of store: Store) -> (model: Model, name: String) {
    if let source, store.isMade(by: source.model) { return (source.model, source.name) }
    let (hashes, place) = (store.metadata.versionHashes, origin ?? store.path)
    let found =
      versions?.versions(making: hashes).last.map { ($0.model, $0.name) }
      ?? ModelBundle.version(in: ModelReference(destination.path).path, making: hashes)
      ?? ModelBundle.version(besideStore: place, making: hashes)
    let name =
      found?.1
      ?? Model.versionName(identifiers: store.metadata.versionIdentifiers, hashes: hashes)
    // One that the store was opened with was chosen.
    guard store.modelSource == .store, let model = found?.0, store.isMade(by: model) else {
      return (store.wholeModel, name)
    }
    return (model, name)
  }
}

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
    var wholes = Dictionary(
      (request.versions?.versions ?? []).map { ($0.name, (model: $0.model, hashes: $0.hashes)) }
    ) { $1 }
    wholes[names.to] = (destination, destination.versionHashes)
    wholes[names.from] = (source.model, source.model.versionHashes)
    let ends = DocumentEnds(of: documents, among: wholes)
    var misfit: CoreDataError? {
      documents.misfit(from: source.model, to: destination, names: names)
    }
    let path: MigrationPath
    do {
      path = try MigrationPath.find(
        from: before, to: after, names: names, through: versions,
        custom: { one, other, names in
          guard ends.canLead(from: names.from, to: names.to) else { return nil }
          let (whole, next) = (
            wholes[names.from]?.model ?? one, wholes[names.to]?.model ?? other
          )
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
      if let gap = store.rowGaps.first {
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

/// The part of an app's models that one store keeps: the entities of its configuration.
///
/// Every way of planning goes through here, since a store that was added for one configuration has
/// tables and hashes of that configuration's entities only, whatever the models have besides.
struct StorePart: Sendable {
  /// `nil` where the store is of whole models.
  let configuration: String?

  /// A version of the model, cut down to the configuration where it has one of that name.
  func model(_ whole: Model) -> Model {
    configuration.flatMap { whole.restricted(to: $0) } ?? whole
  }

  /// The versions of the model, each cut down.
  func versions(_ whole: ModelVersions) -> ModelVersions {
    guard configuration != nil else { return whole }
    return ModelVersions(
      whole.versions.map {
        ModelVersions.Version(
          name: $0.name, model: model($0.model), path: $0.path, archive: $0.archive)
      }, unreadable: whole.unreadable, path: whole.path)
  }

  /// What a mapping between whole models does to the part of a store.
  ///
  /// Objects that would become objects of an entity outside go, and are reported as a loss; what comes
  /// of objects outside stays away.
  func mapping(_ whole: MappingModel, from source: Model, to destination: Model) -> MappingModel {
    guard configuration != nil, whole.kind != .none else { return whole }
    let (before, after) = (self.model(source), self.model(destination))
    var part = whole
    part.entityMappings = whole.entityMappings.compactMap { entityMapping in
      var own = entityMapping
      if let from = own.source, before.entity(named: from) == nil {
        guard let to = own.destination, after.entity(named: to) != nil else { return nil }
        return EntityMapping(name: own.name, kind: .add, source: nil, destination: to)
      }
      guard let to = own.destination, after.entity(named: to) == nil else { return own }
      guard own.source != nil else { return nil }
      own.kind = .remove
      own.destination = nil
      (own.attributes, own.relationships, own.children) = ([], [], [])
      return own
    }
    func making(_ mapping: MappingModel) -> Set<String> {
      Set(mapping.entityMappings.filter { $0.source != nil && $0.destination != nil }.map(\.name))
    }
    let gone = making(whole).subtracting(making(part))
    for index in part.entityMappings.indices {
      for place in part.entityMappings[index].relationships.indices {
        let through = part.entityMappings[index].relationships[place].through
        // No relationship leads from one store to another.
        guard let through, gone.contains(through) else { continue }
        let name = part.entityMappings[index].relationships[place].name
        part.entityMappings[index].relationships[place] = RelationshipMapping(
          name: name, source: nil)
      }
    }
    return MappingModel(
      kind: part.kind, entityMappings: part.entityMappings, userInfo: part.userInfo)
  }

  /// A step of the store; of kind none where nothing that the store keeps changes.
  func step(_ whole: MigrationStep) -> MigrationStep {
    guard configuration != nil else { return whole }
    var step = whole
    step.source = model(whole.source)
    step.destination = model(whole.destination)
    step.mapping =
      step.source.versionHashes == step.destination.versionHashes && whole.handlers == nil
      ? MappingModel(kind: .none, entityMappings: [])
      : mapping(whole.mapping, from: whole.source, to: whole.destination)
    return step
  }
}

extension Store {
  /// What of an app's models the store keeps.
  var part: StorePart { StorePart(configuration: configuration) }

  /// Whether a whole version of an app's model made the store.
  func isMade(by model: Model) -> Bool {
    let hashes = metadata.versionHashes
    return model.versionHashes == hashes || part.model(model).versionHashes == hashes
  }
}

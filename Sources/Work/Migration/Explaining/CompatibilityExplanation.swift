import ManagedStore
import Mapping
import ModelWriting

/// Whether a store opens with a model as Core Data decides it, and if not, what moved each hash.
public struct CompatibilityExplanation: Sendable {
  /// What lightweight migration would make of it.
  public enum Inference: Sendable, Equatable {
    /// The store opens with the model as it is.
    case notNeeded
    /// A mapping can be inferred; whether the data allow it is for a plan to say.
    case possible
    /// The first 134190 that says which property stands in the way.
    case refused(CoreDataError)
    /// The store's own model is not known, so that nothing can be compared.
    case unknown
  }

  /// What happened to one entity's hash.
  public struct EntityReason: Sendable, Equatable {
    /// What is wrong with an entity.
    public enum Problem: String, Sendable {
      /// The model has the entity, the store does not.
      case missingInStore
      /// The store has the entity, the model does not.
      case missingInModel
      /// Both have it, with different hashes.
      case differing
    }

    /// The entity's name, on the side that has it.
    public var entity: String
    /// Why it does not fit.
    public var problem: Problem
    /// The hash in the store's metadata; `nil` where the store does not have the entity.
    public var storeHash: VersionHash?
    /// The model's hash; `nil` where the model does not have the entity.
    public var modelHash: VersionHash?
    /// The changes that moved it, as the difference of the two models has them; empty where the
    /// store's own model is not known.
    public var changes: [PropertyChange]
  }

  /// Core Data's verdict, for the configuration named by ``configuration``.
  public let compatibility: Compatibility
  /// The configuration that the store is compatible with; `nil` for the whole model.
  public let configuration: String?
  /// Entities that do not fit, by name.
  public let reasons: [EntityReason]
  /// Whether lightweight migration could bring the store to the model.
  public let inference: Inference
  /// Each change for which no mapping can be inferred, in the order they are met.
  public private(set) var refusals: [CoreDataError] = []
  /// What strata carries out and the app's own migration refuses or loses, as sentences.
  public let caveats: [String]
  /// What the rows and the tables of the store break, as a plan of the migration shows it; empty before
  /// ``ask(_:source:model:)``.
  public private(set) var checks: [DataCheck] = []
  /// Why no plan could be made, where the models allow one.
  public private(set) var refusal: CoreDataError?
  /// Entities of the model whose hash rule was not checked against Apple's, with the reason.
  public let unverified: [String: String]

  /// Whether Core Data would open the store with the model, or with one of its configurations.
  public var isCompatible: Bool { compatibility.isCompatible }

  /// Whether the store opens with the model, after lightweight migration where that is needed: as far as
  /// the models show it, and ``ask(_:source:model:)`` what is in the store. `nil` where the store's own model
  /// is not known.
  public var isCarried: Bool? {
    switch inference {
    case .notNeeded, .possible: refusal == nil && checks.allSatisfy(\.isWarning)
    case .refused: false
    case .unknown: nil
    }
  }

  /// Looks into the store, where the models alone say that it opens or can be migrated: asks what a plan asks.
  ///
  /// - Parameters:
  ///   - source: the store's own model.
  ///   - model: what it is to be opened with.
  public mutating func ask(_ store: Store, source: Model, model: Model) {
    guard isCarried == true else { return }
    let (before, after) = (store.part.model(source), store.part.model(model))
    do {
      let mapping =
        inference == .notNeeded
        ? MappingModel(kind: .none, entityMappings: [])
        : try MappingInference.mapping(from: before, to: after)
      let step = MigrationStep(
        from: "", to: "", source: before, destination: after, mapping: mapping)
      let plan = try StoreMigration.plan(
        store, MigrationRequest(steps: [step], to: .init(model: model, name: "", path: "")))
      checks = plan.checks + DriftAnalysis(store: store).names()
    } catch {
      refusal = CoreDataError(error, or: .failed).at(path: store.path)
    }
  }

  /// - Parameters:
  ///   - hashes: what the store's metadata states.
  ///   - source: the store's own model, where it is known.
  ///   - configured: the configuration that the store is of: the model's of that name is looked at.
  ///   - isMirrored: whether the store is mirrored to CloudKit.
  public init(
    hashes: [String: VersionHash], source: Model?, model given: Model, of configured: String? = nil,
    isMirrored: Bool = false
  ) {
    let part = StorePart(configuration: configured)
    let (model, source) = (part.model(given), source.map(part.model))
    let whole = Compatibility(storeHashes: hashes, model: model)
    // Core Data compares the entities of the configuration that the store is opened with.
    let fitting =
      whole.isCompatible
      ? nil
      : model.configurations.keys.sorted().first {
        Compatibility(storeHashes: hashes, model: model, configuration: $0).isCompatible
      }
    configuration = fitting ?? (model == given ? nil : configured)
    compatibility =
      fitting.map { Compatibility(storeHashes: hashes, model: model, configuration: $0) } ?? whole
    unverified = model.unverifiedVersionHashes
    guard !compatibility.isCompatible else {
      (reasons, inference, caveats) = ([], .notNeeded, [])
      return
    }
    let difference = source.map { ModelDifference(from: $0, to: model) }
    let defaults = (difference?.changed ?? []).flatMap { entity in
      entity.changes.compactMap { change -> String? in
        guard case .added = change.kind, let name = change.property else { return nil }
        return entity.destination?.attribute(named: name)?.evaluatedDefault?.sentence(
          of: "\(entity.name).\(name)", rows: nil)
      }
    }
    let modelHashes = model.versionHashes
    let problems =
      whole.missingInStore.map { ($0, EntityReason.Problem.missingInStore) }
      + whole.missingInModel.map { ($0, .missingInModel) }
      + whole.differing.map { ($0, .differing) }
    reasons = problems.sorted { $0.0 < $1.0 }.map { name, problem in
      let entity =
        problem == .missingInModel
        ? difference?.entities.first { $0.source?.name == name }
        : difference?.entities.first { $0.destination?.name == name }
      return EntityReason(
        entity: name, problem: problem, storeHash: hashes[name], modelHash: modelHashes[name],
        changes: (entity?.changes ?? []).filter(\.movesHash))
    }
    guard let source else {
      (inference, caveats) = (.unknown, [])
      return
    }
    var caveats = defaults
    let rest = MappingInference.remainder(from: source, to: model)
    inference = rest.refusals.first.map { .refused($0) } ?? .possible
    if rest.refusals.isEmpty, let mapping = rest.mapping {
      caveats += MappingInference.appDifferences(mapping, from: source, to: model).map(\.sentence)
      if isMirrored,
        let text = MirroredRenaming.sentence(mapping.renamings(from: source, to: model))
      {
        caveats.append(text)
      }
    }
    self.caveats = caveats
    refusals = rest.refusals
  }
}

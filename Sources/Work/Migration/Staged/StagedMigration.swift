import ManagedModel
import ManagedStore
import Mapping
import ModelSearch

/// Stages one after the other: NSStagedMigrationManager.
///
/// A store enters where its own version stands, and only the stages after it run. All of them go
/// through temporary files; the store changes once, in the end.
public struct StagedMigration: Sendable {
  /// A version, and what leads to it from the one before.
  struct Stop: Sendable {
    let name: String
    let model: Model
    let handlers: StageHandlers?
    /// The label of the stage that leads to it.
    let stage: String?
  }

  let stops: [Stop]

  /// Puts stages in order.
  ///
  /// - Parameter versions: where models are looked for that stages name by checksum alone.
  /// - Throws: ``CoreDataError`` 134504 for a checksum that no version has; of kind usage for stages
  ///   that do not join, or a version that comes twice.
  public init(stages: [MigrationStage], versions: ModelVersions? = nil) throws {
    var stops: [Stop] = []
    func add(
      _ version: StagedVersion, _ handlers: StageHandlers?, of stage: MigrationStage
    ) throws {
      let (name, model) = try Self.find(version, in: versions)
      if handlers == nil, let last = stops.last, last.model.hasHashes(of: model) { return }
      if let same = stops.first(where: { $0.model.hasHashes(of: model) }) {
        throw CoreDataError(
          .usage, "two versions of the stages are the same: “\(same.name)” and “\(name)”",
          hint: "Their version hashes are equal; a hash modifier in the model keeps them apart.")
      }
      stops.append(Stop(name: name, model: model, handlers: handlers, stage: stage.label))
    }
    for stage in stages {
      switch stage.kind {
      case .lightweight(let versions):
        for version in versions { try add(version, nil, of: stage) }
      case .custom(let from, let to, let handlers):
        let (name, model) = try Self.find(from, in: versions)
        if let last = stops.last, !last.model.hasHashes(of: model) {
          throw CoreDataError(
            .usage,
            "the stages do not join: one ends at “\(last.name)” and the next begins at “\(name)”"
              + (stage.label.map { " (\($0))" } ?? ""),
            hint: "Put a lightweight stage between them.")
        }
        try add(from, nil, of: stage)
        try add(to, handlers, of: stage)
      }
    }
    guard !stops.isEmpty else {
      throw CoreDataError(.usage, "there is no stage with a version in it")
    }
    self.stops = stops
  }

  private static func find(
    _ version: StagedVersion, in versions: ModelVersions?
  ) throws -> (name: String, model: Model) {
    if let model = version.model { return (version.name, model) }
    let known = (versions?.versions ?? []).map { (name: $0.name, model: $0.model) }
    if let found = known.first(where: { $0.model.versionChecksum == version.checksum }) {
      return found
    }
    throw unknown("the stage’s version", version.checksum, known)
  }

  /// The stages' own model of a version, or of the last where none is named.
  func destination(_ model: Model?) -> ModelReference.Loaded {
    let stop = model.map { model in stops.first { $0.model.hasHashes(of: model) } } ?? stops.last
    return ModelReference.Loaded(
      model: stop?.model ?? model ?? stops[0].model, name: stop?.name ?? "", path: "")
  }

  /// The steps that lead a store of that version on to a destination.
  func steps(from store: Store, to destination: Model) throws -> [MigrationStep] {
    if let error = Self.generationMismatch(of: store.metadata) { throw error.at(path: store.path) }
    let hashes = store.metadata.versionHashes
    let part = store.part
    guard let begin = stops.firstIndex(where: { part.model($0.model).versionHashes == hashes })
    else {
      let checksum =
        store.metadata.checksum ?? (store.modelMatches ? store.model.versionChecksum : nil)
      throw Self.unknown(
        "the store’s version", checksum ?? "unknown", stops.map { ($0.name, $0.model) }
      ).at(path: store.path)
    }
    guard let end = stops.firstIndex(where: { $0.model.hasHashes(of: destination) }) else {
      throw Self.unknown(
        "the destination", destination.versionChecksum, stops.map { ($0.name, $0.model) })
    }
    guard begin <= end else {
      let (own, wanted) = (stops[begin], stops[end])
      throw CoreDataError(
        .refused, code: .stagedMigrationBackwardMigration,
        "the store is of a later stage (“\(own.name)”, \(own.model.versionChecksum)) than the model (“\(wanted.name)”, \(wanted.model.versionChecksum))",
        path: store.path, hint: "Use the newer app. Stages go forwards only.")
    }
    let pairs =
      begin == end
      ? [(stops[begin], stops[begin])] : Array(zip(stops[begin..<end], stops[(begin + 1)...end]))
    return try pairs.map { from, to in
      var step = MigrationStep(
        from: from.name, to: to.name, source: from.model, destination: to.model,
        mapping: try MappingInference.mapping(
          from: part.model(from.model), to: part.model(to.model)))
      step.handlers = to.handlers
      step.stage = to.stage
      return step
    }
  }

  /// Version hashes of another generation cannot be compared: Core Data counts the ways to compute
  /// them, 3 since Mac OS X 10.5.
  private static func generationMismatch(of metadata: StoreMetadata) -> CoreDataError? {
    let known: Int64 = 3
    guard let found = metadata.values["NSStoreModelVersionHashesVersion"]?.integer, found != known
    else { return nil }
    return CoreDataError(
      .refused, code: .stagedMigrationFrameworkVersionMismatch,
      "the store was made by another generation of the framework: its version hashes are of version \(found), and \(known) is known",
      hint: "Open it with the system that wrote it.")
  }

  private static func unknown(
    _ what: String, _ checksum: String, _ known: [(name: String, model: Model)]
  ) -> CoreDataError {
    let candidates = known.map { "\($0.name) \($0.model.versionChecksum)" }
    return CoreDataError(
      .incompatible, code: .managedObjectModelReferenceNotFound,
      "cannot use staged migration with an unknown model version: \(what) has the checksum \(checksum)",
      hint: candidates.isEmpty
        ? "Give the versions of the app’s model."
        : "Available: " + candidates.joined(separator: ", ") + ".")
  }
}

extension Model {
  fileprivate func hasHashes(of other: Model) -> Bool { versionHashes == other.versionHashes }
}

/// A version that a stage names: NSManagedObjectModelReference.
public struct StagedVersion: Sendable, Equatable {
  /// What the version is called in plans and errors.
  public let name: String
  /// Version checksum of its model.
  public let checksum: String
  /// The model, where the stage brought it; a checksum is looked up in the versions of the app.
  let model: Model?

  /// A version by its model.
  public static func model(_ model: Model, name: String) -> StagedVersion {
    StagedVersion(name: name, checksum: model.versionChecksum, model: model)
  }

  /// A version by its checksum, as `strata hash` and SwiftData's logs write it.
  ///
  /// The model is looked for among those that ``StagedMigration/init(stages:versions:)`` is given.
  public static func checksum(_ checksum: String) -> StagedVersion {
    StagedVersion(name: checksum, checksum: checksum, model: nil)
  }
}

/// One stage of a staged migration: NSMigrationStage.
public struct MigrationStage: Sendable {
  /// Reads and edits the objects of the temporary store; what it throws ends the migration.
  public typealias Handler = @Sendable (StageContext) throws -> Void

  enum Kind: Sendable {
    case lightweight([StagedVersion])
    case custom(from: StagedVersion, to: StagedVersion, StageHandlers)
  }

  let kind: Kind
  /// What the stage is called in errors and in persistent history; `nil` names it by its versions.
  public var label: String?

  /// Versions that follow one another, each step inferred.
  ///
  /// The first stage names the version it begins at as well: a store of a version that no stage names
  /// is refused with 134504.
  public static func lightweight(to versions: [StagedVersion]) -> MigrationStage {
    MigrationStage(kind: .lightweight(versions))
  }

  /// An inferred step between two versions with code before and after it.
  ///
  /// - Parameters:
  ///   - willMigrate: gets the objects as the version before has them; what it leaves is what the step
  ///     starts from, and is checked against the next version's rules only then.
  ///   - didMigrate: gets the objects as the next version has them.
  public static func custom(
    from: StagedVersion, to: StagedVersion, willMigrate: Handler? = nil, didMigrate: Handler? = nil
  ) -> MigrationStage {
    MigrationStage(
      kind: .custom(
        from: from, to: to, StageHandlers(willMigrate: willMigrate, didMigrate: didMigrate)))
  }
}

/// The code of a custom stage; equal to itself alone, since code cannot be compared.
final class StageHandlers: Sendable, Equatable {
  let willMigrate: MigrationStage.Handler?
  let didMigrate: MigrationStage.Handler?

  init(willMigrate: MigrationStage.Handler?, didMigrate: MigrationStage.Handler?) {
    self.willMigrate = willMigrate
    self.didMigrate = didMigrate
  }

  static func == (one: StageHandlers, other: StageHandlers) -> Bool { one === other }
}

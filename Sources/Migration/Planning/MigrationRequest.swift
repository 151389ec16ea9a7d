import ManagedModel
import ManagedStore
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

import ManagedModel
import ManagedStore

/// One pair of versions on the path from the store's own to the destination.
public struct MigrationStep: Sendable, Equatable {
  /// Name of the version the step begins at, else the store's file name or a model's path.
  public var from: String
  /// Name of the version the step leads to.
  public var to: String
  /// The model the store has before the step.
  public var source: Model
  /// The model it has afterwards.
  public var destination: Model
  /// What becomes of each entity.
  public var mapping: MappingModel
  /// Objects that each entity mapping takes, by the mapping's name; known when it is planned.
  public var rows: [String: Int]
  /// How the step is carried out.
  public var strategy: MigrationPlan.Strategy = .inPlace
  /// First objects of the mappings that compute something, before and after.
  public var previews: [MappingPreview] = []
  /// Code of a custom stage that runs before and after the step.
  var handlers: StageHandlers?
  /// The label of the stage that the step is of.
  var stage: String?

  /// Makes a step that is not planned yet.
  public init(
    from: String, to: String, source: Model, destination: Model, mapping: MappingModel,
    rows: [String: Int] = [:]
  ) {
    self.from = from
    self.to = to
    self.source = source
    self.destination = destination
    self.mapping = mapping.indexed
    self.rows = rows
  }
}

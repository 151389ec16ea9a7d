/// A SchemaMigrationPlan as Swift source has it.
public struct SourcePlan: Sendable, Equatable {
  /// A step from one version to another.
  public struct Stage: Sendable, Equatable {
    /// Whether code of the app's own runs before or after it.
    public var isCustom: Bool
    /// Whether that code runs before the step as well, while the store is of the version before.
    public var runsBefore: Bool
    /// Names of properties that the code assigns, as far as it stands in the stage itself.
    public var assigned: Set<String>
    /// Name of the version that it begins with.
    public var from: String
    /// Name of the version that it leads to.
    public var to: String
    /// Where it is declared.
    public var place: SourcePlace
  }

  /// The plan's name.
  public var name: String
  /// Where it is declared.
  public var place: SourcePlace
  /// Names of the versions, the oldest first.
  public var versions: [String]
  /// The steps, in order.
  public var stages: [Stage]
  /// Whether SwiftData goes through stages: where the list of them is empty, it infers one step from
  /// the model in the store, and the versions of the plan do not matter.
  public var isStaged: Bool

  /// The stage between two versions.
  public func stage(from: String, to: String) -> Stage? {
    stages.first { $0.from == from && $0.to == to }
  }
}

/// A SchemaMigrationPlan as Swift source has it.
public struct SourcePlan: Sendable, Equatable {
  /// A step from one version to another.
  public struct Stage: Sendable, Equatable {
    /// Whether code of the app's own runs in it.
    public var isCustom: Bool
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
}

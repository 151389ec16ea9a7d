/// A default value that is another each time it is computed, such as `UUID()` in Swift source.
///
/// SwiftData evaluates it once, when it makes the model: every row that a migration adds the attribute
/// to gets one and the same value.
public struct EvaluatedDefault: Sendable, Equatable {
  /// What the expression makes.
  public enum Kind: Sendable, Equatable {
    /// A new UUID, or its text where the attribute is a String.
    case uuid
    /// The current date.
    case now
    /// A random integer within bounds.
    case integer(ClosedRange<Int64>)
    /// What only the running app can compute.
    case unknown
  }

  /// What the expression makes.
  public var kind: Kind
  /// The expression as the source spells it.
  public var expression: String

  /// Makes the default of an expression.
  public init(_ kind: Kind, expression: String) {
    self.kind = kind
    self.expression = expression
  }
}

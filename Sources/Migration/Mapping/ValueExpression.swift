import ManagedModel

/// How a value, or whether a condition holds, is computed of a source object.
public struct ValueExpression: Sendable, Equatable {
  enum Form: Sendable, Equatable {
    /// An SQL expression over the source entity's property names, as recipes have it.
    case sql(String)
    /// An archived NSExpression of a mapping model.
    case expression(Expression)
    /// A predicate's format over the source entity's properties.
    case predicate(String)
  }

  var form: Form

  init(_ form: Form) { self.form = form }

  /// An SQL expression over the source entity's property names, as recipes have it.
  public static func sql(_ text: String) -> ValueExpression { ValueExpression(.sql(text)) }

  /// The expression as a person writes it: SQL as it is, an NSExpression or a predicate in the
  /// format of predicates.
  public var text: String {
    switch form {
    case .sql(let text), .predicate(let text): text
    case .expression(let expression): expression.description
    }
  }

  /// NSPredicate's format over the source entity's properties.
  public static func predicate(_ format: String) -> ValueExpression {
    ValueExpression(.predicate(format))
  }
}

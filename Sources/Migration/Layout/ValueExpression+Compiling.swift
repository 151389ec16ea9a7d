import ManagedModel
import ManagedStore

extension ValueExpression {
  /// The expression as SQL; an error tells the mapping and the property that it stands in.
  func compiled(
    in scope: ExpressionScope, mapping: String, property: String?, attribute: Attribute? = nil
  ) throws -> CompiledExpression {
    do {
      switch form {
      case .sql(let text): return try scope.compile(recipe: text, for: attribute)
      case .expression(let expression):
        if let attribute { return try scope.compile(expression, for: attribute) }
        return try scope.compile(expression)
      case .predicate(let format): return try scope.compile(predicate: format)
      }
    } catch var error as CoreDataError {
      error.message = "in the mapping “\(mapping)”: \(error.message)"
      if error.entity == nil { error.entity = scope.entity }
      if error.property == nil { error.property = property }
      throw error
    }
  }
}

extension Attribute.Validation {
  /// Takes a compiled rule: as a bound or a pattern where it is one that Xcode's fields give rise
  /// to, else as its text.
  mutating func add(_ predicate: Predicate) {
    if case .comparison(let comparison) = predicate, comparison.options.isEmpty,
      comparison.quantifier == nil, case .constant(let constant) = comparison.right
    {
      let isBound =
        comparison.left == .selfObject || comparison.left == .keyPath("length", of: nil)
      switch (comparison.comparator, constant) {
      case (.greaterOrEqual, .integer), (.greaterOrEqual, .real), (.greaterOrEqual, .decimal):
        if isBound, minimum == nil {
          minimum = constant.description
          return
        }
      case (.lessOrEqual, .integer), (.lessOrEqual, .real), (.lessOrEqual, .decimal):
        if isBound, maximum == nil {
          maximum = constant.description
          return
        }
      case (.matches, .string(let text)):
        if comparison.left == .selfObject, pattern == nil {
          pattern = text
          return
        }
      default: break
      }
    }
    predicates.append(predicate.description)
  }
}

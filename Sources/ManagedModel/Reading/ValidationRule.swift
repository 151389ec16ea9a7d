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
        if isBound, minimum == nil { return minimum = constant.description }
      case (.lessOrEqual, .integer), (.lessOrEqual, .real), (.lessOrEqual, .decimal):
        if isBound, maximum == nil { return maximum = constant.description }
      case (.matches, .string(let text)):
        if comparison.left == .selfObject, pattern == nil { return pattern = text }
      default: break
      }
    }
    predicates.append(predicate.description)
  }
}

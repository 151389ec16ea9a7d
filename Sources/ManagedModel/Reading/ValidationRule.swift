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

extension Attribute.Validation {
  /// The rules as a compiled model keeps them, each with the error code of its violation.
  func rules(for type: AttributeType) -> [(predicate: Predicate, code: CoreDataError.Code)] {
    var rules: [(predicate: Predicate, code: CoreDataError.Code)] = []
    let isText = type == .string
    let subject = isText ? Expression.keyPath("length", of: nil) : .selfObject
    if let minimum, let bound = Self.bound(minimum) {
      // NSValidationStringTooShortError and NSValidationNumberTooSmallError.
      rules.append(
        (.comparison(Predicate.Comparison(subject, .greaterOrEqual, bound)), isText ? 1670 : 1620))
    }
    if let maximum, let bound = Self.bound(maximum) {
      // NSValidationStringTooLongError and NSValidationNumberTooLargeError.
      rules.append(
        (.comparison(Predicate.Comparison(subject, .lessOrEqual, bound)), isText ? 1660 : 1610))
    }
    if let pattern {
      let constant = Expression.constant(.string(pattern))
      // NSValidationStringPatternMatchingError.
      rules.append((.comparison(Predicate.Comparison(.selfObject, .matches, constant)), 1680))
    }
    for text in predicates {
      // NSManagedObjectValidationError: the code of the rule itself is not kept.
      if let predicate = try? Predicate(format: text) { rules.append((predicate, 1550)) }
    }
    return rules
  }

  private static func bound(_ text: String) -> Expression? {
    if let value = Int64(text) { return .constant(.integer(value)) }
    return Double(text).map { .constant(.real($0)) }
  }
}

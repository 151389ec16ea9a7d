extension Attribute.Validation {
  /// The rules as a compiled model keeps them, each with the error code of its violation.
  func rules(for type: AttributeType) -> [(predicate: Predicate, code: CoreDataError.Code)] {
    var rules: [(predicate: Predicate, code: CoreDataError.Code)] = []
    let isText = type == .string
    let subject = isText ? Expression.keyPath("length", of: nil) : .selfObject
    func add(
      _ subject: Expression, _ comparator: Predicate.Comparator, _ bound: Expression,
      _ code: CoreDataError.Code
    ) {
      rules.append((.comparison(Predicate.Comparison(subject, comparator, bound)), code))
    }
    if let bound = minimum.flatMap(Self.bound) {
      add(
        subject, .greaterOrEqual, bound,
        isText ? .validationStringTooShort : .validationNumberTooSmall)
    }
    if let bound = maximum.flatMap(Self.bound) {
      add(
        subject, .lessOrEqual, bound, isText ? .validationStringTooLong : .validationNumberTooLarge)
    }
    if let pattern {
      add(.selfObject, .matches, .constant(.string(pattern)), .validationStringPatternMatching)
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

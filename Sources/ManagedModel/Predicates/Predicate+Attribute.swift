extension Predicate {
  /// A rule for the value of one attribute as a condition on the objects that have it; `nil` where it
  /// asks for more of the value than itself and its length.
  package func about(_ attribute: String) -> Predicate? {
    switch self {
    case .always: return self
    case .not(let part): return part.about(attribute).map { .not($0) }
    case .and(let parts): return Self.all(parts, about: attribute).map { .and($0) }
    case .or(let parts): return Self.all(parts, about: attribute).map { .or($0) }
    case .comparison(var comparison):
      guard let left = comparison.left.about(attribute),
        let right = comparison.right.about(attribute)
      else { return nil }
      (comparison.left, comparison.right) = (left, right)
      return .comparison(comparison)
    }
  }

  private static func all(_ parts: [Predicate], about attribute: String) -> [Predicate]? {
    let told = parts.compactMap { $0.about(attribute) }
    return told.count == parts.count ? told : nil
  }
}

extension Expression {
  /// The expression with the value itself as an attribute of the object that has it.
  fileprivate func about(_ attribute: String) -> Expression? {
    let value = Expression.keyPath(attribute, of: nil)
    switch self {
    case .constant: return self
    case .selfObject, .keyPath("self", of: nil), .keyPath("SELF", of: nil): return value
    case .keyPath("length", of: nil), .keyPath("length", of: .selfObject):
      return .function("length:", receiver: nil, arguments: [value])
    case .aggregate(let parts):
      let told = parts.compactMap { $0.about(attribute) }
      return told.count == parts.count ? .aggregate(told) : nil
    case .located(let inner, let place):
      return inner.about(attribute).map { .located($0, place) }
    default: return nil
    }
  }
}

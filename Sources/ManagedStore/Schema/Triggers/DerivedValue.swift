import ManagedModel

extension StoreSchema {
  /// SQL for the value that a derived attribute has in a row, as the store's own triggers keep it.
  ///
  /// Fit for an UPDATE of the row's table and for a SELECT over it. The connection needs
  /// ``StoreFunctions``.
  ///
  /// - Parameters:
  ///   - entity: an entity that has the attribute.
  ///   - row: alias of the row.
  ///   - schema: what stands before the names of tables, such as `src.`.
  /// - Returns: `nil` for `now()`, which no row decides, and for what is not understood.
  package func derivedExpression(
    for attribute: Attribute, of entity: String, row: String = "s", schema: String = "main."
  ) -> CompiledExpression? {
    guard let derivation = attribute.derivation, let value = DerivedValue(derivation),
      value != .now, let expression = try? Expression(format: derivation.expression)
    else { return nil }
    return try? ExpressionScope(derivedIn: self, entity: entity, row: row, schema: schema)
      .compile(expression)
  }
}

/// What a derived attribute is computed of.
enum DerivedValue: Equatable {
  enum Function: String {
    case canonical = "canonical:"
    case lowercase = "lowercase:"
    case uppercase = "uppercase:"
  }

  enum Aggregate: String {
    case sum, min, max
    case average = "avg"
  }

  /// When the object was last saved.
  case now
  /// The value at a path: to-one relationships and an attribute, or the attribute alone.
  case value(path: [String], Function?)
  /// How many objects the to-many relationship at the end of a path has.
  case count(path: [String])
  /// All values at a path with one to-many relationship in it.
  case aggregate(Aggregate, path: [String])

  /// `nil` for expressions beyond those that Apple documents. A filter changes the version hash and
  /// nothing in the store.
  init?(_ derivation: Attribute.Derivation) {
    guard let expression = try? Expression(format: derivation.expression) else { return nil }
    switch expression {
    case .function("now", receiver: nil, let arguments) where arguments.isEmpty,
      .function("now:", receiver: nil, let arguments) where arguments.isEmpty:
      self = .now
    case .function(let name, receiver: nil, let arguments) where arguments.count == 1:
      guard let path = Self.path(arguments[0]), !path.contains(where: { $0.hasPrefix("@") }) else {
        return nil
      }
      if let function = Function(rawValue: name) {
        self = .value(path: path, function)
      } else if let made = Self.collected(name == "average:" ? "avg" : name.dropLast(), path) {
        self = made
      } else {
        return nil
      }
    default:
      guard var path = Self.path(expression) else { return nil }
      guard let index = path.firstIndex(where: { $0.hasPrefix("@") }) else {
        self = .value(path: path, nil)
        return
      }
      // `pages.@sum.price` and `pages.price.@sum` mean the same.
      let name = path.remove(at: index).dropFirst()
      guard !path.contains(where: { $0.hasPrefix("@") }), let made = Self.collected(name, path)
      else { return nil }
      self = made
    }
  }

  private static func collected(_ name: Substring, _ path: [String]) -> DerivedValue? {
    if name == "count" { return .count(path: path) }
    guard path.count > 1, let aggregate = Aggregate(rawValue: String(name)) else { return nil }
    return .aggregate(aggregate, path: path)
  }

  private static func path(_ expression: Expression) -> [String]? {
    switch expression {
    case .keyPath(let path, of: nil), .keyPath(let path, of: .selfObject):
      let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      return names.contains("") ? nil : names
    case .keyPath(let path, of: let base?):
      guard let names = self.path(base) else { return nil }
      return self.path(.keyPath(path, of: nil)).map { names + $0 }
    default: return nil
    }
  }
}

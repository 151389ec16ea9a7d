import ManagedModel

/// Which attribute keeps objects apart that a uniqueness constraint says must differ.
struct UniqueChoice: Sendable {
  /// The entity that declares the constraint: its objects and those below it must differ.
  let entity: String
  /// The attribute, an element by its path; `nil` where to-ones alone have to do it.
  let attribute: String?
  /// The constraint as it is reported.
  let name: String
  /// Whether it is over several properties.
  let isCompound: Bool

  /// One for each constraint of a model.
  static func all(in model: Model) -> [UniqueChoice] {
    model.entitiesInStoreOrder.flatMap { entity in
      entity.uniquenessConstraints.filter { !$0.isEmpty }.map { constraint in
        let stored = constraint.compactMap { name -> Attribute? in
          model.storedAttribute(named: name, of: entity.name)
            ?? model.attribute(named: name, of: entity.name)?.storage.columns.first?.attribute
        }.filter { !$0.isDerived }
        let best = stored.min { rank($0) < rank($1) }
        return UniqueChoice(
          entity: entity.name, attribute: best?.name,
          name: entity.name + "." + constraint.joined(separator: "+"),
          isCompound: constraint.count > 1)
      }
    }
  }

  /// The more values a type has, the less it shows that they are numbered through.
  private static func rank(_ attribute: Attribute) -> Int {
    let type =
      switch attribute.type {
      case .uuid: 0
      case .string: 1
      case .uri: 2
      case .integer64, .integer32: 3
      case .date: 4
      case .double: 5
      case .decimal: 6
      case .binary: 7
      case .transformable: 8
      case .integer16: 20
      case .float: 21
      case .boolean: 30
      default: 40
      }
    return type + (ValueLimits(attribute).isFree ? 0 : 10)
  }
}

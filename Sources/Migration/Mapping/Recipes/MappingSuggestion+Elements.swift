import ManagedModel

extension MappingSuggestion {
  /// Whether a renaming identifier can say that one is the other: plain attributes, or elements of
  /// what is the same composite attribute.
  static func isIdentifiable(_ former: String, _ name: String, in mapping: EntityMapping) -> Bool {
    guard let composite = ElementPath.composite(of: former) else { return !name.contains(".") }
    return mapping.attributes.contains {
      $0.source.flatMap(ElementPath.composite) == composite
        && ElementPath.composite(of: $0.name) == ElementPath.composite(of: name)
    }
  }

  /// New composite attributes that could be the former one of an element that goes.
  static func composites(
    for path: String, _ place: String, _ mapping: EntityMapping, to entity: String,
    in destination: Model
  ) -> [MappingSuggestion] {
    guard let composite = ElementPath.composite(of: path),
      let formerPlace = ElementPath.composite(of: place),
      !mapping.attributes.contains(where: { $0.source.flatMap(ElementPath.composite) == composite })
    else { return [] }
    let element = ElementPath.last(of: path)
    let names = Set(mapping.attributes.compactMap { ElementPath.composite(of: $0.name) })
    return names.sorted().compactMap { name in
      let elements = mapping.attributes.filter { ElementPath.composite(of: $0.name) == name }
      guard elements.allSatisfy({ $0.source == nil && $0.expression == nil }),
        elements.contains(where: { ElementPath.last(of: $0.name) == element })
      else { return nil }
      let target = "\(destination.declaringEntity(of: name, in: entity) ?? entity).\(name)"
      return MappingSuggestion(
        edit: .rename(from: formerPlace, to: target), name: target, note: "with all its elements",
        likeness: 0.5 + 0.5 * NameSimilarity.likeness(composite, name))
    }
  }

  /// What an attribute, or an element by its path, was in the version before.
  static func counterpart(
    at path: String, of entity: String, in model: Model, _ source: Model, _ former: String
  ) -> Attribute? {
    guard let attribute = model.attribute(at: path, of: entity) else { return nil }
    func find(among attributes: [Attribute]) -> Attribute? {
      let canonical = attribute.renamingIdentifier ?? ElementPath.last(of: path)
      return attributes.first { $0.canonicalName == canonical || $0.name == canonical }
    }
    guard let composite = ElementPath.composite(of: path) else {
      return find(among: source.attributes(of: former))
    }
    return counterpart(at: composite, of: entity, in: model, source, former).flatMap { holder in
      find(among: holder.elements).map(holder.pathed)
    }
  }
}

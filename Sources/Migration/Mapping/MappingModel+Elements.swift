import ManagedModel

extension MappingModel {
  /// The same with a mapping for each element of a composite attribute, where a Swift program mapped
  /// the attribute as a whole; what it says of an element goes before that.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a composite attribute that is given anything else
  ///   than another one.
  func elementwise(from source: Model, to destination: Model) throws -> MappingModel {
    MappingModel(
      kind: kind,
      entityMappings: try entityMappings.map { try $0.elementwise(source, destination) },
      userInfo: userInfo)
  }
}

extension EntityMapping {
  fileprivate func elementwise(_ source: Model, _ model: Model) throws -> EntityMapping {
    guard let to = destination else { return self }
    var result = self
    let names = Set(attributes.map(\.name))
    result.attributes = try attributes.flatMap { mapping in
      guard let whole = model.attribute(at: mapping.name, of: to), whole.type == .composite else {
        return [mapping]
      }
      return try mapping.elements(of: whole, former: former(of: mapping, in: source), to)
        .filter { !names.contains($0.name) }
    }
    return result
  }

  private func former(of mapping: AttributeMapping, in source: Model) -> Attribute? {
    guard let from = self.source, let name = mapping.source else { return nil }
    return source.attribute(at: name, of: from)
  }
}

extension AttributeMapping {
  fileprivate func elements(
    of whole: Attribute, former: Attribute?, _ entity: String
  ) throws -> [AttributeMapping] {
    if source == nil, expression == nil {
      return whole.storage.columns.map { AttributeMapping(new: $0.attribute) }
    }
    let pairs = former.map { ElementAlignment(whole, from: $0).pairs } ?? []
    guard former?.type == .composite, pairs.allSatisfy(\.isPlain) else {
      throw CoreDataError(
        .usage, "a composite attribute takes the value of another one only", entity: entity,
        property: name,
        hint: "Map its elements: "
          + whole.storage.columns.map(\.attribute.name).joined(separator: ", "))
    }
    return pairs.map { pair in
      pair.former.map { .copy(of: $0, to: pair.element) } ?? AttributeMapping(new: pair.element)
    }
  }
}

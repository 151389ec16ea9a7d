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

extension Model {
  /// What composite attributes of an entity were called in a version that gives it the same hash.
  ///
  /// A composite's own name does not enter the hash, so that it may have changed; its columns are
  /// those of the composite that was in its place among the entity's properties.
  func formerComposites(of entity: String, in source: Model) -> [String: String] {
    var names: [String: String] = [:]
    for (new, old) in zip(lineage(of: entity), source.lineage(of: entity)) {
      let composites = [new, old].map { entity in
        entity.attributes.filter { $0.type == .composite && $0.isStored }.map(\.name)
          .sortedByBytes(\.self)
      }
      guard composites[0].count == composites[1].count else { continue }
      for (name, former) in zip(composites[0], composites[1]) { names[name] = former }
    }
    return names
  }
}

/// Names of elements, taken apart.
enum ElementPath {
  /// The composite that a path goes into last; `nil` for an attribute's own name.
  static func composite(of path: String) -> String? {
    path.lastIndex(of: ".").map { String(path[..<$0]) }
  }

  static func last(of path: String) -> String {
    path.lastIndex(of: ".").map { String(path[path.index(after: $0)...]) } ?? path
  }
}

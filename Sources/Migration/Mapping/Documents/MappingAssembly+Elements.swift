import ManagedModel
import ManagedStore

extension MappingAssembly {
  /// What a file says of a whole composite attribute, as a mapping for each of its elements.
  func elements(
    of attribute: Attribute, _ value: MappingSource.Value, _ entity: MappingSource.Entity
  ) throws -> [AttributeMapping] {
    let columns = attribute.storage.columns.map(\.attribute)
    let path: [String]
    switch value {
    case .untouched: return columns.map(AttributeMapping.init(new:))
    case .automatic(let keyPath, _):
      path = keyPath.map(Self.names) ?? [attribute.name]
      guard keyPath != nil || isStored(attribute.name, in: entity.source) else {
        return columns.map(AttributeMapping.init(new:))
      }
    case .expression(.constant(.null)):
      return columns.map { AttributeMapping(name: $0.name, source: nil) }
    case .expression(let expression):
      if case .function(_, receiver: .variable("entityPolicy")?, _) = expression {
        // Whatever stands in for the policy gives them; compiling these shows that something must.
        return columns.map { computed($0, by: expression, entity) }
      }
      guard let names = expression.sourcePath else {
        throw refusal(
          entity, attribute.name,
          "gives a composite attribute a value that is not understood: \(expression)",
          hint: "Give its elements values in a recipe, such as \"\(columns.first?.name ?? "")\".")
      }
      path = names
    }
    guard let (steps, former) = composite(at: path, of: entity.source) else {
      throw refusal(
        entity, attribute.name,
        "gives a composite attribute the value of “\(path.joined(separator: "."))”, which is not one",
        hint: "Give its elements values in a recipe, such as \"\(columns.first?.name ?? "")\".")
    }
    return try ElementAlignment(attribute, from: former).pairs.map { pair in
      guard let before = pair.former else { return AttributeMapping(new: pair.element) }
      guard pair.isPlain else {
        throw refusal(
          entity, pair.element.name,
          "gives it the value of “\(before.name)”: one of them is a composite attribute",
          hint: "Give it a value in a recipe.")
      }
      return computed(pair.element, by: Self.keyPath(steps + [before.name]), entity)
    }
  }

  /// The composite attribute that a key path leads to, and the relationships before it.
  private func composite(
    at path: [String], of entity: String?
  ) -> (steps: [String], attribute: Attribute)? {
    guard var holder = entity else { return nil }
    for (index, name) in path.enumerated() {
      if let relationship = source.relationship(named: name, of: holder) {
        holder = relationship.destination
        continue
      }
      guard let attribute = source.attribute(at: path[index...].joined(separator: "."), of: holder),
        attribute.type == .composite, attribute.isStored
      else { return nil }
      return (Array(path[..<index]), attribute)
    }
    return nil
  }
}

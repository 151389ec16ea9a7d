/// The composite attributes of a model as Xcode's XML has them: definitions with a name, which
/// attributes refer to.
///
/// SwiftData's models have no such names; those of the attributes stand in for them.
struct CompositeDefinitions {
  /// The model's entities, with composite attributes that name their definition.
  private(set) var entities: [Entity]
  /// In the order in which attributes refer to them first.
  private(set) var definitions: [(name: String, elements: [Attribute])] = []

  init(_ model: Model) {
    entities = model.entities
    for entity in entities.indices {
      for index in entities[entity].attributes.indices {
        entities[entity].attributes[index] = defined(
          entities[entity].attributes[index], in: entities[entity].name)
      }
    }
  }

  private mutating func defined(_ attribute: Attribute, in place: String) -> Attribute {
    guard attribute.type == .composite, !attribute.elements.isEmpty else { return attribute }
    var copy = attribute
    let plain = attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
    let elements = attribute.elements.map { defined($0, in: place + plain) }
    copy.compositeName = name(
      for: elements, wishes: [attribute.compositeName ?? plain, place + plain])
    return copy
  }

  /// The name of the definition with these elements: one that is there, or the first wish that is
  /// not taken by others.
  private mutating func name(for elements: [Attribute], wishes: [String]) -> String {
    var number = 2
    var wishes = wishes
    while true {
      let name = wishes.isEmpty ? "Composite\(number)" : wishes.removeFirst()
      guard let known = definitions.first(where: { $0.name == name }) else {
        definitions.append((name, elements))
        return name
      }
      if known.elements == elements { return name }
      if wishes.isEmpty { number += 1 }
    }
  }
}

import ManagedModel
import TestSupport

/// Makes random models with every kind of property and hierarchies up to four deep.
struct ModelGenerator {
  /// The ways in which a relationship and its inverse, or the lack of one, are kept.
  enum Shape: String, CaseIterable, Sendable {
    case oneToMany, manyToMany, oneToOne, toOneAlone, toManyAlone, reflexive, selfManyToMany
    case selfOneToOne
  }

  private(set) var draft = Draft()
  private(set) var shapes: [Shape] = []

  init(using generator: inout SeededGenerator) {
    makeEntities(using: &generator)
    for index in draft.entities.indices { makeAttributes(index, using: &generator) }
    for _ in 0..<Int.random(in: 2...7, using: &generator) { makeRelationship(using: &generator) }
  }

  static let entityWords = [
    "Album", "Bird", "Car", "Dune", "Elk", "Fig", "Gate", "Hat", "Ink", "Jar", "Kite", "Lamp",
    "Moon", "Nut", "Oak", "Pen", "Quiz", "Rose", "Sun", "Tree",
  ]
  private static let attributeWords = [
    "age", "body", "code", "day", "extra", "flag", "grade", "height", "icon", "Kind", "label",
    "name", "note", "size", "title", "weight",
  ]
  private static let relationshipWords = ["all", "friends", "items", "owner", "parts", "whole"]

  private mutating func makeEntities(using generator: inout SeededGenerator) {
    let words = Self.entityWords.shuffled(using: &generator)
    for name in words.prefix(Int.random(in: 3...8, using: &generator)) {
      let parents = draft.entities.filter { draft.lineage(of: $0.name).count < 4 }.map(\.name)
      draft.entities.append(
        Entity(name, parent: generator.chance(55) ? generator.pick(parents) : nil))
    }
    for index in draft.entities.indices {
      let isParent = !draft.children(of: draft.entities[index].name).isEmpty
      draft.entities[index].isAbstract = generator.chance(isParent ? 35 : 4)
      if generator.chance(10) {
        draft.entities[index].renamingIdentifier = draft.freshName("Former")
      }
    }
  }

  private mutating func makeAttributes(_ index: Int, using generator: inout SeededGenerator) {
    let entity = draft.entities[index].name
    for _ in 0..<Int.random(in: 1...5, using: &generator) {
      // Siblings often use one name, and so share a table with numbered columns.
      let used = Set(draft.lineage(of: entity).flatMap { $0.attributes.map(\.name) })
      guard let name = generator.pick(Self.attributeWords.filter { !used.contains($0) }),
        let type = generator.pick(GeneratedValues.types + [.binary])
      else { continue }
      if generator.chance(10) {
        draft.entities[index].attributes.append(Self.composite(name, using: &generator))
        continue
      }
      var attribute = Attribute(name, type, optional: generator.chance(75))
      attribute.isTransient = generator.chance(11)
      attribute.preservesValueInHistoryOnDeletion = name.utf8.count % 3 == 0
      attribute.allowsExternalBinaryDataStorage = type == .binary && generator.chance(50)
      if generator.chance(10) { attribute.renamingIdentifier = draft.freshName("former") }
      if generator.chance(2), let other = draft.entities[index].attributes.last {
        attribute.renamingIdentifier = other.canonicalName
      }
      draft.entities[index].attributes.append(attribute)
    }
  }

  /// Elements often have the names of attributes, and so share their columns' names.
  static func composite(_ name: String, using generator: inout SeededGenerator) -> Attribute {
    var composite = Attribute(name, .composite, optional: true)
    let words = attributeWords.shuffled(using: &generator)
    for word in words.prefix(Int.random(in: 1...3, using: &generator)) {
      guard let type = generator.pick(GeneratedValues.types) else { continue }
      composite.elements.append(Attribute(word, type, optional: true))
    }
    return composite
  }

  private mutating func makeRelationship(using generator: inout SeededGenerator) {
    guard let shape = generator.pick(Shape.allCases),
      let from = generator.pick(draft.entities)?.name,
      let to = generator.pick(draft.entities)?.name
    else { return }
    let before = draft
    add(shape, from: from, to: to, using: &generator)
    if draft.isSound { shapes.append(shape) } else { draft = before }
  }

  private mutating func add(
    _ shape: Shape, from: String, to: String, using generator: inout SeededGenerator
  ) {
    // A few names come twice in one store, on entities that are no relatives.
    func name(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String {
      let word = generator.pick(Self.relationshipWords) ?? "other"
      return generator.chance(40) ? word : draft.freshName(word)
    }
    let first = name(&draft, &generator)
    let second = name(&draft, &generator)
    func link(
      _ name: String, to: String, inverse: String?, many: Bool, ordered: Bool = false
    ) -> Relationship {
      Relationship(name, to: to, inverse: inverse, toMany: many, ordered: ordered, optional: true)
    }
    let isOrdered = generator.chance(40)
    let isInverseOrdered = generator.chance(30)
    var own: [Relationship] = []
    var other: [Relationship] = []
    switch shape {
    case .oneToMany:
      own = [link(first, to: to, inverse: second, many: true, ordered: isOrdered)]
      other = [link(second, to: from, inverse: first, many: false)]
    case .manyToMany:
      own = [link(first, to: to, inverse: second, many: true, ordered: isOrdered)]
      other = [link(second, to: from, inverse: first, many: true, ordered: isInverseOrdered)]
    case .oneToOne:
      own = [link(first, to: to, inverse: second, many: false)]
      other = [link(second, to: from, inverse: first, many: false)]
    case .toOneAlone: own = [link(first, to: to, inverse: nil, many: false)]
    case .toManyAlone: own = [link(first, to: to, inverse: nil, many: true, ordered: isOrdered)]
    case .selfOneToOne: own = [link(first, to: from, inverse: first, many: false)]
    case .reflexive: own = [link(first, to: from, inverse: first, many: true)]
    case .selfManyToMany:
      own = [
        link(first, to: from, inverse: second, many: true, ordered: isOrdered),
        link(second, to: from, inverse: first, many: true, ordered: isInverseOrdered),
      ]
    }
    draft.change(from) { $0.relationships += own }
    draft.change(to) { $0.relationships += other }
  }
}

extension ModelGenerator {
  /// Makes attributes and relationships mandatory, and values unique, where the objects agree.
  mutating func tighten(to objects: GeneratedObjects, using generator: inout SeededGenerator) throws
  {
    let model = try draft.model()
    for entity in draft.entities {
      let all = objects.all.filter { model.isKind($0.id.entity, of: entity.name) }
      for relationship in entity.relationships
      where all.allSatisfy({ !($0.links[relationship.name] ?? []).isEmpty }) && generator.chance(50)
      {
        draft.change(relationship: relationship.name, of: entity.name) { $0.isOptional = false }
      }
      for attribute in entity.attributes where attribute.isStored && generator.chance(25) {
        guard GeneratedValues.unique(of: attribute.type, number: 0) != nil else { continue }
        let values = all.compactMap { $0.attributes[attribute.name] }.map {
          OracleText.of($0)
        }
        if Set(values).count == values.count {
          draft.change(entity.name) { $0.uniquenessConstraints = [[attribute.name]] }
        }
      }
    }
  }
}

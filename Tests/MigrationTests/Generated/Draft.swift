import ManagedModel
import TestSupport

/// A model while it is being made or edited; it may be unsound in between.
struct Draft {
  var entities: [Entity]
  /// Counts up, so that a name that was free once is not given again.
  private var names = 0

  init(entities: [Entity] = []) { self.entities = entities }

  func model() throws -> Model { try Model(entities: entities, versionIdentifiers: ["made"]) }

  mutating func freshName(_ word: String) -> String {
    names += 1
    return word + String(names)
  }

  func index(of entity: String) -> Int? { entities.firstIndex { $0.name == entity } }

  func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

  func lineage(of name: String) -> [Entity] {
    var chain: [Entity] = []
    var current = entity(name)
    while let entity = current, chain.count < 20 {
      chain.append(entity)
      current = entity.parent.flatMap { self.entity($0) }
    }
    return chain
  }

  func root(of name: String) -> String { lineage(of: name).last?.name ?? name }

  func children(of name: String) -> [Entity] { entities.filter { $0.parent == name } }

  func isKind(_ name: String, of ancestor: String) -> Bool {
    lineage(of: name).contains { $0.name == ancestor }
  }

  mutating func change(_ entity: String, _ body: (inout Entity) -> Void) {
    if let index = index(of: entity) { body(&entities[index]) }
  }

  mutating func change(attribute name: String, of entity: String, _ body: (inout Attribute) -> Void)
  {
    change(entity) { entity in
      guard let index = entity.attributes.firstIndex(where: { $0.name == name }) else { return }
      body(&entity.attributes[index])
    }
  }

  mutating func change(
    relationship name: String, of entity: String, _ body: (inout Relationship) -> Void
  ) {
    change(entity) { entity in
      guard let index = entity.relationships.firstIndex(where: { $0.name == name }) else { return }
      body(&entity.relationships[index])
    }
  }

  func inverse(of relationship: Relationship) -> Relationship? {
    relationship.inverse.flatMap { entity(relationship.destination)?.relationship(named: $0) }
  }

  /// Whether Core Data would take it: names unique along each lineage, inverses that agree,
  /// constraints over own stored attributes, tables that differ.
  var isSound: Bool {
    guard let model = try? model() else { return false }
    let roots = model.entities.filter { $0.parent == nil }.map { $0.name.uppercased() }
    guard Set(roots).count == roots.count else { return false }
    for entity in model.entities {
      let lineage = model.lineage(of: entity.name)
      let names = lineage.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
      guard Set(names).count == names.count, lineage.count <= 5 else { return false }
      for relationship in entity.relationships {
        guard let destination = model.entity(named: relationship.destination) else { return false }
        guard let inverse = relationship.inverse else { continue }
        guard let back = destination.relationship(named: inverse),
          back.inverse == relationship.name,
          back.destination == entity.name
        else { return false }
      }
      for name in entity.uniquenessConstraints.joined() {
        guard entity.attribute(named: name)?.isStored == true else { return false }
      }
    }
    return true
  }
}

extension SeededGenerator {
  /// True in that many of a hundred cases.
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  mutating func pick<T>(_ items: [T]) -> T? { items.randomElement(using: &self) }
}

import ManagedModel
import ManagedStore
import TestSupport

/// One object as a dictionary; NULL is absence.
struct GeneratedObject: Equatable {
  var id: ObjectID
  var attributes: [String: AttributeValue] = [:]
  /// Both directions of every link; in order where the relationship is ordered.
  var links: [String: [ObjectID]] = [:]
}

/// Random objects of a model.
struct GeneratedObjects {
  /// In the order in which they are inserted: hierarchy by hierarchy, with rising keys.
  private(set) var all: [GeneratedObject] = []
  private var indexes: [ObjectID: Int] = [:]
  private let model: Model

  init(of model: Model, using generator: inout SeededGenerator) {
    self.model = model
    makeObjects(using: &generator)
    for entity in model.entities {
      for attribute in entity.attributes.flatMap(OracleElements.values(of:)) {
        fill(attribute, of: entity.name, using: &generator)
      }
    }
    for entity in model.entities {
      for relationship in entity.relationships {
        link(relationship, of: entity.name, using: &generator)
      }
    }
    sortUnordered()
  }

  subscript(id: ObjectID) -> GeneratedObject? { indexes[id].map { all[$0] } }

  private mutating func makeObjects(using generator: inout SeededGenerator) {
    for root in model.entitiesInStoreOrder where root.parent == nil {
      var entities: [String] = []
      for name in model.subtree(of: root.name) where model.entity(named: name)?.isAbstract == false
      {
        let count = generator.pick([0, 1, 3, 6, 10, 20, Int.random(in: 0...60, using: &generator)])
        entities += [String](repeating: name, count: count ?? 0)
      }
      var key: Int64 = 0
      for name in entities.shuffled(using: &generator) {
        key += generator.chance(80) ? 1 : Int64.random(in: 2...9, using: &generator)
        let id = ObjectID(entity: name, key: key)
        indexes[id] = all.count
        all.append(GeneratedObject(id: id))
      }
    }
  }

  private func indexes(of entity: String) -> [Int] {
    all.indices.filter { model.isKind(all[$0].id.entity, of: entity) }
  }

  private mutating func fill(
    _ attribute: Attribute, of entity: String, using generator: inout SeededGenerator
  ) {
    let isUnique = generator.chance(35)
    let isSmall = generator.chance(40)
    let nulls = attribute.isOptional ? generator.pick([0, 25, 25, 60]) ?? 0 : 0
    var hasLarge = attribute.allowsExternalBinaryDataStorage && generator.chance(50)
    for index in indexes(of: entity) where !generator.chance(nulls) {
      let unique = isUnique ? GeneratedValues.unique(of: attribute.type, number: index) : nil
      all[index].attributes[attribute.name] =
        unique
        ?? (hasLarge
          ? GeneratedValues.large(number: index)
          : GeneratedValues.value(of: attribute.type, isSmall: isSmall, using: &generator))
      hasLarge = false
    }
  }

  private mutating func connect(_ owner: Int, _ relationship: Relationship, to target: Int) {
    all[owner].links[relationship.name, default: []].append(all[target].id)
    guard let inverse = relationship.inverse else { return }
    // An object that is its own friend has itself once.
    if inverse == relationship.name && owner == target { return }
    all[target].links[inverse, default: []].append(all[owner].id)
  }

  private mutating func link(
    _ relationship: Relationship, of entity: String, using generator: inout SeededGenerator
  ) {
    guard !isSecondSide(relationship, of: entity) else { return }
    let owners = indexes(of: entity)
    let targets = indexes(of: relationship.destination)
    guard !owners.isEmpty, !targets.isEmpty else { return }
    let inverse = relationship.inverse.flatMap {
      model.relationship(named: $0, of: relationship.destination)
    }
    let density = generator.pick([30, 70, 100]) ?? 0
    switch (relationship.isToMany, inverse?.isToMany) {
    case (true, true?):
      let isReflexive = relationship.inverse == relationship.name
      var pairs: Set<[Int]> = []
      for owner in owners where generator.chance(density) {
        for target in targets.shuffled(using: &generator).prefix(
          Int.random(in: 0...4, using: &generator))
        {
          let pair = isReflexive ? [min(owner, target), max(owner, target)] : [owner, target]
          if pairs.insert(pair).inserted { connect(owner, relationship, to: target) }
        }
      }
      // The writer orders the other side by key.
      if let inverse, inverse.isOrdered {
        for target in targets { all[target].links[inverse.name]?.sort { $0.key < $1.key } }
      }
    case (true, false?), (true, nil):
      for target in targets.shuffled(using: &generator) where generator.chance(density) {
        // Without an inverse the object must have been inserted before its owner.
        let possible = inverse == nil ? owners.filter { $0 > target } : owners
        if let owner = generator.pick(possible) { connect(owner, relationship, to: target) }
      }
    case (false, true?), (false, nil):
      for owner in owners where generator.chance(density) {
        if let target = generator.pick(targets) { connect(owner, relationship, to: target) }
      }
    case (false, false?)
    where relationship.inverse == relationship.name && relationship.destination == entity:
      // Two and two; now and then somebody with nobody else.
      let shuffled = owners.shuffled(using: &generator)
      for index in stride(from: 0, to: shuffled.count - 1, by: 2) where generator.chance(density) {
        let isAlone = generator.chance(10)
        connect(shuffled[index], relationship, to: shuffled[isAlone ? index : index + 1])
      }
    case (false, false?):
      for (owner, target) in zip(
        owners.shuffled(using: &generator), targets.shuffled(using: &generator))
      where generator.chance(density) { connect(owner, relationship, to: target) }
    }
  }

  /// Of the two sides of a relationship one is filled, the ordered or to-many one if there is one.
  private func isSecondSide(_ relationship: Relationship, of entity: String) -> Bool {
    guard let name = relationship.inverse,
      let inverse = model.relationship(named: name, of: relationship.destination)
    else { return false }
    func rank(_ relationship: Relationship) -> Int {
      (relationship.isToMany ? 2 : 0) + (relationship.isOrdered ? 1 : 0)
    }
    if rank(relationship) != rank(inverse) { return rank(relationship) < rank(inverse) }
    return (entity, relationship.name) > (relationship.destination, name)
  }

  private mutating func sortUnordered() {
    for index in all.indices {
      for (name, ids) in all[index].links
      where model.relationship(named: name, of: all[index].id.entity)?.isOrdered != true {
        all[index].links[name] = ids.sorted(by: OracleText.precedes)
      }
    }
  }

  /// Writes them into a new store.
  func write(to path: String, model: Model, uuid: String) throws {
    let writer = try StoreWriter(creating: path, model: model, uuid: uuid)
    for object in all {
      var toOne: [String: ObjectID] = [:]
      var positions: [String: Int] = [:]
      var toMany: [String: [ObjectID]] = [:]
      for relationship in model.relationships(of: object.id.entity) {
        guard let ids = object.links[relationship.name], let first = ids.first else { continue }
        let inverse = relationship.inverse.flatMap {
          model.relationship(named: $0, of: relationship.destination)
        }
        guard relationship.isToMany else {
          toOne[relationship.name] = first
          if let inverse, inverse.isToMany, inverse.isOrdered {
            positions[relationship.name] = self[first]?.links[inverse.name]?.firstIndex(
              of: object.id)
          }
          continue
        }
        let declarer = model.declaringEntity(of: relationship.name, in: object.id.entity)
        if inverse?.isToMany == false || isSecondSide(relationship, of: declarer ?? "") { continue }
        toMany[relationship.name] = ids
      }
      try writer.insert(
        object.id.entity, key: object.id.key, attributes: object.attributes, toOne: toOne,
        positions: positions, toMany: toMany)
    }
    try writer.finish()
  }
}

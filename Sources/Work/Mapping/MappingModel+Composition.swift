import ManagedModel

extension MappingModel {
  /// What two inferred mappings do one after the other, as a single one: where each thing of the
  /// last version comes from in the first.
  ///
  /// An attribute that the first step adds keeps that step's default; NULLs that both steps fill
  /// take the first one's. `nil` where a mapping is no inferred one, since expressions and
  /// conditions cannot be put into each other, or where the two do not meet in one model.
  package static func composed(_ first: MappingModel, _ second: MappingModel) -> MappingModel? {
    if first.kind == .none { return second.isComposable ? second : nil }
    if second.kind == .none { return first.isComposable ? first : nil }
    guard first.isComposable, second.isComposable else { return nil }
    return Composition(first: first, second: second).mapping()
  }

  /// Whether it only says what comes from what.
  private var isComposable: Bool {
    guard kind == .none || kind == .inferred else { return false }
    return entityMappings.allSatisfy { mapping in
      mapping.kind != .custom && mapping.condition == nil && mapping.distinct == nil
        && mapping.children.isEmpty && mapping.policy == nil
        && mapping.attributes.allSatisfy { $0.expression == nil }
        && mapping.relationships.allSatisfy {
          $0.condition == nil && $0.source != RelationshipMapping.ofSourceObject
        }
    }
  }
}

extension EntityMapping {
  /// What one mapping carries and another to the same entity does not.
  enum Gap: Equatable {
    case entity
    case property(String)
  }

  /// The first thing that this mapping carries and another does not, or from elsewhere.
  func gap(in own: EntityMapping?) -> Gap? {
    guard let from = source else { return nil }
    guard let own, own.source == from else { return .entity }
    let attributes = Dictionary(first: own.attributes.map { ($0.name, $0.source) })
    for attribute in self.attributes where attribute.source != nil {
      if attributes[attribute.name] != attribute.source { return .property(attribute.name) }
    }
    let links = Dictionary(first: own.relationships.map { ($0.name, $0.source) })
    for relationship in relationships where relationship.source != nil {
      if links[relationship.name] != relationship.source { return .property(relationship.name) }
    }
    return nil
  }

  /// What this inferred mapping does after another, whose objects it takes, as a single one; `nil`
  /// where the other makes no property that this one needs.
  ///
  /// - Parameter names: of the composed mappings by those of the second step.
  func composed(after one: EntityMapping, names: [String: String] = [:]) -> EntityMapping? {
    let attributes = Dictionary(first: one.attributes.map { ($0.name, $0) })
    let links = Dictionary(first: one.relationships.map { ($0.name, $0) })
    var result = EntityMapping(
      name: names[name] ?? name, kind: kind(after: one), source: one.source,
      destination: destination)
    for attribute in self.attributes {
      guard let middle = attribute.source else {
        result.attributes.append(attribute)
        continue
      }
      guard let before = attributes[middle] else { return nil }
      // What the first step fills is filled when the second looks.
      let isFilled = before.defaultValue.map { $0 != .null } ?? false
      result.attributes.append(
        AttributeMapping(
          name: attribute.name, source: before.source,
          defaultValue: isFilled ? before.defaultValue : attribute.defaultValue))
    }
    for relationship in relationships {
      guard let middle = relationship.source else {
        result.relationships.append(relationship)
        continue
      }
      guard let before = links[middle] else { return nil }
      result.relationships.append(
        before.source.map {
          RelationshipMapping(
            name: relationship.name, source: $0,
            through: relationship.through.map { names[$0] ?? $0 })
        } ?? RelationshipMapping(name: relationship.name, source: nil))
    }
    return result
  }

  fileprivate func kind(after one: EntityMapping) -> Kind {
    if one.source == nil { return .add }
    return one.kind == .copy && kind == .copy ? .copy : .transform
  }
}

private struct Composition {
  let second: MappingModel
  /// Mappings of the first step by their destination.
  let former: [String: EntityMapping]
  let removed: [String]
  /// Names of the composed mappings by those of the second step.
  let names: [String: String]

  init(first: MappingModel, second: MappingModel) {
    self.second = second
    let former = Dictionary(
      first: first.entityMappings.compactMap { mapping in mapping.destination.map { ($0, mapping) }
      })
    self.former = former
    removed = first.entityMappings.filter { $0.destination == nil }.compactMap(\.source)
    names = Dictionary(
      first: second.entityMappings.compactMap { mapping in
        mapping.destination.map { (mapping.name, Self.name(of: mapping, to: $0, former)) }
      })
  }

  func mapping() -> MappingModel? {
    var mappings: [EntityMapping] = []
    var removals = removed
    var taken: Set<String> = []
    for last in second.entityMappings {
      if let middle = last.source {
        guard let one = former[middle], taken.insert(middle).inserted else { return nil }
        guard last.destination != nil else {
          if let from = one.source { removals.append(from) }
          continue
        }
        guard let mapping = last.composed(after: one, names: names) else { return nil }
        mappings.append(mapping)
      } else {
        mappings.append(last)
      }
    }
    // An entity of the model between that the second step does not speak of.
    guard former.keys.allSatisfy(taken.contains) else { return nil }
    mappings += removals.sortedByBytes(\.self).map {
      EntityMapping(name: "IEM_Remove_\($0)", kind: .remove, source: $0, destination: nil)
    }
    return MappingModel(kind: .inferred, entityMappings: mappings)
  }

  private static func name(
    of last: EntityMapping, to entity: String, _ former: [String: EntityMapping]
  ) -> String {
    guard let one = last.source.flatMap({ former[$0] }) else { return "IEM_Add_\(entity)" }
    switch last.kind(after: one) {
    case .add: return "IEM_Add_\(entity)"
    case .copy: return "IEM_Copy_\(entity)"
    default: return "IEM_Transform_\(entity)"
    }
  }
}

extension MappingModel {
  /// One-to-ones whose two sides do not come, object by object, from the two sides of one in the
  /// source: one side is carried alone, or made, or they meet for the first time.
  ///
  /// Their links are set when all objects are there, as setting one side does in Core Data: the
  /// other side follows, and where two claim one object the later wins. All other one-to-ones are as
  /// the source has them.
  package func looseOneToOnes(from source: Model, to destination: Model) -> [OneToOne] {
    destination.oneToOnes.filter { pair in
      guard !isMade(pair, destination) else { return true }
      let makers = pair.sides.map { side in
        mappings(toDestinations: destination.subtree(of: side.entity)).filter { $0.source != nil }
      }
      // Without objects on one side there is nothing to link.
      guard makers.allSatisfy({ !$0.isEmpty }) else { return false }
      let carried = zip(pair.sides, makers).map { side, makers in
        makers.map { maker in maker.relationship(named: side.name) }
      }
      guard carried.joined().contains(where: { $0?.source != nil || $0?.fetched != nil }) else {
        return false
      }
      return !isKept(pair, zip(pair.sides, makers).map { ($0, $1) }, source)
    }
  }

  /// Whether objects are made that hang on others by the pair.
  private func isMade(_ pair: OneToOne, _ model: Model) -> Bool {
    func makes(_ children: [ChildMapping], of entity: String) -> Bool {
      children.contains { child in
        let declarer = model.declaringEntity(of: child.relationship, in: entity) ?? entity
        return pair.contains(child.relationship, of: declarer)
          || makes(child.children, of: child.destination)
      }
    }
    return entityMappings.contains { entityMapping in
      entityMapping.destination.map { makes(entityMapping.children, of: $0) } ?? false
    }
  }

  private func isKept(
    _ pair: OneToOne, _ sides: [(side: OneToOne.Side, makers: [EntityMapping])], _ source: Model
  ) -> Bool {
    struct Origin: Hashable {
      var entity: String
      var name: String
    }
    var origins: [Set<Origin>] = []
    var inverses: [Set<Origin>] = []
    for (side, makers) in sides {
      var own: Set<Origin> = []
      var back: Set<Origin> = []
      for maker in makers {
        // Of an object that becomes several, or of several that become one, only one can be referenced.
        guard let from = maker.source, maker.distinct == nil,
          mappings(fromSource: from).count(where: { $0.destination != nil }) == 1,
          let relationshipMapping = maker.relationship(named: side.name),
          relationshipMapping.fetched == nil, let former = relationshipMapping.source,
          let relationship = source.relationship(named: former, of: from), !relationship.isToMany,
          let inverse = relationship.inverse,
          source.relationship(named: inverse, of: relationship.destination)?.isToMany == false,
          let declarer = source.declaringEntity(of: former, in: from),
          let other = source.declaringEntity(of: inverse, in: relationship.destination)
        else { return false }
        own.insert(Origin(entity: declarer, name: former))
        back.insert(Origin(entity: other, name: inverse))
      }
      origins.append(own)
      inverses.append(back)
    }
    guard origins.first == inverses.last, origins.last == inverses.first else { return false }
    // Where subentities take it from several, the two ends of each link must take it from the same one.
    return sides.allSatisfy { side, makers in
      let other = sides.first { $0.side != side } ?? (side, makers)
      return makers.allSatisfy { maker in
        guard let from = maker.source,
          let former = maker.relationship(named: side.name)?.source,
          let relationship = source.relationship(named: former, of: from)
        else { return false }
        return other.makers.allSatisfy {
          !source.isKind($0.source ?? "", of: relationship.destination)
            || $0.relationship(named: other.side.name)?.source == relationship.inverse
        }
      }
    }
  }
}

extension EntityMapping {
  /// The mapping of an attribute, or of an element by its path.
  package func attribute(named name: String) -> AttributeMapping? {
    attributes.first { $0.name == name }
  }

  package func relationship(named name: String) -> RelationshipMapping? {
    relationships.first { $0.name == name }
  }

  /// Whether what it makes is of an entity, or of one below it.
  package func makes(_ entity: String, in model: Model) -> Bool {
    destination.map { model.isKind($0, of: entity) } ?? false
  }
}

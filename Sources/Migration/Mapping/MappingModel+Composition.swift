import ManagedModel

extension MappingModel {
  /// What two inferred mappings do one after the other, as a single one: where each thing of the
  /// last version comes from in the first.
  ///
  /// An attribute that the first step adds keeps that step's default; NULLs that both steps fill
  /// take the first one's. `nil` where a mapping is no inferred one, since expressions and
  /// conditions cannot be put into each other, or where the two do not meet in one model.
  static func composed(_ first: MappingModel, _ second: MappingModel) -> MappingModel? {
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

  /// The first thing that another mapping carries and this one does not, or from elsewhere.
  ///
  /// - Returns: names in the destination, the property `nil` for an entity; `nil` where this mapping
  ///   carries all that the other does.
  func firstMissing(of other: MappingModel) -> (entity: String, property: String?)? {
    let mine = Dictionary(
      first: entityMappings.compactMap { mapping in mapping.destination.map { ($0, mapping) } })
    for theirs in other.entityMappings {
      guard let to = theirs.destination else { continue }
      switch theirs.gap(in: mine[to]) {
      case nil: continue
      case .entity: return (to, nil)
      case .property(let name): return (to, name)
      }
    }
    return nil
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

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
      guard let to = theirs.destination, let from = theirs.source else { continue }
      guard let own = mine[to], own.source == from else { return (to, nil) }
      let attributes = Dictionary(first: own.attributes.map { ($0.name, $0.source) })
      for attribute in theirs.attributes where attribute.source != nil {
        if attributes[attribute.name] != attribute.source { return (to, attribute.name) }
      }
      let links = Dictionary(first: own.relationships.map { ($0.name, $0.source) })
      for relationship in theirs.relationships where relationship.source != nil {
        if links[relationship.name] != relationship.source { return (to, relationship.name) }
      }
    }
    return nil
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
        guard let to = last.destination else {
          if let from = one.source { removals.append(from) }
          continue
        }
        guard let mapping = carried(one, last, to: to) else { return nil }
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

  private func carried(
    _ one: EntityMapping, _ last: EntityMapping, to entity: String
  ) -> EntityMapping? {
    let attributes = Dictionary(first: one.attributes.map { ($0.name, $0) })
    let links = Dictionary(first: one.relationships.map { ($0.name, $0) })
    var result = EntityMapping(
      name: names[last.name] ?? last.name, kind: Self.kind(of: last, one), source: one.source,
      destination: entity)
    for attribute in last.attributes {
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
    for relationship in last.relationships {
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

  private static func kind(of last: EntityMapping, _ one: EntityMapping) -> EntityMapping.Kind {
    if one.source == nil { return .add }
    return one.kind == .copy && last.kind == .copy ? .copy : .transform
  }

  private static func name(
    of last: EntityMapping, to entity: String, _ former: [String: EntityMapping]
  ) -> String {
    guard let one = last.source.flatMap({ former[$0] }) else { return "IEM_Add_\(entity)" }
    switch kind(of: last, one) {
    case .add: return "IEM_Add_\(entity)"
    case .copy: return "IEM_Copy_\(entity)"
    default: return "IEM_Transform_\(entity)"
    }
  }
}

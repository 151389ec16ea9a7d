import ManagedModel

/// Works out the mapping that Core Data would infer between two models.
public enum MappingInference {
  /// - Throws: ``CoreDataError`` of kind refused, code 134190, naming the entity and property whose
  ///   change cannot be inferred, and the way out.
  public static func mapping(from source: Model, to destination: Model) throws -> MappingModel {
    try mapping(
      from: source, to: destination, hashes: (source.versionHashes, destination.versionHashes))
  }

  /// The same for models whose hashes are known: a search through versions asks thousands of times.
  static func mapping(
    from source: Model, to destination: Model,
    hashes: (source: [String: VersionHash], destination: [String: VersionHash])
  ) throws -> MappingModel {
    try Inference(source: source, destination: destination, hashes: hashes).mapping()
  }
}

/// Two models and what is known of their counterparts while a mapping is being worked out.
private struct Inference {
  let source: Model
  let destination: Model
  let entities: NameAlignment
  let sourceHashes: [String: VersionHash]
  let destinationHashes: [String: VersionHash]

  init(
    source: Model, destination: Model,
    hashes: (source: [String: VersionHash], destination: [String: VersionHash])
  ) {
    self.source = source
    self.destination = destination
    entities = destination.entityAlignment(from: source)
    sourceHashes = hashes.source
    destinationHashes = hashes.destination
  }

  func mapping() throws -> MappingModel {
    if let (name, claims) = entities.conflicts.min(by: { $0.key < $1.key }) {
      throw refusal(
        "several entities claim to be the former “\(name)”: \(claims.joined(separator: ", "))",
        entity: name, hint: "Let one of them keep the renaming identifier.")
    }
    if sourceHashes == destinationHashes { return MappingModel(kind: .none, entityMappings: []) }
    try refuseMergedHierarchies()
    var mappings: [EntityMapping] = []
    for entity in destination.entities {
      guard let former = entities.sources[entity.name] else {
        mappings.append(added(entity))
        continue
      }
      mappings.append(try carried(entity, from: former))
    }
    for entity in source.entities where entities.destinations[entity.name] == nil {
      mappings.append(
        EntityMapping(
          name: "IEM_Remove_\(entity.name)", kind: .remove, source: entity.name, destination: nil))
    }
    return MappingModel(kind: .inferred, entityMappings: mappings)
  }

  /// Objects of one hierarchy share a table and its keys, so two tables cannot become one.
  private func refuseMergedHierarchies() throws {
    for root in destination.entities where root.parent == nil {
      let former = destination.subtree(of: root.name).compactMap { entities.sources[$0] }
      let roots = Set(former.map(source.root(of:))).sorted()
      guard roots.count > 1 else { continue }
      throw refusal(
        "the entities \(roots.joined(separator: " and ")) had no common parent and would share one, “\(root.name)”",
        entity: root.name,
        hint: "Keep the hierarchies apart, or merge them with a mapping of your own.")
    }
  }

  private func added(_ entity: Entity) -> EntityMapping {
    EntityMapping(
      name: "IEM_Add_\(entity.name)", kind: .add, source: nil, destination: entity.name,
      attributes: destination.attributes(of: entity.name).filter(\.isStored).map {
        AttributeMapping(name: $0.name, source: nil, defaultValue: $0.defaultValue)
      },
      relationships: destination.relationships(of: entity.name).filter { !$0.isTransient }.map {
        RelationshipMapping(name: $0.name, source: nil)
      })
  }

  private func carried(_ entity: Entity, from former: String) throws -> EntityMapping {
    let isCopy =
      entity.name == former && sourceHashes[former] == destinationHashes[entity.name]
    return EntityMapping(
      name: name(of: entity.name), kind: isCopy ? .copy : .transform, source: former,
      destination: entity.name,
      attributes: try attributes(of: entity.name, from: former, byName: isCopy),
      relationships: try relationships(of: entity.name, from: former, byName: isCopy))
  }

  private func name(of entity: String) -> String {
    guard let former = entities.sources[entity] else { return "IEM_Add_\(entity)" }
    let isCopy = entity == former && sourceHashes[former] == destinationHashes[entity]
    return isCopy ? "IEM_Copy_\(entity)" : "IEM_Transform_\(entity)"
  }

  /// - Parameter byName: an entity whose hash did not change has the same properties under the same
  ///   names, whatever renaming identifiers came since.
  private func attributes(
    of entity: String, from former: String, byName: Bool
  ) throws
    -> [AttributeMapping]
  {
    // Transient attributes take part in the matching: one that becomes persistent is new to the
    // store, and must not be mistaken for another.
    let old = source.attributes(of: former)
    let new = destination.attributes(of: entity)
    let matches = try alignment(
      of: new.map { ($0.name, $0.canonicalName) }, from: old.map { ($0.name, $0.canonicalName) },
      entity: entity, byName: byName)
    return try new.filter(\.isStored).map { attribute in
      if source.relationship(named: attribute.canonicalName, of: former) != nil,
        matches.sources[attribute.name] == nil
      {
        throw refusal(
          "a relationship would become an attribute", entity: entity, property: attribute.name,
          hint: "Use another name for the attribute, or a mapping of your own.")
      }
      guard let match = matches.sources[attribute.name],
        let before = old.first(where: { $0.name == match }), before.isStored
      else {
        return AttributeMapping(
          name: attribute.name, source: nil, defaultValue: attribute.defaultValue)
      }
      guard attribute.type == before.type || (attribute.type.isInteger && before.type.isInteger)
      else {
        throw refusal(
          "the attribute would change its type from \(before.type.name) to \(attribute.type.name)"
            + (match == attribute.name ? "" : " with its name (formerly “\(match)”)"),
          entity: entity, property: attribute.name,
          hint:
            "Keep the type \(before.type.name), add an attribute of another name, or use a mapping of your own."
        )
      }
      let fillsNulls = before.isOptional && !attribute.isOptional
      return AttributeMapping(
        name: attribute.name, source: match,
        defaultValue: fillsNulls ? attribute.defaultValue : nil)
    }
  }

  private func relationships(
    of entity: String, from former: String, byName: Bool
  ) throws
    -> [RelationshipMapping]
  {
    let old = source.relationships(of: former)
    let new = destination.relationships(of: entity)
    let matches = try alignment(
      of: new.map { ($0.name, $0.canonicalName) }, from: old.map { ($0.name, $0.canonicalName) },
      entity: entity, byName: byName)
    return try new.filter { !$0.isTransient }.map { relationship in
      guard let match = matches.sources[relationship.name],
        let before = old.first(where: { $0.name == match }), !before.isTransient
      else {
        if source.attribute(named: relationship.canonicalName, of: former)?.isStored == true {
          throw refusal(
            "an attribute would become a relationship", entity: entity,
            property: relationship.name,
            hint: "Use another name for the relationship, or a mapping of your own.")
        }
        return RelationshipMapping(name: relationship.name, source: nil)
      }
      if before.isToMany && !relationship.isToMany {
        throw refusal(
          "the relationship would turn from to-many to to-one", entity: entity,
          property: relationship.name,
          hint: "Keep it to-many, or say in a mapping of your own which object is kept.")
      }
      try checkDestination(of: relationship, before: before, entity: entity)
      return RelationshipMapping(
        name: relationship.name, source: match, through: name(of: relationship.destination))
    }
  }

  /// Links are kept only to objects that the new destination entity has.
  private func checkDestination(
    of relationship: Relationship, before: Relationship, entity: String
  ) throws {
    let kept = source.subtree(of: before.destination).compactMap { entities.destinations[$0] }
    let isReachable = kept.allSatisfy { destination.isKind($0, of: relationship.destination) }
    guard !kept.isEmpty, !isReachable else { return }
    throw refusal(
      "the relationship would lead to \(relationship.destination) where it led to \(before.destination)",
      entity: entity, property: relationship.name,
      hint: "Let it lead to the same entity or to a parent of it, or give it another name.")
  }

  /// Which property is which; by plain names where the entity's hash did not change.
  private func alignment(
    of new: [NameAlignment.Named], from old: [NameAlignment.Named], entity: String, byName: Bool
  ) throws -> NameAlignment {
    let matches =
      byName
      ? NameAlignment(
        source: old.map { ($0.name, $0.name) }, destination: new.map { ($0.name, $0.name) })
      : NameAlignment(source: old, destination: new)
    try refuseConflicts(matches, entity: entity)
    return matches
  }

  private func refuseConflicts(_ matches: NameAlignment, entity: String) throws {
    guard let (name, claims) = matches.conflicts.min(by: { $0.key < $1.key }) else { return }
    throw refusal(
      "several properties claim to be the former “\(name)”: \(claims.joined(separator: ", "))",
      entity: entity, property: claims.last,
      hint: "Let one of them keep the renaming identifier.")
  }

  private func refusal(
    _ message: String, entity: String, property: String? = nil, hint: String
  ) -> CoreDataError {
    CoreDataError(
      .refused, code: 134190, "no mapping can be inferred: \(message)", entity: entity,
      property: property, hint: hint)
  }
}

import ManagedModel
import ModelWriting

/// Two models and what is known of their counterparts while a mapping is being worked out.
package struct Inference {
  /// A pair of entities that somebody mapped: what is new or goes has one name.
  package struct Given {
    var source: String?
    var destination: String?
  }

  /// What a recipe says beside its mappings, by destination entity: one of these is no copy,
  /// whatever its hash says.
  package struct Words {
    /// Entities of which properties are renamed.
    var renamed: Set<String> = []
    /// Sides of one-to-ones that follow the other side, to which a mapping gives links.
    var followers: [String: Set<String>] = [:]

    func touch(_ entity: String) -> Bool { renamed.contains(entity) || followers[entity] != nil }
  }

  let source: Model
  let destination: Model
  let entities: NameAlignment
  let sourceHashes: [String: VersionHash]
  let destinationHashes: [String: VersionHash]
  /// Whether a recipe has the last word: refusals then say what to write into it.
  let isForRecipe: Bool
  /// Every destination entity that a source entity's objects go to.
  private let targets: [String: Set<String>]
  let given: [Given]
  /// What a recipe says beside its mappings.
  private let words: Words
  /// Whether sources that share a renaming identifier are distinguished by their names: with a recipe, and
  /// where all that cannot be inferred is looked for.
  let allowsSharing: Bool

  /// - Parameters:
  ///   - given: what a recipe maps itself: a destination entity among these is not
  ///     inferred, and a source entity with no destination has none. `nil`: there is no recipe.
  ///   - words: what a recipe says beside.
  ///   - hashes: the two models' own, where they are known.
  ///   - allowsSharing: whether sources may share an identifier; a recipe always allows it.
  package init(
    source: Model, destination: Model, given: [Given]? = nil, words: Words = Words(),
    hashes: (source: [String: VersionHash], destination: [String: VersionHash])? = nil,
    allowsSharing: Bool = false
  ) {
    self.source = source
    self.destination = destination
    self.given = given ?? []
    self.words = words
    isForRecipe = given != nil
    self.allowsSharing = allowsSharing || given != nil
    let mapped = Set(self.given.compactMap(\.destination))
    let deleted = Set(self.given.filter { $0.destination == nil }.compactMap(\.source))
    // Entities that are mapped claim no source: another entity that claims the same one has it alone.
    entities = NameAlignment(
      source: source.entities.filter { !deleted.contains($0.name) }
        .map { ($0.name, $0.canonicalName) },
      destination: destination.entities.filter { !mapped.contains($0.name) }
        .map { ($0.name, $0.canonicalName) })
    sourceHashes = hashes?.source ?? source.versionHashes
    destinationHashes = hashes?.destination ?? destination.versionHashes
    var targets = entities.destinations.mapValues { Set([$0]) }
    for pair in self.given {
      if let from = pair.source, let to = pair.destination {
        targets[from, default: []].insert(to)
      }
    }
    self.targets = targets
  }

  package func mapping() throws(CoreDataError) -> MappingModel {
    // A store of equal hashes opens as it is: nobody asks for renaming identifiers.
    if sourceHashes == destinationHashes, !isForRecipe {
      return MappingModel(kind: .none, entityMappings: [])
    }
    try refuseEntities()
    let mapped = Set(given.compactMap(\.destination))
    var mappings = try destination.entities.filter { !mapped.contains($0.name) }
      .map(mapping(of:))
    let taken = Set(given.compactMap(\.source))
    for entity in source.entities
    where entities.destinations[entity.name] == nil && !taken.contains(entity.name) {
      mappings.append(
        EntityMapping(
          name: "IEM_Remove_\(entity.name)", kind: .remove, source: entity.name, destination: nil))
    }
    return MappingModel(kind: .inferred, entityMappings: mappings)
  }

  /// Refuses models in which entities share an identifier, or hierarchies become one.
  func refuseEntities() throws(CoreDataError) {
    if !allowsSharing { try refuseSharedEntities(entities.sharedSources, in: "source") }
    try refuseSharedEntities(entities.sharedDestinations, in: "destination")
    try refuseMergedHierarchies()
  }

  /// What becomes the objects of an entity of the destination.
  func mapping(of entity: Entity) throws(CoreDataError) -> EntityMapping {
    guard let former = entities.sources[entity.name] else { return added(entity) }
    return try carried(entity, from: former)
  }

  func added(_ entity: Entity) -> EntityMapping {
    EntityMapping(
      name: "IEM_Add_\(entity.name)", kind: .add, source: nil, destination: entity.name,
      attributes: destination.storedAttributes(of: entity.name).map(AttributeMapping.init(new:)),
      relationships: destination.relationships(of: entity.name).filter { !$0.isTransient }.map {
        RelationshipMapping(name: $0.name, source: nil)
      })
  }

  /// Whether a pair of entities is one and the same in both models.
  func isCopy(_ entity: String, from former: String) -> Bool {
    entity == former && sourceHashes[former] == destinationHashes[entity] && !words.touch(entity)
  }

  private func carried(_ entity: Entity, from former: String) throws(CoreDataError) -> EntityMapping
  {
    let isCopy = isCopy(entity.name, from: former)
    if !allowsSharing { try refuseSharedProperties(of: entity.name, from: former) }
    return EntityMapping(
      name: name(of: entity.name), kind: isCopy ? .copy : .transform, source: former,
      destination: entity.name,
      attributes: try attributes(of: entity.name, from: former, byName: isCopy),
      relationships: try relationships(of: entity.name, from: former, byName: isCopy))
  }

  /// The mapping that takes the objects a relationship references; `nil` where a recipe maps some of
  /// them, since each then goes its own way.
  private func carrier(of entity: String) -> String? {
    if isForRecipe {
      let mapped = Set(given.compactMap(\.destination))
      guard mapped.isDisjoint(with: destination.subtree(of: entity)) else { return nil }
    }
    return name(of: entity)
  }

  private func name(of entity: String) -> String {
    guard let former = entities.sources[entity] else { return "IEM_Add_\(entity)" }
    return isCopy(entity, from: former) ? "IEM_Copy_\(entity)" : "IEM_Transform_\(entity)"
  }

  /// - Parameter byName: an entity whose hash did not change has the same properties under the same
  ///   names, whatever renaming identifiers came since.
  /// - Parameter skipped: attributes that a recipe gives values, which need not be inferable.
  func attributes(
    of entity: String, from former: String, byName: Bool, skipping skipped: Set<String> = []
  ) throws(CoreDataError) -> [AttributeMapping] {
    // Transient attributes take part on neither side.
    let old = source.attributes(of: former).filter { !$0.isTransient }
    let new = destination.attributes(of: entity).filter { !$0.isTransient }
    let given = Set(new.filter { Self.isGiven($0, skipped) }.map(\.name))
    let formerNames = byName ? destination.formerComposites(of: entity, in: source) : [:]
    let matches = NameAlignment(
      source: old.map { ($0.name, byName ? $0.name : $0.canonicalName) },
      destination: new.filter { !given.contains($0.name) }
        .map { ($0.name, byName ? formerNames[$0.name] ?? $0.name : $0.canonicalName) })
    var mappings: [AttributeMapping] = []
    for attribute in new where !given.contains(attribute.name) {
      let before = matches.sources[attribute.name].flatMap { match in
        old.first { $0.name == match }
      }
      guard let before, AttributeKind(before) == AttributeKind(attribute) else {
        mappings += attribute.storage.columns.map { AttributeMapping(new: $0.attribute) }
        continue
      }
      mappings += try carried(
        attribute, from: before, byName: byName, entity: entity, former: former, skipping: skipped)
    }
    return mappings.filter { !skipped.contains($0.name) }
  }

  /// - Parameter skipped: relationships that a recipe gives links, which need not be inferable.
  func relationships(
    of entity: String, from former: String, byName: Bool, skipping skipped: Set<String> = []
  ) throws(CoreDataError) -> [RelationshipMapping] {
    let old = source.relationships(of: former).filter { !$0.isTransient }
    let new = destination.relationships(of: entity).filter {
      !$0.isTransient && !skipped.contains($0.name)
    }
    let matches = NameAlignment(
      source: old.map { ($0.name, byName ? $0.name : $0.canonicalName) },
      destination: new.map { ($0.name, byName ? $0.name : $0.canonicalName) })
    return try new.map { relationship throws(CoreDataError) in
      guard words.followers[entity]?.contains(relationship.name) != true else {
        return RelationshipMapping(name: relationship.name, source: nil)
      }
      guard let match = matches.sources[relationship.name],
        let before = old.first(where: { $0.name == match }),
        !losesStorage(relationship, before: before)
      else { return RelationshipMapping(name: relationship.name, source: nil) }
      if before.isToMany && !relationship.isToMany {
        throw refusal(
          "the relationship would change from to-many to to-one", entity: entity,
          property: relationship.name,
          hint: isForRecipe
            ? hint("Keep it to-many", former, entity, relationship.name, isLink: true)
            : "Keep it to-many, or say in a recipe or a mapping model which object to keep.",
          coreData: "Can not map from a to-many to a to-one relationship")
      }
      try checkDestination(of: relationship, before: before, entity: entity, former: former)
      return RelationshipMapping(
        name: relationship.name, source: match, through: carrier(of: relationship.destination))
    }
  }

  /// Whether the links of a to-many were in a to-one that its new inverse does not come from.
  ///
  /// A to-many with a to-one inverse has no storage: when both ends are to-many, the join table takes
  /// the links of the former to-one, if one of its columns is for that.
  private func losesStorage(_ relationship: Relationship, before: Relationship) -> Bool {
    guard before.isToMany, let formerName = before.inverse, let name = relationship.inverse,
      let former = source.relationship(named: formerName, of: before.destination),
      let inverse = destination.relationship(named: name, of: relationship.destination),
      !former.isToMany, inverse.isToMany
    else { return false }
    return inverse.canonicalName != former.canonicalName && inverse.canonicalName != former.name
  }

  /// Links are kept only to objects that the new destination entity has.
  private func checkDestination(
    of relationship: Relationship, before: Relationship, entity: String, former: String
  ) throws(CoreDataError) {
    let kept = source.subtree(of: before.destination).compactMap { targets[$0] }
    let isReachable = kept.allSatisfy { targets in
      targets.contains { destination.isKind($0, of: relationship.destination) }
    }
    guard !kept.isEmpty, !isReachable else { return }
    throw CoreDataError(
      .refused,
      "the destination of the relationship would change from \(before.destination) to \(relationship.destination): Core Data would keep the keys, which then reference other objects",
      entity: entity, property: relationship.name,
      hint: isForRecipe
        ? hint(
          "Keep the destination, or use a parent entity of it", former, entity, relationship.name,
          isLink: true)
        : "Keep the destination, or use a parent entity of it, or give it another name.")
  }
}

/// What Core Data distinguishes before it asks for a type: a property of another kind is another property.
private enum AttributeKind {
  case plain, derived, composite

  init(_ attribute: Attribute) {
    self = attribute.type == .composite ? .composite : attribute.isDerived ? .derived : .plain
  }
}

extension Inference {
  /// Where a stored attribute that was there before takes its value from: one mapping, or one for
  /// each element of a composite.
  ///
  /// - Parameter skipped: attributes and elements that a recipe gives values.
  func carried(
    _ attribute: Attribute, from before: Attribute, byName: Bool, entity: String, former: String,
    skipping skipped: Set<String>
  ) throws(CoreDataError) -> [AttributeMapping] {
    guard attribute.type == .composite, before.type == .composite else {
      return try plain(attribute, from: before, entity: entity, former: former)
    }
    let elements = ElementAlignment(attribute, from: before, byName: byName, given: skipped)
    if let shared = elements.shared.min(by: { $0.key < $1.key }), !allowsSharing {
      throw sharing(shared.key, shared.value, of: entity)
    }
    var mappings: [AttributeMapping] = []
    for pair in elements.pairs {
      if let before = pair.former, pair.isPlain, !Self.isGiven(pair.element, skipped) {
        mappings += try plain(pair.element, from: before, entity: entity, former: former)
      } else {
        mappings += pair.element.storage.columns.map { AttributeMapping(new: $0.attribute) }
      }
    }
    return mappings
  }

  /// An attribute or an element that is no composite on either side.
  private func plain(
    _ attribute: Attribute, from before: Attribute, entity: String, former: String
  ) throws(CoreDataError) -> [AttributeMapping] {
    if let reason = TypeChange.refusal(from: before, to: attribute) {
      let name = before.name == attribute.name ? "" : " with its name (formerly “\(before.name)”)"
      let isSame = before.type == attribute.type
      throw refusal(
        isSame
          ? "the attribute of type \(attribute.type.name)\(name) cannot be mapped"
          : "the attribute would change its type from \(before.type.name) to \(attribute.type.name)\(name)",
        entity: entity, property: attribute.name,
        hint: hint(
          isSame
            ? "Give it a type, or make it transient"
            : "Keep the type \(before.type.name), add an attribute of another name", former, entity,
          attribute.name), coreData: reason.sentence)
    }
    guard attribute.isStored else { return [] }
    guard before.isStored else { return [AttributeMapping(new: attribute)] }
    return [.copy(of: before, to: attribute)]
  }

  /// Whether a recipe gives an attribute its value: of a composite, that of every element.
  static func isGiven(_ attribute: Attribute, _ names: Set<String>) -> Bool {
    guard !names.isEmpty else { return false }
    if names.contains(attribute.name) { return true }
    guard attribute.type == .composite else { return false }
    let columns = attribute.storage.columns
    return !columns.isEmpty && columns.allSatisfy { names.contains($0.attribute.name) }
  }
}

extension AttributeMapping {
  /// An attribute, or an element by its path, that was not there before.
  init(new attribute: Attribute) {
    self.init(name: attribute.name, source: nil, defaultValue: attribute.defaultValue)
  }

  /// What was there before as it is; NULLs of what turned mandatory take the default.
  static func copy(of former: Attribute, to attribute: Attribute) -> AttributeMapping {
    AttributeMapping(
      name: attribute.name, source: former.name,
      defaultValue: former.isOptional && !attribute.isOptional ? attribute.defaultValue : nil)
  }
}

/// Finds the changes between two versions of one entity.
struct EntityComparison {
  let source: Model
  let destination: Model
  let entities: NameAlignment
  /// Whether name and version hash are equal: properties are what they are called then.
  private let isSame: Bool
  private(set) var conflicts: [String] = []
  private var changes: [PropertyChange] = []

  init(source: Model, destination: Model, entities: NameAlignment, isSame: Bool) {
    self.source = source
    self.destination = destination
    self.entities = entities
    self.isSame = isSame
  }

  private func alignment(
    of old: [NameAlignment.Named], _ new: [NameAlignment.Named]
  ) -> NameAlignment {
    guard isSame else { return NameAlignment(source: old, destination: new) }
    // What has no name in a hash, as a composite, may have got another one.
    let names = Set(old.map(\.name))
    return NameAlignment(
      source: old.map { ($0.name, $0.name) },
      destination: new.map { ($0.name, names.contains($0.name) ? $0.name : $0.canonicalName) })
  }

  mutating func changes(from old: Entity?, to new: Entity) -> [PropertyChange] {
    changes = []
    guard let old else {
      note(nil, .added, true, "entity “\(new.name.printable)” added")
      return changes
    }
    compareEntity(old, new)
    compareAttributes(old, new)
    compareRelationships(old, new)
    compareFetchedProperties(old, new)
    return changes
  }

  private mutating func note(
    _ property: String?, _ kind: PropertyChange.Kind, _ movesHash: Bool, _ description: String
  ) {
    changes.append(
      PropertyChange(
        property: property, kind: kind, movesHash: movesHash, description: description))
  }

  // MARK: The entity itself

  private mutating func compareEntity(_ old: Entity, _ new: Entity) {
    if old.name != new.name {
      note(nil, .renamed(from: old.name), true, "entity renamed from “\(old.name.printable)”")
    }
    if old.parent != new.parent {
      note(
        nil, .parent(from: old.parent, to: new.parent), true,
        "parent entity \(quoted(old.parent)) became \(quoted(new.parent))")
    }
    if old.isAbstract != new.isAbstract {
      note(
        nil, .abstract(new.isAbstract), true,
        new.isAbstract ? "the entity became abstract" : "the entity is no longer abstract")
    }
    if old.versionHashModifier != new.versionHashModifier {
      note(
        nil, .versionHashModifier(from: old.versionHashModifier, to: new.versionHashModifier), true,
        "version hash modifier \(quoted(old.versionHashModifier)) became "
          + quoted(new.versionHashModifier))
    }
    for names in new.uniquenessConstraints where !old.uniquenessConstraints.contains(names) {
      note(nil, .constraintAdded(names), true, "must be unique now: \(list(names))")
    }
    for names in old.uniquenessConstraints where !new.uniquenessConstraints.contains(names) {
      note(nil, .constraintRemoved(names), true, "need no longer be unique: \(list(names))")
    }
    compareIndexes(old, new)
    if old.className != new.className {
      note(
        nil, .className(from: old.className, to: new.className), false,
        "class \(quoted(old.className)) became \(quoted(new.className))")
    }
    if old.renamingIdentifier != new.renamingIdentifier {
      note(
        nil, .renamingIdentifier(from: old.renamingIdentifier, to: new.renamingIdentifier), false,
        "renaming identifier \(quoted(old.renamingIdentifier)) became "
          + quoted(new.renamingIdentifier))
    }
    if old.userInfo != new.userInfo { note(nil, .userInfo, false, "user info changed") }
  }

  private mutating func compareIndexes(_ old: Entity, _ new: Entity) {
    for index in new.fetchIndexes {
      guard let before = old.fetchIndexes.first(where: { $0.name == index.name }) else {
        note(nil, .indexAdded(index.name), false, "index “\(index.name.printable)” added")
        continue
      }
      if before != index {
        note(nil, .indexChanged(index.name), false, "index changed: \(index.summary)")
      }
    }
    for index in old.fetchIndexes where !new.fetchIndexes.contains(where: { $0.name == index.name })
    {
      note(nil, .indexRemoved(index.name), false, "index “\(index.name.printable)” removed")
    }
    if old.compoundIndexes != new.compoundIndexes {
      note(nil, .compoundIndexes, false, "compound indexes changed")
    }
  }

  // MARK: Its attributes

  private mutating func compareAttributes(_ old: Entity, _ new: Entity) {
    let alignment = alignment(
      of: old.attributes.map { ($0.name, $0.canonicalName) },
      new.attributes.map { ($0.name, $0.canonicalName) })
    conflicts += ModelDifference.sentences(
      alignment.conflicts, "attribute", " of “\(new.name.printable)”")
    for attribute in new.attributes {
      if let before = alignment.sources[attribute.name].flatMap(old.attribute(named:)) {
        compare(before, attribute)
      } else if let ancestor = ancestor(of: old, in: source, attribute.canonicalName) {
        note(
          attribute.name, .movedDown(from: ancestor), !attribute.isTransient,
          "attribute “\(attribute.name.printable)” moved down from “\(ancestor.printable)”")
      } else {
        note(
          attribute.name, .added, !attribute.isTransient,
          "attribute “\(attribute.name.printable)” added: \(attribute.summary)")
      }
    }
    for attribute in old.attributes where alignment.destinations[attribute.name] == nil {
      removed(attribute.name, "attribute", attribute.isTransient, from: old, new)
    }
  }

  /// - Parameter noun: what the two are called; an element's name is its path.
  private mutating func compare(
    _ old: Attribute, _ new: Attribute, _ noun: String = "attribute", within isHashed: Bool = true
  ) {
    let name = new.name
    let what = "\(noun) “\(name.printable)”"
    // A derived attribute hashes its expression alone, a composite one its elements, a transient one
    // is not hashed.
    let isHashed = isHashed && !(old.isTransient && new.isTransient)
    let isComposite = old.type == .composite && new.type == .composite
    let isPlain = isHashed && !(old.isDerived && new.isDerived) && !isComposite
    if old.name != name {
      note(
        name, .renamed(from: old.name), isPlain, "\(what) renamed from “\(old.name.printable)”")
    }
    if old.type != new.type {
      note(
        name, .type(from: old.type, to: new.type), isPlain,
        "\(what): type \(old.type.name) became \(new.type.name)")
    }
    if old.isOptional != new.isOptional {
      note(
        name, .optional(new.isOptional), isPlain,
        "\(what) became \(new.isOptional ? "optional" : "mandatory")")
    }
    if old.isTransient != new.isTransient {
      note(
        name, .transient(new.isTransient), true,
        "\(what) became \(new.isTransient ? "transient" : "persistent")")
    }
    if old.derivation != new.derivation {
      note(
        name, .derivation(from: old.derivation, to: new.derivation), isHashed,
        "\(what): derivation \(quoted(old.derivation?.expression)) became "
          + quoted(new.derivation?.expression))
    }
    if old.defaultValue != new.defaultValue {
      note(
        name, .defaultValue(from: old.defaultValue, to: new.defaultValue), false,
        "\(what): default \(quoted(old.defaultValue.flatMap(DefaultValueText.text))) became "
          + quoted(new.defaultValue.flatMap(DefaultValueText.text)))
    }
    flag(what, old, new, \.allowsExternalBinaryDataStorage, isPlain, "external storage") {
      .externalStorage($0)
    }
    flag(what, old, new, \.preservesValueInHistoryOnDeletion, isPlain, "keeping in history") {
      .preservedInHistory($0)
    }
    flag(what, old, new, \.allowsCloudEncryption, false, "cloud encryption") {
      .cloudEncryption($0)
    }
    flag(what, old, new, \.isIndexed, false, "its index") { .indexed($0) }
    flag(what, old, new, \.isIndexedBySpotlight, false, "Spotlight indexing") { .spotlight($0) }
    if old.valueTransformerName != new.valueTransformerName {
      note(
        name, .valueTransformer(from: old.valueTransformerName, to: new.valueTransformerName),
        false,
        "\(what): value transformer \(quoted(old.valueTransformerName)) became "
          + quoted(new.valueTransformerName))
    }
    if old.className != new.className {
      note(
        name, .className(from: old.className, to: new.className), false,
        "\(what): class \(quoted(old.className)) became \(quoted(new.className))")
    }
    if old.validation != new.validation {
      note(name, .validation, false, "\(what): validation changed")
    }
    if isComposite { compareElements(old, new, within: isHashed) }
    identity(
      what, name, isPlain, old.renamingIdentifier, new.renamingIdentifier,
      old.versionHashModifier, new.versionHashModifier, old.userInfo != new.userInfo)
  }

  private mutating func flag(
    _ what: String, _ old: Attribute, _ new: Attribute, _ path: KeyPath<Attribute, Bool>,
    _ movesHash: Bool, _ noun: String, _ kind: (Bool) -> PropertyChange.Kind
  ) {
    let value = new[keyPath: path]
    guard old[keyPath: path] != value else { return }
    note(
      new.name, kind(value), movesHash,
      "\(what): \(noun) \(value ? "switched on" : "switched off")")
  }

  /// The elements of a composite attribute that both versions have; a property's name is the path.
  private mutating func compareElements(
    _ old: Attribute, _ new: Attribute, within isHashed: Bool
  ) {
    let alignment = NameAlignment(
      source: old.elements.map { ($0.name, $0.canonicalName) },
      destination: new.elements.map { ($0.name, $0.canonicalName) })
    conflicts += ModelDifference.sentences(
      alignment.conflicts, "element", " of “\(new.name.printable)”")
    func named(_ element: Attribute, in composite: Attribute) -> Attribute {
      var copy = element
      copy.name = AttributeStorage.path(composite.name, element.name)
      return copy
    }
    for element in new.elements {
      let path = AttributeStorage.path(new.name, element.name)
      if let before = alignment.sources[element.name].flatMap(old.element(named:)) {
        // Of a composite that was renamed, elements that kept their names are not.
        let isSame = before.name == element.name
        compare(
          named(before, in: isSame ? new : old), named(element, in: new), "element",
          within: isHashed)
      } else {
        note(
          path, .added, isHashed, "element “\(path.printable)” added: \(element.summary)")
      }
    }
    for element in old.elements where alignment.destinations[element.name] == nil {
      let path = AttributeStorage.path(old.name, element.name)
      note(path, .removed, isHashed, "element “\(path.printable)” removed")
    }
    let kept = old.elements.compactMap { alignment.destinations[$0.name] }
    if kept != new.elements.map(\.name).filter({ alignment.sources[$0] != nil }) {
      note(
        new.name, .elements, false,
        "attribute “\(new.name.printable)”: its elements stand in another order")
    }
  }

  // MARK: Its relationships

  private mutating func compareRelationships(_ old: Entity, _ new: Entity) {
    let alignment = alignment(
      of: old.relationships.map { ($0.name, $0.canonicalName) },
      new.relationships.map { ($0.name, $0.canonicalName) })
    conflicts += ModelDifference.sentences(
      alignment.conflicts, "relationship", " of “\(new.name.printable)”")
    for relationship in new.relationships {
      if let before = alignment.sources[relationship.name].flatMap(old.relationship(named:)) {
        compare(before, relationship)
      } else if let ancestor = ancestor(of: old, in: source, relationship.canonicalName) {
        note(
          relationship.name, .movedDown(from: ancestor), !relationship.isTransient,
          "relationship “\(relationship.name.printable)” moved down from “\(ancestor.printable)”")
      } else {
        note(
          relationship.name, .added, !relationship.isTransient,
          "relationship “\(relationship.name.printable)” added: \(relationship.summary)")
      }
    }
    for relationship in old.relationships where alignment.destinations[relationship.name] == nil {
      removed(relationship.name, "relationship", relationship.isTransient, from: old, new)
    }
  }

  private mutating func compare(_ old: Relationship, _ new: Relationship) {
    let name = new.name
    let what = "relationship “\(name.printable)”"
    let isHashed = !(old.isTransient && new.isTransient)
    if old.name != name {
      note(
        name, .renamed(from: old.name), isHashed, "\(what) renamed from “\(old.name.printable)”")
    }
    if old.destination != new.destination {
      let isRename = entities.destinations[old.destination] == new.destination
      note(
        name, .destination(from: old.destination, to: new.destination), isHashed,
        "\(what): destination “\(old.destination.printable)” "
          + (isRename ? "was renamed to " : "became ") + "“\(new.destination.printable)”")
    }
    if old.inverse != new.inverse {
      note(
        name, .inverse(from: old.inverse, to: new.inverse), isHashed,
        "\(what): inverse \(quoted(old.inverse)) became \(quoted(new.inverse))")
    }
    if old.isToMany != new.isToMany {
      note(
        name, .toMany(new.isToMany), isHashed,
        "\(what) became \(new.isToMany ? "to-many" : "to-one")")
    } else if old.maxCount != new.maxCount {
      note(
        name, .maxCount(from: old.maxCount, to: new.maxCount), isHashed,
        "\(what): maximum count \(old.maxCount) became \(new.maxCount)")
    }
    if old.minCount != new.minCount {
      note(
        name, .minCount(from: old.minCount, to: new.minCount), isHashed,
        "\(what): minimum count \(old.minCount) became \(new.minCount)")
    }
    if old.isOrdered != new.isOrdered {
      note(
        name, .ordered(new.isOrdered), isHashed,
        "\(what) became \(new.isOrdered ? "ordered" : "unordered")")
    }
    if old.isOptional != new.isOptional {
      note(
        name, .optional(new.isOptional), isHashed,
        "\(what) became \(new.isOptional ? "optional" : "mandatory")")
    }
    if old.isTransient != new.isTransient {
      note(
        name, .transient(new.isTransient), true,
        "\(what) became \(new.isTransient ? "transient" : "persistent")")
    }
    if old.deleteRule != new.deleteRule {
      note(
        name, .deleteRule(from: old.deleteRule, to: new.deleteRule), false,
        "\(what): delete rule \(old.deleteRule.name) became \(new.deleteRule.name)")
    }
    if old.isIndexedBySpotlight != new.isIndexedBySpotlight {
      let state = new.isIndexedBySpotlight ? "switched on" : "switched off"
      note(
        name, .spotlight(new.isIndexedBySpotlight), false, "\(what): Spotlight indexing \(state)")
    }
    identity(
      what, name, isHashed, old.renamingIdentifier, new.renamingIdentifier,
      old.versionHashModifier, new.versionHashModifier, old.userInfo != new.userInfo)
  }

  // MARK: Fetched properties and what all properties share

  private mutating func compareFetchedProperties(_ old: Entity, _ new: Entity) {
    for property in new.fetchedProperties {
      let what = "fetched property “\(property.name.printable)”"
      guard let before = old.fetchedProperties.first(where: { $0.name == property.name }) else {
        note(property.name, .added, false, "\(what) added")
        continue
      }
      if before != property { note(property.name, .fetchRequest, false, "\(what) changed") }
    }
    for property in old.fetchedProperties
    where !new.fetchedProperties.contains(where: { $0.name == property.name }) {
      note(
        property.name, .removed, false, "fetched property “\(property.name.printable)” removed")
    }
  }

  private mutating func removed(
    _ name: String, _ noun: String, _ isTransient: Bool, from old: Entity, _ new: Entity
  ) {
    if let ancestor = ancestor(of: new, in: destination, name) {
      note(
        name, .movedUp(to: ancestor), !isTransient,
        "\(noun) “\(name.printable)” moved up to “\(ancestor.printable)”")
    } else {
      note(name, .removed, !isTransient, "\(noun) “\(name.printable)” removed")
    }
  }

  private mutating func identity(
    _ what: String, _ name: String, _ isHashed: Bool, _ oldIdentifier: String?,
    _ newIdentifier: String?, _ oldModifier: String?, _ newModifier: String?, _ infoDiffers: Bool
  ) {
    if oldIdentifier != newIdentifier {
      note(
        name, .renamingIdentifier(from: oldIdentifier, to: newIdentifier), false,
        "\(what): renaming identifier \(quoted(oldIdentifier)) became \(quoted(newIdentifier))")
    }
    if oldModifier != newModifier {
      note(
        name, .versionHashModifier(from: oldModifier, to: newModifier), isHashed,
        "\(what): version hash modifier \(quoted(oldModifier)) became \(quoted(newModifier))")
    }
    if infoDiffers { note(name, .userInfo, false, "\(what): user info changed") }
  }

  /// The ancestor of an entity that declares a property of that name.
  private func ancestor(of entity: Entity, in model: Model, _ property: String) -> String? {
    entity.parent.flatMap { model.declaringEntity(of: property, in: $0) }
  }

  private func quoted(_ text: String?) -> String { text.map { "“\($0.printable)”" } ?? "none" }

  private func list(_ names: [String]) -> String {
    names.map(\.printable).joined(separator: ", ")
  }
}

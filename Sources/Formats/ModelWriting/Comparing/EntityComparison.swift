/// Finds the changes between two versions of one entity.
struct EntityComparison {
  let source: Model
  let destination: Model
  let entities: NameAlignment
  /// Whether name and version hash are equal: properties are what they are called then.
  let isSame: Bool
  var conflicts: [String] = []
  var changes: [PropertyChange] = []

  mutating func changes(from old: Entity?, to new: Entity) -> [PropertyChange] {
    guard let old else {
      return [
        PropertyChange(
          property: nil, kind: .added, movesHash: true,
          description: "entity “\(new.name.printable)” added")
      ]
    }
    changes = entityChanges(old, new)
    compare("attribute", old.attributes, new.attributes, of: old, new) { own, before, after in
      own.compare(before, after)
    }
    compare("relationship", old.relationships, new.relationships, of: old, new) {
      own, before, after in
      own.changes += PropertyNotes.changes(from: before, to: after, own.entities)
    }
    compareFetchedProperties(old, new)
    return changes
  }

  private func entityChanges(_ old: Entity, _ new: Entity) -> [PropertyChange] {
    var notes = PropertyNotes(old, new, property: nil, "entity")
    notes.compareNames()
    notes.compare(\.parent, "parent entity", moves: true, PropertyChange.Kind.parent)
    notes.compare(\.isAbstract, moves: true, { .abstract($1) }) {
      $1 ? "the entity became abstract" : "the entity is no longer abstract"
    }
    notes.compareModifiers()
    for names in new.uniquenessConstraints where !old.uniquenessConstraints.contains(names) {
      notes.add(.constraintAdded(names), moves: true, "must be unique now: \(list(names))")
    }
    for names in old.uniquenessConstraints where !new.uniquenessConstraints.contains(names) {
      notes.add(.constraintRemoved(names), moves: true, "need no longer be unique: \(list(names))")
    }
    for index in new.fetchIndexes {
      guard let before = old.fetchIndexes.first(where: { $0.name == index.name }) else {
        notes.add(.indexAdded(index.name), "index “\(index.name.printable)” added")
        continue
      }
      if before != index {
        notes.add(.indexChanged(index.name), "index changed: \(index.summary)")
      }
    }
    for index in old.fetchIndexes where !new.fetchIndexes.contains(where: { $0.name == index.name })
    {
      notes.add(.indexRemoved(index.name), "index “\(index.name.printable)” removed")
    }
    notes.compare(\.compoundIndexes, { _, _ in .compoundIndexes }) { _, _ in
      "compound indexes changed"
    }
    notes.compare(\.className, "class", PropertyChange.Kind.className)
    notes.compareIdentifiers()
    return notes.changes
  }

  private mutating func note(
    _ property: String, _ kind: PropertyChange.Kind, _ movesHash: Bool, _ description: String
  ) {
    changes.append(
      PropertyChange(
        property: property, kind: kind, movesHash: movesHash, description: description))
  }

  /// Properties of one kind: those of both versions, those that came and those that went.
  private mutating func compare<Property: ComparedProperty>(
    _ noun: String, _ before: [Property], _ after: [Property], of old: Entity, _ new: Entity,
    _ compare: (inout Self, Property, Property) -> Void
  ) {
    let alignment = alignment(
      of: before.map { ($0.name, $0.canonicalName) }, after.map { ($0.name, $0.canonicalName) })
    conflicts += sentences(alignment, noun + "s", old.name)
    for property in after {
      let what = "\(noun) “\(property.name.printable)”"
      let former = alignment.sources[property.name]
      if let former = before.first(where: { $0.name == former }) {
        compare(&self, former, property)
      } else if let ancestor = ancestor(of: old, in: source, property.canonicalName) {
        note(
          property.name, .movedDown(from: ancestor), !property.isTransient,
          "\(what) moved down from “\(ancestor.printable)”")
      } else {
        note(
          property.name, .added, !property.isTransient, "\(what) added: \(property.summary)")
      }
    }
    for property in before where alignment.destinations[property.name] == nil {
      let what = "\(noun) “\(property.name.printable)”"
      if let ancestor = ancestor(of: new, in: destination, property.name) {
        note(
          property.name, .movedUp(to: ancestor), !property.isTransient,
          "\(what) moved up to “\(ancestor.printable)”")
      } else {
        note(property.name, .removed, !property.isTransient, "\(what) removed")
      }
    }
  }

  /// What inference refuses for its renaming identifiers: properties of the older version that share one.
  private func sentences(
    _ alignment: NameAlignment, _ noun: String, _ holder: String
  ) -> [String] {
    ModelDifference.sentences(
      alignment.sharedSources, "\(noun) of “\(holder.printable)”", in: "older")
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

  /// - Parameter noun: what the two are called; an element's name is its path.
  private mutating func compare(
    _ old: Attribute, _ new: Attribute, _ noun: String = "attribute", within isHashed: Bool = true
  ) {
    // A derived attribute hashes its expression alone, a composite one its elements, a transient one
    // is not hashed.
    let isHashed = isHashed && !(old.isTransient && new.isTransient)
    let isComposite = old.type == .composite && new.type == .composite
    var notes = PropertyNotes(old, new, property: new.name, noun)
    notes.movesHash = isHashed && !(old.isDerived && new.isDerived) && !isComposite
    notes.compareAttributes(isHashed: isHashed)
    changes += notes.changes
    if isComposite { compareElements(old, new, within: isHashed) }
    notes.changes = []
    notes.compareIdentity()
    changes += notes.changes
  }

  /// The elements of a composite attribute that both versions have; a property's name is the path.
  private mutating func compareElements(
    _ old: Attribute, _ new: Attribute, within isHashed: Bool
  ) {
    let alignment = NameAlignment(
      source: old.elements.map { ($0.name, $0.canonicalName) },
      destination: new.elements.map { ($0.name, $0.canonicalName) })
    conflicts += sentences(alignment, "elements", old.name)
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
        note(path, .added, isHashed, "element “\(path.printable)” added: \(element.summary)")
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
        "attribute “\(new.name.printable)”: its elements are in another order")
    }
  }

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

  /// The ancestor of an entity that declares a property of that name.
  private func ancestor(of entity: Entity, in model: Model, _ property: String) -> String? {
    entity.parent.flatMap { model.declaringEntity(of: property, in: $0) }
  }

  private func list(_ names: [String]) -> String {
    names.map(\.printable).joined(separator: ", ")
  }
}

/// Which thing of an older version is which of a newer one, by renaming identifiers.
///
/// As in Core Data's inference a destination's counterpart is the source with the same canonical name:
/// the renaming identifier, or the name where none is set. Several destinations may have one
/// counterpart: each takes its values. An identifier that names nothing in the source makes the thing
/// new, even where a source has its name.
///
/// Where no source has the identifier, one of that *name* is taken, if no other destination has it:
/// Core Data would drop its values (``byFormerName``).
///
/// Core Data refuses sources that share an identifier (``sharedSources``). Where that is not asked, as
/// in a comparison or with a recipe, the one of the same name is meant, and one that
/// nothing claims by its name goes to the other one that has the identifier.
package struct NameAlignment: Sendable, Equatable {
  /// Destination name to source name.
  package private(set) var sources: [String: String] = [:]
  /// Source name to destination name: of several the one of the same name, or else the first.
  package private(set) var destinations: [String: String] = [:]
  /// Identifiers that more than one source has, with the names of these.
  package private(set) var sharedSources: [String: [String]] = [:]
  /// Identifiers that more than one destination has, with the names of these.
  package private(set) var sharedDestinations: [String: [String]] = [:]
  /// Destinations whose identifier is the name of a source that has another identifier.
  package private(set) var byFormerName: Set<String> = []

  /// A thing's name, and the one its renaming identifier gives it, or the same again.
  package typealias Named = (name: String, canonicalName: String)

  /// Aligns two versions' things by their canonical names.
  package init(source: [Named], destination: [Named]) {
    if Self.areOwn(source), Self.areOwn(destination) {
      let names = Set(source.map(\.name))
      for item in destination where names.contains(item.name) { sources[item.name] = item.name }
      destinations = sources
      return
    }
    let byCanonicalName = Dictionary(grouping: source, by: \.canonicalName).mapValues {
      $0.map(\.name)
    }
    sharedSources = byCanonicalName.filter { $0.value.count > 1 }
    sharedDestinations = Dictionary(grouping: destination, by: \.canonicalName)
      .filter { $0.value.count > 1 }.mapValues { $0.map(\.name) }
    let names = Set(source.map(\.name))
    let wanted = Set(destination.map(\.name))
    /// Sharers of an identifier whose own names nobody has any more.
    var left = sharedSources.mapValues { $0.filter { !wanted.contains($0) }.sorted() }
    for item in destination {
      let candidates = byCanonicalName[item.canonicalName] ?? []
      if candidates.count <= 1 {
        sources[item.name] = candidates.first
      } else if candidates.contains(item.name) {
        sources[item.name] = item.name
      } else if let first = left[item.canonicalName]?.first {
        left[item.canonicalName]?.removeFirst()
        sources[item.name] = first
      } else {
        sources[item.name] =
          candidates.contains(item.canonicalName) ? item.canonicalName : candidates.min()
      }
    }
    let claimed = Set(sources.values)
    for item in destination
    where sources[item.name] == nil && names.contains(item.canonicalName)
      && !claimed.contains(item.canonicalName)
    {
      sources[item.name] = item.canonicalName
      byFormerName.insert(item.name)
    }
    for item in destination {
      guard let source = sources[item.name] else { continue }
      if destinations[source] == nil || source == item.name { destinations[source] = item.name }
    }
  }

  /// Whether each has its own name, and no two the same: then nobody claims what is another's.
  private static func areOwn(_ items: [Named]) -> Bool {
    items.allSatisfy { $0.name == $0.canonicalName } && Set(items.map(\.name)).count == items.count
  }

  /// The same names are the same things, whatever identifiers say.
  package init(sameNames source: [String], _ destination: [String]) {
    self.init(source: source.map { ($0, $0) }, destination: destination.map { ($0, $0) })
  }
}

extension Model {
  /// Which entity of `source` is which of this model.
  ///
  /// - Parameter isEqual: whether the two have equal version hashes: the names are the same then, and
  ///   no identifier is asked, as Core Data opens a store without asking any.
  package func entityAlignment(from source: Model, isEqual: Bool? = nil) -> NameAlignment {
    if isEqual ?? (source.versionHashes == versionHashes) {
      return NameAlignment(sameNames: source.entities.map(\.name), entities.map(\.name))
    }
    return NameAlignment(
      source: source.entities.map { ($0.name, $0.canonicalName) },
      destination: entities.map { ($0.name, $0.canonicalName) })
  }
}

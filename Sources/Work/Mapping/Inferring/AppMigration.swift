import ManagedModel

/// Something that the migration which Core Data infers in the app refuses or loses, and that strata
/// carries out.
package struct AppMigrationDifference: Sendable, Equatable {
  /// What the app's own migration does.
  package enum Outcome: Sendable {
    /// It refuses the step (134190).
    case refused
    /// It goes on without these values.
    case lost
  }

  /// The destination entity, or the one that declares the property.
  package var entity: String
  /// Name in the destination; an element of a composite by its path, `nil` for the entity itself.
  package var property: String?
  /// What the app's own migration does.
  package var outcome: Outcome
  /// What strata does and what the app will do, as a sentence.
  package var sentence: String
}

extension MappingInference {
  /// What the app's own migration does otherwise between two versions; empty where both do the same.
  ///
  /// - Parameter mapping: what was inferred between the two models.
  package static func appDifferences(
    _ mapping: MappingModel, from source: Model, to destination: Model
  ) -> [AppMigrationDifference] {
    guard mapping.kind == .inferred else { return [] }
    var found = AppMigration(source: source, destination: destination, mapping: mapping)
    for entityMapping in mapping.entityMappings { found.add(entityMapping) }
    return found.differences
  }
}

private struct AppMigration {
  let source: Model
  let destination: Model
  let mapping: MappingModel
  private(set) var differences: [AppMigrationDifference] = []

  init(source: Model, destination: Model, mapping: MappingModel) {
    (self.source, self.destination, self.mapping) = (source, destination, mapping)
  }

  mutating func add(_ entityMapping: EntityMapping) {
    guard let from = entityMapping.source, let to = entityMapping.destination,
      let old = source.entity(named: from), let new = destination.entity(named: to)
    else { return }
    if old.canonicalName != new.canonicalName {
      note(
        to, nil, .lost,
        "\(identifiers(old.name, old.canonicalName, to, new.canonicalName)): strata keeps the objects. The app's own migration will delete them all: it compares renaming identifiers only."
      )
    }
    // An entity whose hash is equal is taken over as it is.
    guard entityMapping.kind != .copy else { return }
    for attributeMapping in entityMapping.attributes {
      guard let name = attributeMapping.source else { continue }
      addAttribute(attributeMapping.name, of: to, former: name, of: from)
    }
    for relationshipMapping in entityMapping.relationships {
      addRelationship(relationshipMapping, of: to, from: from)
    }
  }

  private mutating func addAttribute(
    _ name: String, of to: String, former: String, of from: String
  ) {
    guard let new = destination.storedAttribute(named: name, of: to),
      let old = source.storedAttribute(named: former, of: from)
    else { return }
    let place = "\(declarer(of: name, to)).\(name)"
    if let composite = ElementPath.composite(of: name),
      let before = ElementPath.composite(of: former), composite != before
    {
      note(
        to, name, .lost,
        "\(place) was \(former): strata keeps its values. Up to iOS 18 the app's own migration will drop them: the elements of a composite attribute whose name changes count as new."
      )
    } else if let (was, now) = canonicalNames(former, of: from, name, of: to), was != now {
      note(
        to, name, .lost,
        "\(identifiers(former, was, place, now)): strata keeps its values. The app's own migration will drop them: it compares renaming identifiers only."
      )
    }
    if old.allowsExternalBinaryDataStorage, !new.allowsExternalBinaryDataStorage {
      note(
        to, name, .refused,
        "\(place) is no longer stored externally: strata moves the values into the store. The app's own migration will refuse the step (134190, “Unable to use inferred mapping to move external reference into store.”)."
      )
    }
  }

  /// The canonical names that are compared, of an element within its composite.
  private func canonicalNames(
    _ former: String, of from: String, _ name: String, of to: String
  ) -> (String, String)? {
    guard let old = source.attribute(at: former, of: from),
      let new = destination.attribute(at: name, of: to)
    else { return nil }
    func canonical(_ attribute: Attribute) -> String {
      attribute.renamingIdentifier ?? ElementPath.last(of: attribute.name)
    }
    return (canonical(old), canonical(new))
  }

  private mutating func addRelationship(
    _ relationshipMapping: RelationshipMapping, of to: String, from: String
  ) {
    let name = relationshipMapping.name
    guard let new = destination.relationship(named: name, of: to) else { return }
    let place = "\(declarer(of: name, to)).\(name)"
    if let former = relationshipMapping.source {
      guard let old = source.relationship(named: former, of: from),
        old.canonicalName != new.canonicalName
      else { return }
      note(
        to, name, .lost,
        "\(identifiers(former, old.canonicalName, place, new.canonicalName)): strata keeps its links. The app's own migration will drop them: it compares renaming identifiers only."
      )
      return
    }
    // The key of a one-to-many is in the to-one, whose column starts empty; strata takes it from the
    // to-many that goes on.
    guard !new.isToMany, let inverseName = new.inverse,
      let inverse = destination.relationship(named: inverseName, of: new.destination),
      inverse.isToMany, let other = mapping.mapping(toDestination: new.destination),
      let otherFrom = other.source, let former = other.relationship(named: inverseName)?.source,
      let old = source.relationship(named: former, of: otherFrom), old.isToMany,
      let formerToOne = old.inverse,
      source.relationship(named: formerToOne, of: old.destination)?.isToMany == false
    else { return }
    note(
      to, name, .lost,
      "\(place) has no renaming identifier of the former “\(formerToOne)”: strata keeps the links, which its inverse \(inverseName) still has. The app's own migration will drop them."
    )
  }

  private func declarer(of property: String, _ entity: String) -> String {
    let name = String(property.prefix { $0 != "." })
    return destination.declaringEntity(of: name, in: entity) ?? entity
  }

  private func identifiers(
    _ former: String, _ was: String, _ name: String, _ now: String
  ) -> String {
    "\(name) has the renaming identifier “\(now)”, and “\(former)” of the version before has “\(was)”"
  }

  private mutating func note(
    _ entity: String, _ property: String?, _ outcome: AppMigrationDifference.Outcome,
    _ sentence: String
  ) {
    let difference = AppMigrationDifference(
      entity: property.map { declarer(of: $0, entity) } ?? entity, property: property,
      outcome: outcome, sentence: sentence)
    if !differences.contains(difference) { differences.append(difference) }
  }
}

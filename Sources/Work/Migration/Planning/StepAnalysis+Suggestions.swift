import ManagedModel
import Mapping

/// What was probably meant where something of an inferred step would be lost.
extension StepAnalysis {
  /// A relationship that was renamed.
  func suggestion(
    for relationship: Relationship, of former: String, _ guess: RenameGuess
  ) -> String? {
    guard let entityMapping = mapping.mapping(fromSource: former),
      let entity = entityMapping.destination
    else { return nil }
    let kept = Set(entityMapping.relationships.compactMap(\.source))
    let rivals = source.relationships(of: former).map(\.name).filter {
      $0 != relationship.name && !kept.contains($0)
    }
    return renaming(
      relationship.name,
      among: guess.candidates(for: relationship, of: former, in: entityMapping), rivals: rivals,
      of: entity)
  }

  private func renaming(
    _ name: String, among candidates: [String], rivals: [String] = [], of entity: String
  ) -> String? {
    guard let best = RenameGuess.best(for: name, among: candidates, rivals: rivals) else {
      return nil
    }
    return
      "If \(entity).\(best) is the former “\(name)”, give it the renaming identifier “\(name)” in the model: its values are kept then."
  }
  /// An attribute or an element that was renamed, or whose values moved.
  func suggestion(
    for attribute: Attribute, of former: String, _ guess: RenameGuess
  ) -> String? {
    guard let entityMapping = mapping.mapping(fromSource: former),
      let entity = entityMapping.destination
    else { return nil }
    let added = guess.candidates(for: attribute, of: former, in: entityMapping)
    let composite = ElementPath.composite(of: attribute.name)
    let lost = CarriedProperties(mapping, from: source, to: destination)
      .lostAttributes(in: entityMapping)
    let rivals = lost.filter {
      $0.name != attribute.name && $0.type == attribute.type
        && ElementPath.composite(of: $0.name) == composite
    }.map(\.name)
    let identified =
      composite.map {
        element(attribute.name, of: $0, among: added, rivals: rivals, in: entityMapping, entity)
      }
      ?? renaming(
        attribute.name, among: added.filter { !$0.contains(".") }, rivals: rivals, of: entity)
    return identified ?? moving(attribute.name, among: added, to: entity)
  }

  /// An element that was renamed within its composite, or one whose composite was renamed.
  private func element(
    _ path: String, of composite: String, among added: [String], rivals: [String],
    in entityMapping: EntityMapping, _ entity: String
  ) -> String? {
    let name = ElementPath.last(of: path)
    let siblings = entityMapping.attributes.filter {
      $0.source.flatMap(ElementPath.composite) == composite
    }
    if let now = siblings.first.flatMap({ ElementPath.composite(of: $0.name) }) {
      let candidates = added.filter { ElementPath.composite(of: $0) == now }
      guard let best = RenameGuess.best(for: name, among: candidates, rivals: rivals) else {
        return nil
      }
      return
        "If \(entity).\(best) is the former “\(name)”, give the element the renaming identifier “\(name)” in the model: its values are kept then."
    }
    // A composite that is new as a whole and has an element of that name.
    let whole = added.filter { ElementPath.last(of: $0) == name }.compactMap(ElementPath.composite)
      .filter { candidate in
        !entityMapping.attributes.contains {
          $0.source != nil && ElementPath.composite(of: $0.name) == candidate
        }
      }
    return renaming(composite, among: whole, of: entity)
  }

  /// Values that go from a plain attribute into an element, or the other way round: no identifier
  /// can say that.
  private func moving(_ name: String, among added: [String], to entity: String) -> String? {
    let others = added.filter { $0.contains(".") || name.contains(".") }
    guard
      let best = others.max(by: {
        NameSimilarity.likeness(name, $0) < NameSimilarity.likeness(name, $1)
      }), NameSimilarity.likeness(name, best) >= RenameGuess.likely
    else { return nil }
    return
      "If \(entity).\(best) is to take the values of “\(name)”, say so in a recipe: \"attributes\": { \"\(best)\": \"\(name)\" }."
  }
}

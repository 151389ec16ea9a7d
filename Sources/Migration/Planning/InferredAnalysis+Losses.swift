import ManagedModel
import ManagedStore
import SQLite

/// What a mapping would drop from the store.
extension InferredAnalysis {
  var carried: CarriedProperties {
    CarriedProperties(mapping, from: source, to: destination)
  }

  func losses() throws -> [Loss] {
    var losses: [Loss] = []
    let removed = mapping.entityMappings.filter { $0.kind == .remove }.compactMap(\.source)
    let guess = RenameGuess(mapping, from: source, to: destination)
    for entity in removed {
      let count = try data.count(entity, where: [])
      guard count > 0 else { continue }
      losses.append(
        Loss(
          entity: entity, values: count, samples: try data.samples(ofObjects: entity),
          suggestion: guess.newEntity(like: entity).map {
            "If \($0) is the former “\(entity)”, give it the renaming identifier “\(entity)” in the model: its objects are kept then."
          }))
    }
    var properties: [String: Loss] = [:]
    for entityMapping in mapping.entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination else { continue }
      for attribute in carried.lostAttributes(in: entityMapping) {
        guard let column = data.column(of: attribute.name, in: from) else { continue }
        let count = try data.count(from, where: ["\(column) IS NOT NULL"])
        try add(count, attribute.name, of: from, to: &properties) {
          (
            try data.samples(of: attribute.name, in: from),
            suggestion(for: attribute, of: from, in: entityMapping, entity: to, guess)
          )
        }
      }
      for loss in try cutNumbers(from, to, entityMapping) {
        let key = "\(loss.name) \(loss.misfit?.kind.rawValue ?? "")"
        if properties[key] == nil {
          properties[key] = loss
        } else {
          properties[key]?.values += loss.values
        }
      }
      for relationship in source.relationships(of: from) where !relationship.isTransient {
        let count = try lostLinks(relationship, of: from, entityMapping)
        try add(count, relationship.name, of: from, to: &properties) {
          (
            try samples(of: relationship.name, in: from),
            suggestion(for: relationship, of: from, in: entityMapping, entity: to, guess)
          )
        }
      }
    }
    let claimed = try planned?.losses(mapping, from: source, to: destination)
    for loss in try schemas.crowdedLinks() + (claimed ?? []) {
      if let known = properties[loss.name] {
        properties[loss.name]?.values += loss.values
        properties[loss.name]?.suggestion = known.suggestion ?? loss.suggestion
        if known.samples.isEmpty { properties[loss.name]?.samples = loss.samples }
      } else {
        properties[loss.name] = loss
      }
    }
    return losses
      + properties.values.sorted {
        ($0.name, $0.misfit?.kind.rawValue ?? "") < ($1.name, $1.misfit?.kind.rawValue ?? "")
      }
  }

  /// Numbers that their attribute's new type cannot hold as they are.
  private func cutNumbers(
    _ from: String, _ to: String, _ entityMapping: EntityMapping
  ) throws -> [Loss] {
    try entityMapping.attributes.flatMap { attributeMapping -> [Loss] in
      guard let former = attributeMapping.source,
        let before = source.storedAttribute(named: former, of: from),
        let attribute = destination.storedAttribute(named: attributeMapping.name, of: to),
        !attribute.isDerived, let column = data.column(of: former, in: from),
        let change = TypeChange(from: before.type, to: attribute.type)
      else { return [] }
      return try change.misfits(column).compactMap { misfit, condition in
        let count = try data.count(from, where: [condition])
        guard count > 0 else { return nil }
        var loss = Loss(
          entity: source.declaringEntity(of: former, in: from) ?? from, property: former,
          values: count, samples: try data.samples(of: former, in: from, where: condition))
        loss.misfit = misfit
        return loss
      }
    }
  }

  /// Adds to the loss of the property where it is declared, since subentities lose it together.
  private func add(
    _ count: Int, _ property: String, of entity: String, to losses: inout [String: Loss],
    details: () throws -> (samples: [String], suggestion: String?)
  ) throws {
    guard count > 0 else { return }
    let declarer = source.declaringEntity(of: property, in: entity) ?? entity
    let key = "\(declarer).\(property)"
    if let sofar = losses[key] {
      losses[key]?.values += count
      if sofar.samples.isEmpty { losses[key]?.samples = try details().samples }
      return
    }
    let (samples, suggestion) = try details()
    losses[key] = Loss(
      entity: declarer, property: property, values: count, samples: samples, suggestion: suggestion)
  }

  /// Links of an entity's own objects that neither the relationship nor its inverse carries on,
  /// though both ends stay; those of objects that go are counted with them. Each pair counts once.
  private func lostLinks(
    _ relationship: Relationship, of entity: String, _ entityMapping: EntityMapping
  ) throws -> Int {
    let inverse = relationship.inverse.flatMap {
      source.relationship(named: $0, of: relationship.destination)
    }
    if let inverse {
      if relationship.isToMany != inverse.isToMany {
        guard !relationship.isToMany else { return 0 }
      } else if relationship.name > inverse.name {
        return 0
      }
    }
    let ends = carried.destinations(of: relationship, inverse: inverse, in: entityMapping)
    // Only of a one-to-one a side may have a link that the other has not.
    let hasTwoSides =
      !relationship.isToMany && inverse?.isToMany == false && inverse != relationship
    let open = ends.all.filter {
      hasTwoSides
        ? !ends.carried.contains($0) || !ends.carriedBack.contains($0)
        : !ends.carried.contains($0) && !ends.carriedBack.contains($0)
    }
    func isNone(_ side: String, _ carried: [String]) -> String {
      let numbers = carried.compactMap { data.store.table(of: $0)?.entityID }
      return "NOT (e.\(side) AND d.Z_ENT IN (\(numbers.list)))"
    }
    return try data.links(
      relationship, of: entity, inverse, to: open,
      where: [isNone("here", ends.carried), isNone("there", ends.carriedBack)]
    ).map { try data.store.number("SELECT count(*) \($0)") } ?? 0
  }

  private func samples(of relationship: String, in entity: String) throws -> [String] {
    guard let empty = data.isEmpty(relationship, of: entity) else { return [] }
    return try data.found(entity, where: ["NOT (\(empty))"])?.first.map { id in
      guard let object = try data.store.object(id, related: 3),
        let index = object.columns.firstIndex(where: { $0.name == relationship }),
        index < object.values.count
      else { return "\(id)" }
      switch object.values[index] {
      case .toOne(let other?): return "\(id) → \(other)"
      case .toMany(let many):
        return "\(id) → " + many.first.map(\.description).joined(separator: ", ")
      default: return "\(id)"
      }
    } ?? []
  }

  private func suggestion(
    for relationship: Relationship, of former: String, in entityMapping: EntityMapping,
    entity: String, _ guess: RenameGuess
  ) -> String? {
    let kept = Set(entityMapping.relationships.compactMap(\.source))
    let rivals = source.relationships(of: former).map(\.name).filter {
      $0 != relationship.name && !kept.contains($0)
    }
    return renaming(
      relationship.name,
      among: guess.candidates(for: relationship, of: former, in: entityMapping), rivals: rivals,
      of: entity)
  }

  func renaming(
    _ name: String, among candidates: [String], rivals: [String] = [], of entity: String
  ) -> String? {
    guard let best = RenameGuess.best(for: name, among: candidates, rivals: rivals) else {
      return nil
    }
    return
      "If \(entity).\(best) is the former “\(name)”, give it the renaming identifier “\(name)” in the model: its values are kept then."
  }
}

extension InferredAnalysis {
  /// What was probably meant where the values of an attribute, or of an element, would go.
  func suggestion(
    for attribute: Attribute, of former: String, in entityMapping: EntityMapping, entity: String,
    _ guess: RenameGuess
  ) -> String? {
    let added = guess.candidates(for: attribute, of: former, in: entityMapping)
    let composite = ElementPath.composite(of: attribute.name)
    let rivals = carried.lostAttributes(in: entityMapping).filter {
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

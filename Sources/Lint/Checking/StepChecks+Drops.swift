import ManagedModel
import Migration
import ModelWriting

extension StepChecks {
  /// What is gone after the step, and what looks like it.
  func drops() -> [LintFinding] {
    step.newOmissions.flatMap { omission -> [LintFinding] in
      let place = step.to.place(of: omission.destination)
      let name = omission.property.map { "\(omission.entity).\($0)" } ?? omission.entity
      let (rule, what): (LintRule, String) =
        switch omission.kind {
        case .entity: (.entityDropped, "objects")
        case .attribute: (.attributeDropped, "values")
        case .relationship: (.relationshipDropped, "links")
        }
      // A step that shipped took it over: what takes it over was taken out, which moves no hash.
      let regression =
        step.isShipped
        ? " The step took the \(what) over when it shipped, and does not any more." : ""
      let dropped = LintFinding(
        rule, at: place, version: step.to.name, entity: omission.destination ?? omission.entity,
        property: omission.property,
        "\(name) of “\(step.from.name)” is not in “\(step.to.name)”, and nothing takes its \(what) over.\(regression)",
        severity: step.isShipped ? .error : nil)
      guard let new = LikelyRename(step, omission).name else { return [dropped] }
      let (entity, property) = new
      let alike = property.map { "\(entity).\($0)" } ?? entity
      return [
        dropped,
        LintFinding(
          .looksLikeRename, at: step.to.place(of: entity, property), version: step.to.name,
          entity: entity, property: property,
          "\(alike) of “\(step.to.name)” looks like \(name) of “\(step.from.name)”, but is not said to be: its \(what) are not taken over.\(regression)",
          severity: step.isShipped ? .error : nil,
          advice:
            "If it is the same under a new name, give it the renaming identifier “\(omission.property ?? omission.entity)” (Renaming ID in Xcode, originalName: in Swift).",
          former: omission.property ?? omission.entity),
      ]
    }
  }

  /// Changes that fail over rows, or lose of them, where there are any.
  func failures() -> [LintFinding] {
    guard !step.isCustomStage else { return [] }
    return step.difference.changed.flatMap { entity -> [LintFinding] in
      guard let former = entity.source, let now = entity.destination else { return [] }
      return entity.changes.compactMap { failure($0, former, now) }
    }
  }

  private func failure(
    _ change: PropertyChange, _ former: Entity, _ entity: Entity
  ) -> LintFinding? {
    func finding(
      _ rule: LintRule, _ message: String, severity: LintRule.Severity? = nil
    ) -> LintFinding {
      LintFinding(
        rule, at: step.to.place(of: entity.name, change.property), version: step.to.name,
        entity: entity.name, property: change.property, message, severity: severity)
    }
    if case .constraintAdded(let names) = change.kind {
      return LintFinding(
        .uniqueAdded, at: step.to.place(of: entity.name, names.first), version: step.to.name,
        entity: entity.name, property: names.joined(separator: ","),
        "\(entity.name) must be unique by \(names.joined(separator: ", ")) in “\(step.to.name)”, and need not in “\(step.from.name)”."
      )
    }
    guard let property = change.property else { return nil }
    let name = "\(entity.name).\(property)"
    let attribute = entity.storedAttribute(named: property) ?? entity.attribute(named: property)
    switch change.kind {
    case .added:
      guard let attribute, attribute.isStored, !attribute.isDerived,
        !isFilled(attribute, in: entity)
      else { return nil }
      return finding(
        .mandatoryWithoutDefault,
        "\(name) was added in “\(step.to.name)”: it is mandatory, and has no default value for the objects that there are.",
        // What Core Data makes of a composite's elements was not seen.
        severity: attribute.type == .composite ? .warning : nil)
    case .optional(false):
      if let attribute {
        guard attribute.isStored, !attribute.isDerived, !isFilled(attribute, in: entity) else {
          return nil
        }
      } else if entity.relationship(named: property)?.isTransient != false {
        return nil
      }
      return finding(
        .becameMandatory,
        "\(name) is mandatory in “\(step.to.name)”, and was optional in “\(step.from.name)”.")
    case .type(let old, let new):
      guard step.refusals.allSatisfy({ $0.property != property }), step.written == nil,
        TypeChange(from: old, to: new)?.mayLoseValues == true
      else { return nil }
      return finding(
        .typeChanged,
        "\(name) is \(new.name) in “\(step.to.name)”, and was \(old.name) in “\(step.from.name)”.")
    default: return nil
    }
  }

  /// Whether the objects that there are get a value: by a default, by a mapping, or by code.
  private func isFilled(_ attribute: Attribute, in entity: Entity) -> Bool {
    if attribute.isOptional || attribute.defaultValue.map({ $0 != .null }) == true { return true }
    // Of a composite its elements are stored.
    if !attribute.elements.isEmpty,
      attribute.elements.allSatisfy({ isFilled($0, in: entity) })
    {
      return true
    }
    let own = step.to.source?.classes.first { $0.entity == entity.name }
    if own?.computedDefaults.contains(attribute.name) == true { return true }
    guard let written = step.written else { return false }
    let takers = written.entityMappings.filter { $0.destination == entity.name }
    return takers.allSatisfy { taker in
      taker.policy != nil
        || taker.attributes.contains {
          $0.name == attribute.name && ($0.source != nil || $0.expression != nil)
        }
    }
  }
}

/// What a thing that is gone has probably become.
struct LikelyRename {
  /// The entity, and the property where one is meant, in the version after.
  let name: (entity: String, property: String?)?

  init(_ step: LintStep, _ omission: Omission) {
    name = Self.find(step, omission)
  }

  private static func find(
    _ step: LintStep, _ omission: Omission
  ) -> (entity: String, property: String?)? {
    let (from, to) = (step.from.model, step.to.model)
    guard let property = omission.property else { return entity(omission.entity, step) }
    guard let destination = omission.destination,
      let taker = step.mapping?.mapping(toDestination: destination)
    else { return nil }
    var candidates: [String] = []
    if omission.kind == .attribute {
      guard let old = from.storedAttribute(named: property, of: omission.entity) else { return nil }
      candidates = taker.attributes.filter { $0.source == nil && $0.expression == nil }.map(\.name)
        .filter { to.storedAttribute(named: $0, of: destination)?.type == old.type }
    } else if let old = from.relationship(named: property, of: omission.entity) {
      candidates = taker.relationships.filter { $0.source == nil }.map(\.name).filter { name in
        guard let new = to.relationship(named: name, of: destination) else { return false }
        return new.isToMany == old.isToMany
          && step.mapping?.mapping(toDestination: new.destination)?.source == old.destination
      }
    }
    // What is in the version before under that name is no new thing, whatever takes it.
    let before = Set(
      from.attributes(of: omission.entity).map(\.name)
        + from.relationships(of: omission.entity).map(\.name))
    return NameSimilarity.best(for: property, among: candidates.filter { !before.contains($0) })
      .map { (destination, $0) }
  }

  /// A new entity that has at least half of the attributes.
  private static func entity(
    _ gone: String, _ step: LintStep
  ) -> (entity: String, property: String?)? {
    func names(_ entity: String, _ model: Model) -> Set<String> {
      Set(model.attributes(of: entity).map { "\($0.name) \($0.type)" })
    }
    let own = names(gone, step.from.model)
    let added = step.mapping?.entityMappings.filter { $0.source == nil }.compactMap(\.destination)
    guard !own.isEmpty, let added else { return nil }
    let ranked = added.map { name in
      (name, Double(own.intersection(names(name, step.to.model)).count) / Double(own.count))
    }
    guard let best = ranked.max(by: { $0.1 < $1.1 }), best.1 >= 0.5 else { return nil }
    return (best.0, nil)
  }
}

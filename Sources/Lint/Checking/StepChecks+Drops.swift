import ManagedModel
import Migration
import ModelWriting

extension StepChecks {
  /// What is gone after the step, and what looks like it.
  func drops() -> [LintFinding] {
    step.newOmissions.flatMap { StepDrop(step: step, omission: $0).findings() }
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

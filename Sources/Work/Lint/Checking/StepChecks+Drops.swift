import ManagedModel
import ManagedStore
import Migration
import ModelWriting

extension LintRule {
  static let mandatoryWithoutDefault = the("mandatory-without-default")
  static let becameMandatory = the("became-mandatory")
  static let typeChanged = the("type-changed")
  static let uniqueAdded = the("unique-added")
  static let enumWithoutValue = the("swiftdata-enum-without-value")
  static let defaultEvaluatedOnce = the("swiftdata-default-evaluated-once")
}

extension StepChecks {
  /// What is gone after the step, and what looks like it.
  func drops() -> [LintFinding] {
    step.newOmissions.flatMap { StepDrop(step: step, omission: $0).findings() }
  }

  /// Changes that fail over rows, or lose of them, where there are any.
  func failures() -> [LintFinding] {
    let all =
      step.difference.changed.flatMap { entity -> [LintFinding] in
        guard entity.source != nil, let now = entity.destination else { return [] }
        return entity.changes.compactMap { failure($0, now) }
      } + additions()
    // Code that runs before the step can fill and merge what is there then, and nothing that is not.
    guard step.stage?.runsBefore == true else { return all }
    let unavoidable: [LintRule] = [
      .mandatoryWithoutDefault, .enumWithoutValue, .defaultEvaluatedOnce,
    ]
    return all.filter { unavoidable.contains($0.rule) }
  }

  /// What SwiftData makes of attributes that were added, for the objects that there are.
  func additions() -> [LintFinding] {
    step.difference.changed.flatMap { entity -> [LintFinding] in
      guard entity.source != nil, let now = entity.destination else { return [] }
      return entity.changes.flatMap { added($0, now) }
    }
  }

  private func added(_ change: PropertyChange, _ entity: Entity) -> [LintFinding] {
    guard case .added = change.kind, let property = change.property, step.to.source != nil,
      let attribute = entity.attribute(named: property), attribute.isStored, step.written == nil,
      step.stage?.assigned.contains(property) != true
    else { return [] }
    let name = "\(entity.name).\(property)"
    func finding(
      _ rule: LintRule, _ message: String, severity: LintRule.Severity? = nil
    ) -> [LintFinding] {
      [
        LintFinding(
          rule, at: step.to.place(of: entity.name, property), version: step.to.name,
          entity: entity.name, property: property, message, severity: severity)
      ]
    }
    if let value = attribute.evaluatedDefault {
      let isUnique = entity.uniquenessConstraints.contains([property])
      return finding(
        .defaultEvaluatedOnce,
        "\(name) was added in “\(step.to.name)” with the default \(value.expression). It is evaluated once: all existing objects get the same value"
          + (isUnique ? ", and it must be unique." : "."),
        severity: isUnique ? .error : nil)
    }
    guard attribute.type == .composite, !attribute.isOptional,
      attribute.elements.allSatisfy({ $0.defaultValue == nil })
    else { return [] }
    let isLetThrough = step.to.model.mandatoryComposites(of: entity.name).contains {
      $0.name == property
    }
    return finding(
      .enumWithoutValue,
      "\(name) was added in “\(step.to.name)” and is not optional. Its default in Swift is not in the model: existing objects get no value."
        + (isLetThrough
          ? "" : " Its elements are not optional either, so the migration may fail (134110)."),
      // The app's code may fill it after the step.
      severity: step.isCustomStage ? .warning : nil)
  }

  private func failure(_ change: PropertyChange, _ entity: Entity) -> LintFinding? {
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
        "\(entity.name) has the uniqueness constraint \(names.joined(separator: ", ")) in “\(step.to.name)”, but not in “\(step.from.name)”."
      )
    }
    guard let property = change.property else { return nil }
    let name = "\(entity.name).\(property)"
    if case .added = change.kind, let relationship = entity.relationship(named: property) {
      guard isMissing(relationship, in: entity) else { return nil }
      return LintFinding(
        .mandatoryWithoutDefault, at: step.to.place(of: entity.name, property),
        version: step.to.name, entity: entity.name, property: property,
        "\(name) was added in “\(step.to.name)”: it is mandatory, and existing objects have none.",
        device: .missingLinks,
        advice:
          "Make it optional; a default value in Swift is for new objects only.")
    }
    let attribute = entity.storedAttribute(named: property) ?? entity.attribute(named: property)
    switch change.kind {
    case .added:
      guard let attribute, attribute.isStored, !attribute.isDerived,
        !isFilled(attribute, in: entity), attribute.type != .composite || step.to.source == nil
      else { return nil }
      return finding(
        .mandatoryWithoutDefault,
        "\(name) was added in “\(step.to.name)”: it is mandatory, and has no default value for existing objects.",
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

  /// Whether a relationship that was added must have objects, and no mapping gives it any.
  private func isMissing(_ relationship: Relationship, in entity: Entity) -> Bool {
    guard !relationship.isOptional, !relationship.isTransient,
      !relationship.isToMany || relationship.minCount > 0
    else { return false }
    guard let written = step.written else { return true }
    return written.entityMappings.filter { $0.destination == entity.name }.contains { taker in
      taker.policy == nil
        && !taker.relationships.contains {
          $0.name == relationship.name && ($0.source != nil || $0.condition != nil)
        }
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
    if step.to.computesDefault(of: attribute.name, entity.name) { return true }
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

extension LintRule {
  static let looksLikeRename = the("looks-like-rename")
}

/// Something that a step drops, with what it looks like in the version after: by name, and where
/// stores of both are at hand, by values.
struct StepDrop {
  let step: LintStep
  let omission: Omission
  /// A store that holds it, and stores of other versions.
  var store: LintStore?
  var others: [LintStore] = []

  /// Most values that are compared.
  private static let samples = 200

  /// - Parameter loss: what a store would lose of it.
  func findings(_ loss: Loss? = nil) -> [LintFinding] {
    let name = omission.property.map { "\(omission.entity).\($0)" } ?? omission.entity
    let (rule, what): (LintRule, String) =
      switch omission.kind {
      case .entity: (.entityDropped, "objects")
      case .attribute: (.attributeDropped, "values")
      case .relationship: (.relationshipDropped, "links")
      }
    // A step that shipped took it over: what takes it over was taken out, which moves no hash.
    var more =
      step.isShipped
      ? " The step took the \(what) over when it shipped, and no longer does." : ""
    if let loss, let store {
      more += " \(store.name) has \(loss.values)"
      more +=
        loss.samples.isEmpty
        ? "." : ", such as \(loss.samples.prefix(3).joined(separator: ", "))."
    }
    let severity: LintRule.Severity? = step.isShipped ? .error : nil
    let dropped = LintFinding(
      rule, at: step.to.place(of: omission.destination), version: step.to.name,
      entity: omission.destination ?? omission.entity, property: omission.property,
      "\(gone(name)), and nothing takes \(moved.isEmpty ? "its" : "their") \(what) over.\(more)",
      severity: severity, rows: loss?.values)
    guard let (entity, property) = likely() else { return [dropped] }
    let alike = property.map { "\(entity).\($0)" } ?? entity
    let former = omission.property ?? omission.entity
    return [
      dropped,
      LintFinding(
        .looksLikeRename, at: step.to.place(of: entity, property), version: step.to.name,
        entity: entity, property: property,
        "\(alike) of “\(step.to.name)” looks like \(name) of “\(step.from.name)” under a new name, but has no renaming identifier for it: its \(what) are not taken over.\(more)",
        severity: severity,
        advice:
          "If it is the same under a new name, give it the renaming identifier “\(former)” (Renaming ID in Xcode, originalName: in Swift).",
        former: former, rows: loss?.values),
    ]
  }

  /// Entities that keep their name and no longer inherit the property, which the version after still has.
  private var moved: [String] {
    guard let property = omission.property, keeps(property, omission.entity) else { return [] }
    return step.from.model.subtree(of: omission.entity).filter {
      step.to.model.entity(named: $0) != nil && !keeps(property, $0)
    }
  }

  private func keeps(_ property: String, _ entity: String) -> Bool {
    step.to.model.storedAttribute(named: property, of: entity) != nil
      || step.to.model.relationship(named: property, of: entity) != nil
  }

  /// What is no longer there, as a clause.
  private func gone(_ name: String) -> String {
    moved.isEmpty
      ? "\(name) of “\(step.from.name)” is not in “\(step.to.name)”"
      : "Objects of \(moved.joined(separator: ", ")) have \(name) in “\(step.from.name)” and do not inherit it in “\(step.to.name)”"
  }

  /// What it has probably become.
  private func likely() -> (entity: String, property: String?)? {
    guard let property = omission.property else { return likelyEntity() }
    guard let destination = omission.destination else { return nil }
    let candidates = candidates(for: property, in: destination)
    if omission.kind == .attribute, let found = byValues(property, candidates, destination) {
      return found.map { (destination, $0) }
    }
    return RenameGuess.best(for: property, among: candidates, rivals: rivals())
      .map { (destination, $0) }
  }

  /// What else is gone from there that could have become the same.
  private func rivals() -> [String] {
    func type(_ one: Omission) -> AttributeType? {
      one.property.flatMap { step.from.model.storedAttribute(named: $0, of: one.entity)?.type }
    }
    let own = type(omission)
    return step.facts.omissions(like: omission).filter { $0 != omission && type($0) == own }
      .compactMap(\.property)
  }

  /// What is new beside it and of the same type.
  private func candidates(for property: String, in destination: String) -> [String] {
    let (from, entity) = (step.from.model, omission.entity)
    guard let taker = step.mapping?.mapping(toDestination: destination) else { return [] }
    if omission.kind == .attribute {
      return from.storedAttribute(named: property, of: entity).map {
        step.facts.renames.candidates(for: $0, of: entity, in: taker)
      } ?? []
    }
    return from.relationship(named: property, of: entity).map {
      step.facts.renames.candidates(for: $0, of: entity, in: taker)
    } ?? []
  }

  /// A new entity that has at least half of the attributes.
  private func likelyEntity() -> (entity: String, property: String?)? {
    step.facts.renames.newEntity(like: omission.entity).map { ($0, nil) }
  }

  /// The candidate that holds the same values in a store of the version after.
  ///
  /// - Returns: `nil` where no store can say; a `nil` within where one shows that none is.
  private func byValues(
    _ property: String, _ candidates: [String], _ destination: String
  ) -> String?? {
    guard let store, !candidates.isEmpty,
      let other = others.first(where: { $0.hashes == step.to.hashes }),
      let own = values(of: property, omission.entity, in: store), own.count > 1
    else { return nil }
    let ranked = candidates.compactMap { name -> (String, Double)? in
      guard let theirs = values(of: name, destination, in: other), theirs.count > 1 else {
        return nil
      }
      let smaller = min(own.count, theirs.count)
      return (name, Double(own.intersection(theirs).count) / Double(smaller))
    }
    guard let best = ranked.max(by: { $0.1 < $1.1 }) else { return nil }
    return .some(best.1 >= 0.5 ? best.0 : nil)
  }

  private func values(
    of property: String, _ entity: String, in store: LintStore
  ) -> Set<String>? {
    let page = try? store.store.rows(
      RowQuery(entity: entity, limit: Self.samples, properties: [property]))
    return page.map { page in
      Set(
        page.rows.compactMap { row in
          guard case .value(let value)? = row.values.first, value != .null else { return nil }
          return value.line
        })
    }
  }
}

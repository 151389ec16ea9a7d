import ManagedModel
import Migration
import ModelWriting

extension LintRule {
  static let notInferable = the("not-inferable")
  static let attributeDropped = the("attribute-dropped")
  static let entityDropped = the("entity-dropped")
  static let relationshipDropped = the("relationship-dropped")
  static let toManyBecameToOne = the("to-many-became-to-one")
  static let renamingIdentifierDangling = the("renaming-identifier-dangling")
  static let renamingIdentifierShared = the("renaming-identifier-shared")
  static let elementIDStale = the("element-id-stale")
}

/// What a step from one version to the next drops, or fails over.
struct StepChecks {
  let step: LintStep
  /// Findings about rows come from stores, where stores are given.
  let looksAtRows: Bool

  private var to: LintedModel.Version { step.to }
  private var words: String { "from “\(step.from.name)” to “\(step.to.name)”" }

  func findings() -> [LintFinding] {
    var found = mistake() + identifiers()
    guard step.from.hashes != step.to.hashes else { return found }
    found += refusals()
    if !step.isShipped { found += differences() }
    if !looksAtRows {
      found += drops()
      if !step.isShipped { found += failures() }
    }
    return found
  }

  private func mistake() -> [LintFinding] {
    guard let mistake = step.mistake else { return [] }
    return [
      LintFinding(
        .notInferable, at: LintPlace(path: mistake.path ?? to.file), version: to.name,
        entity: mistake.entity, property: mistake.property,
        "The mapping \(words) cannot be used: \(mistake.message).", advice: mistake.advice)
    ]
  }

  // MARK: What cannot be inferred

  private func refusals() -> [LintFinding] {
    let shared = conflicts()
    return shared.map(\.finding)
      + step.newRefusals.filter { refusal in
        !shared.contains { $0.entity == refusal.entity && $0.names.contains(refusal.property) }
      }.map { refusal in
        let isType = step.change(of: refusal.entity, refusal.property) {
          if case .type = $0 { true } else { false }
        }
        let isCount = step.change(of: refusal.entity, refusal.property) {
          $0 == .toMany(false)
        }
        let rule: LintRule =
          isType != nil ? .typeChanged : isCount != nil ? .toManyBecameToOne : .notInferable
        return LintFinding(
          rule, at: to.place(of: refusal.entity, refusal.property), version: to.name,
          entity: refusal.entity, property: refusal.property,
          "The step \(words) cannot be inferred\(refusal.code.map { " (\($0))" } ?? ""): \(refusal.reason ?? refusal.message).",
          severity: .error, consequence: LintRule.notInferable.consequence, advice: refusal.advice)
      }
  }

  /// Things that share a renaming identifier.
  private func conflicts() -> [(finding: LintFinding, entity: String?, names: [String?])] {
    guard !step.newRefusals.isEmpty else { return [] }
    func finding(
      _ identifier: String, _ names: [String], of entity: String?, in version: String
    ) -> (finding: LintFinding, entity: String?, names: [String?]) {
      // The one that has it by its name keeps it.
      let name = names.last { $0 != identifier } ?? identifier
      let list = names.map { "“\($0)”" }.joined(separator: " and ")
      return (
        LintFinding(
          .renamingIdentifierShared, at: to.place(of: entity ?? name, entity == nil ? nil : name),
          version: to.name, entity: entity ?? name, property: entity == nil ? nil : name,
          "\(list)\(entity.map { " of “\($0)”" } ?? "") have the same renaming identifier in “\(version)”, “\(identifier)”: the step \(words) cannot be inferred (134190)."
        ), entity ?? name, entity == nil ? [nil] : names
      )
    }
    let entities = to.model.entityAlignment(from: step.from.model, isEqual: false)
    func sorted(_ shared: [String: [String]]) -> [(key: String, value: [String])] {
      shared.sorted { $0.key < $1.key }
    }
    var found = sorted(entities.sharedSources).map {
      finding($0.key, $0.value, of: nil, in: step.from.name)
    }
    found += sorted(entities.sharedDestinations).map {
      finding($0.key, $0.value, of: nil, in: to.name)
    }
    for entity in to.model.entities {
      guard let former = entities.sources[entity.name] else { continue }
      let properties: [NameAlignment.Named] =
        step.from.model.attributes(of: former).filter { !$0.isTransient }
        .map { ($0.name, $0.canonicalName) }
        + step.from.model.relationships(of: former).filter { !$0.isTransient }
        .map { ($0.name, $0.canonicalName) }
      found += sorted(NameAlignment(source: properties, destination: []).sharedSources).map {
        finding($0.key, $0.value, of: entity.name, in: step.from.name)
      }
    }
    return found.filter { found in
      step.newRefusals.contains { $0.entity == found.entity && found.names.contains($0.property) }
    }
  }

  /// What strata carries out, and the app's own migration refuses or loses.
  private func differences() -> [LintFinding] {
    guard step.written == nil, !step.isCustomStage, step.refusals.isEmpty,
      let mapping = step.mapping
    else { return [] }
    return MappingInference.appDifferences(mapping, from: step.from.model, to: to.model).map {
      difference in
      let isLink =
        difference.property.map {
          to.model.relationship(named: $0, of: difference.entity) != nil
        } ?? false
      let rule: LintRule =
        switch difference.outcome {
        case .refused: .notInferable
        case .lost:
          difference.property == nil
            ? .entityDropped : isLink ? .relationshipDropped : .attributeDropped
        }
      return LintFinding(
        rule, at: to.place(of: difference.entity, difference.property), version: to.name,
        entity: difference.entity, property: difference.property, difference.sentence)
    }
  }

  // MARK: Identifiers

  private func identifiers() -> [LintFinding] {
    let sources = to.model.entityAlignment(
      from: step.from.model, isEqual: step.from.hashes == step.to.hashes
    ).sources
    return to.model.entities.flatMap { entity -> [LintFinding] in
      let names =
        [(entity.name, nil as String?, entity.renamingIdentifier)]
        + entity.attributes.map { (entity.name, $0.name, $0.renamingIdentifier) }
        + entity.relationships.map { (entity.name, $0.name, $0.renamingIdentifier) }
      return names.compactMap { entity, property, identifier in
        identifier.flatMap { identifierFinding($0, entity, property, from: sources[entity]) }
      }
    }
  }

  private func identifierFinding(
    _ identifier: String, _ entity: String, _ property: String?, from source: String?
  ) -> LintFinding? {
    let former = step.from.model
    func knows(_ model: Model, _ entity: String?) -> Bool {
      guard property != nil else {
        return model.entities.contains { $0.name == identifier || $0.canonicalName == identifier }
      }
      guard let entity else { return false }
      return model.attributes(of: entity).contains {
        $0.name == identifier || $0.canonicalName == identifier
      }
        || model.relationships(of: entity).contains {
          $0.name == identifier || $0.canonicalName == identifier
        }
    }
    // What the version before says as well is not of this step.
    if let source, has(identifier, former, source, property) { return nil }
    // Nor is what shipped with it.
    if let shipped = step.shippedDestination, has(identifier, shipped, entity, property) {
      return nil
    }
    let place = to.place(of: entity, property)
    let name = property.map { "\(entity).\($0)" } ?? entity
    if !knows(former, source) {
      // A new entity's properties have no former ones to be distinguished from.
      guard property == nil || source != nil else { return nil }
      return LintFinding(
        .renamingIdentifierDangling, at: place, version: to.name, entity: entity,
        property: property,
        "\(name) has the renaming identifier “\(identifier)”, which names nothing in “\(step.from.name)”."
      )
    }
    guard let twin = twin(of: identifier, entity, property) else { return nil }
    return LintFinding(
      .elementIDStale, at: place, version: to.name, entity: entity, property: property,
      "\(name) has the renaming identifier “\(identifier)”, and so has “\(twin)”.")
  }

  /// Whether a thing of that name has the identifier already.
  private func has(
    _ identifier: String, _ model: Model, _ entity: String, _ property: String?
  ) -> Bool {
    guard let before = model.entity(named: entity) else { return false }
    guard let property else { return before.renamingIdentifier == identifier }
    return
      (before.attribute(named: property)?.renamingIdentifier
      ?? before.relationship(named: property)?.renamingIdentifier) == identifier
  }

  /// Another thing of the same version that uses the identifier, as its name or as its own.
  private func twin(of identifier: String, _ entity: String, _ property: String?) -> String? {
    guard let property else {
      return to.model.entities.first {
        $0.name != entity && ($0.canonicalName == identifier || $0.name == identifier)
      }?.name
    }
    let own = to.model.entity(named: entity)
    let names =
      (own?.attributes ?? []).map { ($0.name, $0.canonicalName) }
      + (own?.relationships ?? []).map { ($0.name, $0.canonicalName) }
    return names.first { name, canonical in
      name != property && (canonical == identifier || name == identifier)
    }?.0
  }
}

/// What many findings of one step ask for, found out once.
///
/// A model can have 20,000 entities, and each of them can have changed: what looked through all of
/// them for each finding took minutes.
final class StepFacts {
  private let from: Model
  private let to: Model
  private let mapping: MappingModel?

  init(from: Model, to: Model, mapping: MappingModel?) {
    (self.from, self.to, self.mapping) = (from, to, mapping)
  }

  /// What differs between the two versions.
  lazy var difference = ModelDifference(from: from, to: to)

  private lazy var differences = (
    Dictionary(
      difference.entities.compactMap { entity in entity.destination.map { ($0.name, entity) } }
    ) { first, _ in first },
    Dictionary(
      difference.entities.compactMap { entity in entity.source.map { ($0.name, entity) } }
    ) { first, _ in first }
  )

  /// How an entity of the later version differs; of the earlier version where the later one does not have it.
  func difference(of entity: String) -> EntityDifference? {
    differences.0[entity] ?? differences.1[entity]
  }

  /// Which entity of each version goes on as which, identifiers that are claimed twice included.
  lazy var alignment = to.entityAlignment(from: from, isEqual: false)

  // MARK: What could be something that is gone

  /// What is gone of one kind from what becomes one entity.
  private struct Group: Hashable {
    let kind: Omission.Kind
    let destination: String?
  }

  private var groups: [Group: [Omission]] = [:]

  /// What the step drops.
  func setOmissions(_ omissions: [Omission]) {
    groups = Dictionary(grouping: omissions) { Group(kind: $0.kind, destination: $0.destination) }
  }

  /// What else of the same kind is gone from there.
  func omissions(like omission: Omission) -> [Omission] {
    groups[Group(kind: omission.kind, destination: omission.destination)] ?? []
  }

  /// What could be something that is gone, under another name.
  lazy var renames = RenameGuess(mapping, from: from, to: to)
}

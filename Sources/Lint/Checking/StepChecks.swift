import ManagedModel
import Migration
import ModelWriting

/// What a step from one version to the next drops, or fails over.
struct StepChecks {
  let step: LintStep
  /// What is told of rows is told by stores, where such are named.
  let looksAtRows: Bool

  private var to: LintedModel.Version { step.to }
  private var words: String { "from “\(step.from.name)” to “\(step.to.name)”" }

  func findings() -> [LintFinding] {
    var found = mistake() + identifiers()
    guard step.from.hashes != step.to.hashes else { return found }
    found += refusals()
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
        "The mapping \(words) cannot be used: \(mistake.message).", advice: mistake.hint)
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
          "The step \(words) cannot be inferred (134190): \(refusal.reason ?? refusal.message).",
          severity: .error, consequence: LintRule.notInferable.consequence, advice: refusal.hint)
      }
  }

  /// Things that claim to be the same former one.
  private func conflicts() -> [(finding: LintFinding, entity: String?, names: [String?])] {
    guard !step.newRefusals.isEmpty else { return [] }
    func finding(
      _ former: String, _ claims: [String], _ entity: String?
    ) -> (finding: LintFinding, entity: String?, names: [String?]) {
      // The first one has it; the last claims in vain.
      let name = claims.last ?? former
      let list = claims.map { "“\($0)”" }.joined(separator: " and ")
      return (
        LintFinding(
          .renamingIdentifierShared, at: to.place(of: entity ?? name, entity == nil ? nil : name),
          version: to.name, entity: entity ?? name, property: entity == nil ? nil : name,
          "\(list) both claim to be the former “\(former)”, \(words)."), entity ?? former,
        entity == nil ? [nil] : claims
      )
    }
    let entities = to.model.entityAlignment(from: step.from.model)
    var found = entities.conflicts.sorted { $0.key < $1.key }.map { finding($0, $1, nil) }
    for entity in to.model.entities {
      guard let former = entities.sources[entity.name] else { continue }
      let alignments = [
        NameAlignment(
          source: step.from.model.attributes(of: former).map { ($0.name, $0.canonicalName) },
          destination: to.model.attributes(of: entity.name).map { ($0.name, $0.canonicalName) }),
        NameAlignment(
          source: step.from.model.relationships(of: former).map { ($0.name, $0.canonicalName) },
          destination: to.model.relationships(of: entity.name).map { ($0.name, $0.canonicalName) }),
      ]
      found += alignments.flatMap(\.conflicts).sorted { $0.key < $1.key }
        .map { finding($0.key, $0.value, entity.name) }
    }
    return found.filter { found in
      step.newRefusals.contains { $0.entity == found.entity && found.names.contains($0.property) }
    }
  }

  // MARK: Identifiers

  private func identifiers() -> [LintFinding] {
    to.model.entities.flatMap { entity -> [LintFinding] in
      let names =
        [(entity.name, nil as String?, entity.renamingIdentifier)]
        + entity.attributes.map { (entity.name, $0.name, $0.renamingIdentifier) }
        + entity.relationships.map { (entity.name, $0.name, $0.renamingIdentifier) }
      return names.compactMap { entity, property, identifier in
        identifier.flatMap { identifierFinding($0, entity, property) }
      }
    }
  }

  private func identifierFinding(
    _ identifier: String, _ entity: String, _ property: String?
  ) -> LintFinding? {
    let former = step.from.model
    let source = to.model.entityAlignment(from: former).sources[entity]
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
      // A new entity's properties have no former ones to be told from.
      guard property == nil || source != nil else { return nil }
      return LintFinding(
        .renamingIdentifierDangling, at: place, version: to.name, entity: entity,
        property: property,
        "\(name) is said to be the former “\(identifier)”, which “\(step.from.name)” does not have."
      )
    }
    guard let twin = twin(of: identifier, entity, property) else { return nil }
    return LintFinding(
      .elementIDStale, at: place, version: to.name, entity: entity, property: property,
      "\(name) is said to be the former “\(identifier)”, and so is “\(twin)”.")
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

  /// Another thing of the same version that goes by the identifier, as its name or as its own.
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

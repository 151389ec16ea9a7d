import ManagedModel
import Migration

extension LintRule {
  static let renamingIdentifierIgnored = the("renaming-identifier-ignored")
  static let inverseMissing = the("inverse-missing")
  static let inverseInconsistent = the("inverse-inconsistent")
  static let deleteRuleCascadesBothWays = the("delete-rule-cascades-both-ways")
  static let deleteRuleDeniesForever = the("delete-rule-denies-forever")
  static let transformableInsecure = the("transformable-insecure")
}

/// What is odd about one version by itself.
struct ModelChecks {
  let version: LintedModel.Version

  private var model: Model { version.model }

  func findings() -> [LintFinding] {
    model.entities.flatMap { entity in
      entity.relationships.filter { !$0.isTransient }.flatMap { relationships($0, entity) }
        + entity.attributes.flatMap { transformables($0, entity) }
    } + ignoredIdentifiers()
  }

  private func ignoredIdentifiers() -> [LintFinding] {
    (version.lines?.ignoredIdentifiers ?? []).compactMap { ignored in
      guard let entity = model.entity(named: ignored.entity) else { return nil }
      let name = ignored.property.map { "\(entity.name).\($0)" } ?? entity.name
      return finding(
        .renamingIdentifierIgnored, entity, ignored.property,
        "\(name) has renamingIdentifier=“\(ignored.identifier)” in the file, which Xcode and Core Data ignore: use elementID. It is new in “\(version.name)”, and takes nothing over."
      )
    }
  }

  private func finding(
    _ rule: LintRule, _ entity: Entity, _ property: String?, _ message: String,
    severity: LintRule.Severity? = nil
  ) -> LintFinding {
    LintFinding(
      rule, at: version.place(of: entity.name, property), version: version.name,
      entity: entity.name, property: property, message, severity: severity)
  }

  private func relationships(_ relationship: Relationship, _ entity: Entity) -> [LintFinding] {
    let name = "\(entity.name).\(relationship.name)"
    guard let inverseName = relationship.inverse else {
      let forever = deniesForever(relationship, nil, entity)
      return [finding(.inverseMissing, entity, relationship.name, "\(name) has no inverse.")]
        + forever
    }
    let there = "\(relationship.destination).\(inverseName)"
    guard let inverse = model.relationship(named: inverseName, of: relationship.destination) else {
      let isKnown = model.entity(named: relationship.destination) != nil
      return [
        finding(
          .inverseInconsistent, entity, relationship.name,
          isKnown
            ? "The inverse of \(name), \(there), does not exist."
            : "The destination of \(name), \(relationship.destination), does not exist.")
      ]
    }
    let isBack =
      inverse.inverse == relationship.name
      && (model.isKind(entity.name, of: inverse.destination)
        || model.isKind(inverse.destination, of: entity.name))
    guard isBack else {
      let back = inverse.inverse.map { "\(inverse.destination).\($0)" } ?? "none"
      return [
        finding(
          .inverseInconsistent, entity, relationship.name,
          "The inverse of \(name) is \(there), and the inverse of that is \(back).")
      ]
    }
    var found = deniesForever(relationship, inverse, entity)
    if relationship.deleteRule == .cascade, inverse.deleteRule == .cascade,
      isFirst(relationship, entity, inverse)
    {
      found.append(
        finding(
          .deleteRuleCascadesBothWays, entity, relationship.name,
          "\(name) and \(there) both have the delete rule Cascade."))
    }
    return found
  }

  /// Whether a pair is reported on this side.
  private func isFirst(
    _ relationship: Relationship, _ entity: Entity, _ inverse: Relationship
  ) -> Bool {
    let other = model.declaringEntity(of: inverse.name, in: relationship.destination)
    return (entity.name, relationship.name) <= (other ?? "", inverse.name)
  }

  private func deniesForever(
    _ relationship: Relationship, _ inverse: Relationship?, _ entity: Entity
  ) -> [LintFinding] {
    guard relationship.deleteRule == .deny else { return [] }
    let name = "\(entity.name).\(relationship.name)"
    if let inverse, inverse.deleteRule == .deny, isFirst(relationship, entity, inverse) {
      return [
        finding(
          .deleteRuleDeniesForever, entity, relationship.name,
          "\(name) and its inverse \(relationship.destination).\(inverse.name) both have the delete rule Deny."
        )
      ]
    }
    let isAlwaysFull =
      !relationship.isOptional && (!relationship.isToMany || relationship.minCount > 0)
    guard isAlwaysFull, inverse?.deleteRule != .deny else { return [] }
    return [
      finding(
        .deleteRuleDeniesForever, entity, relationship.name,
        "\(name) is mandatory and has the delete rule Deny: its object can never be deleted.")
    ]
  }

  /// Transformers that open any class.
  private static let insecure: Set<String> = [
    "NSUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName",
    "NSUnarchiveFromDataTransformerName",
  ]

  private func transformables(_ attribute: Attribute, _ entity: Entity) -> [LintFinding] {
    guard attribute.type == .transformable, !attribute.isTransient else { return [] }
    let name = "\(entity.name).\(attribute.name)"
    guard let transformer = attribute.valueTransformerName else {
      return [
        finding(
          .transformableInsecure, entity, attribute.name,
          "\(name) is Transformable and names no transformer.")
      ]
    }
    guard Self.insecure.contains(transformer) else { return [] }
    return [
      finding(
        .transformableInsecure, entity, attribute.name,
        "\(name) uses \(transformer), which unarchives any class.")
    ]
  }
}

extension LintRule {
  static let mappingStale = the("mapping-stale")
}

/// Mapping models that are for no two versions any more.
struct MappingChecks {
  let models: [LintedModel]
  let bases: [LintedModel]
  let documents: [MappingModelDocument]

  func findings() -> [LintFinding] {
    let names = Set(models.flatMap(\.versions).flatMap { $0.hashes.keys })
    return documents.compactMap { document -> LintFinding? in
      // One of another model is none of ours.
      let known = document.entities.count { names.contains($0) }
      guard known > 0, known * 2 >= document.entities.count else { return nil }
      guard !models.contains(where: { pair(document, $0.versions) != nil }) else { return nil }
      let before = bases.lazy.compactMap { pair(document, $0.versions) }.first
      let owner = models.max { one, other in
        Self.overlap(document, one) < Self.overlap(document, other)
      }
      let reason = owner.flatMap { misfit(document, $0.versions) }
      let was = before.map { " At the base it was for “\($0.0)” and “\($0.1)”." } ?? ""
      return LintFinding(
        .mappingStale, at: LintPlace(path: document.path), version: nil,
        "The mapping model matches no two versions"
          + (reason.map { ": \($0)." } ?? ".") + was,
        severity: before == nil ? nil : .error)
    }
  }

  private static func overlap(_ document: MappingModelDocument, _ model: LintedModel) -> Int {
    model.versions.map { version in
      document.entities.count { version.hashes[$0] != nil }
    }.max() ?? 0
  }

  /// The two versions that a mapping model is for; neighbours are asked first.
  private func pair(
    _ document: MappingModelDocument, _ versions: [LintedModel.Version]
  ) -> (String, String)? {
    let places = versions.indices
    var pairs: [(from: Int, to: Int)] = []
    for from in places { for to in places where from != to { pairs.append((from, to)) } }
    func distance(_ pair: (from: Int, to: Int)) -> Int { abs(pair.from + 1 - pair.to) }
    return pairs.sorted { distance($0) < distance($1) }.first { pair in
      document.fits(from: versions[pair.from].model, to: versions[pair.to].model)
    }.map { (versions[$0.from].name, versions[$0.to].name) }
  }

  /// Why it does not fit the last step.
  private func misfit(
    _ document: MappingModelDocument, _ versions: [LintedModel.Version]
  ) -> String? {
    guard versions.count > 1 else { return nil }
    return document.misfit(
      from: versions[versions.count - 2].model, to: versions[versions.count - 1].model)
  }
}

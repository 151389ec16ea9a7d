import ManagedModel
import ModelWriting
import SwiftModels

extension LintRule {
  static let cloudKitUniqueConstraint = the("cloudkit-unique-constraint")
  static let cloudKitMandatoryWithoutDefault = the("cloudkit-mandatory-without-default")
  static let cloudKitRelationshipMandatory = the("cloudkit-relationship-mandatory")
  static let cloudKitRelationshipWithoutInverse = the("cloudkit-relationship-without-inverse")
  static let cloudKitDenyRule = the("cloudkit-deny-rule")
  static let cloudKitOrderedRelationship = the("cloudkit-ordered-relationship")
  static let cloudKitUndefinedAttribute = the("cloudkit-undefined-attribute")
  static let cloudKitChangedAfterDeployment = the("cloudkit-changed-after-deployment")
}

/// What CloudKit does not mirror.
struct CloudKitChecks {
  let version: LintedModel.Version
  /// The version that was current at the base.
  let deployed: LintedModel.Version?

  /// The entities that are mirrored: those of the configurations that Xcode marked, else all.
  private var entities: [Entity] {
    let marked = version.lines?.cloudKit ?? []
    guard !marked.isEmpty, !marked.contains("") else { return version.model.entities }
    let members = Set(marked.flatMap { version.model.configurations[$0] ?? [] })
    return version.model.entities.filter { members.contains($0.name) }
  }

  func findings() -> [LintFinding] {
    entities.flatMap { entity in
      constraints(entity) + entity.attributes.flatMap { attribute($0, entity) }
        + entity.relationships.flatMap { relationship($0, entity) }
    } + changes()
  }

  private func finding(
    _ rule: LintRule, _ entity: String, _ property: String?, _ message: String
  ) -> LintFinding {
    LintFinding(
      rule, at: version.place(of: entity, property), version: version.name, entity: entity,
      property: property, message)
  }

  private func constraints(_ entity: Entity) -> [LintFinding] {
    entity.uniquenessConstraints.map { names in
      finding(
        .cloudKitUniqueConstraint, entity.name, names.first,
        "\(entity.name) has a uniqueness constraint on \(names.joined(separator: ", ")).")
    }
  }

  private func attribute(_ attribute: Attribute, _ entity: Entity) -> [LintFinding] {
    guard !attribute.isTransient else { return [] }
    let name = "\(entity.name).\(attribute.name)"
    if attribute.type == .undefined || attribute.type == .objectID {
      return [
        finding(
          .cloudKitUndefinedAttribute, entity.name, attribute.name,
          attribute.type == .undefined ? "\(name) has no type." : "\(name) is an object ID.")
      ]
    }
    let isComputed = version.computesDefault(of: attribute.name, entity.name)
    guard !attribute.isOptional, attribute.defaultValue == nil, !attribute.isDerived, !isComputed,
      attribute.type != .composite
    else { return [] }
    return [
      finding(
        .cloudKitMandatoryWithoutDefault, entity.name, attribute.name,
        "\(name) is mandatory and has no default value.")
    ]
  }

  private func relationship(_ relationship: Relationship, _ entity: Entity) -> [LintFinding] {
    guard !relationship.isTransient else { return [] }
    let name = "\(entity.name).\(relationship.name)"
    var found: [LintFinding] = []
    func add(_ rule: LintRule, _ message: String) {
      found.append(finding(rule, entity.name, relationship.name, message))
    }
    if !relationship.isOptional { add(.cloudKitRelationshipMandatory, "\(name) is mandatory.") }
    if relationship.inverse == nil {
      add(.cloudKitRelationshipWithoutInverse, "\(name) has no inverse.")
    }
    if relationship.deleteRule == .deny { add(.cloudKitDenyRule, "\(name) denies deleting.") }
    if relationship.isOrdered { add(.cloudKitOrderedRelationship, "\(name) is ordered.") }
    return found
  }

  /// What Core Data does about a renaming in a mirrored store.
  private static let renaming =
    "Core Data’s lightweight migration of a mirrored store refuses to rename (134110), and records in iCloud keep the old name."

  /// What shipped and is not there under its name and type any more.
  private func changes() -> [LintFinding] {
    guard let deployed, deployed.hashes != version.hashes else { return [] }
    let mirrored = Set(entities.map(\.name))
    return ModelDifference(from: deployed.model, to: version.model).entities.flatMap { entity in
      guard let former = entity.source else { return [LintFinding]() }
      guard let now = entity.destination else {
        return [
          finding(
            .cloudKitChangedAfterDeployment, former.name, nil,
            "\(former.name) of “\(deployed.name)” was removed.")
        ]
      }
      guard mirrored.contains(now.name) else { return [] }
      var found: [LintFinding] = []
      if entity.isRenamed {
        found.append(
          finding(
            .cloudKitChangedAfterDeployment, now.name, nil,
            "\(now.name) was \(former.name) in “\(deployed.name)”. \(Self.renaming)"))
      }
      return found
        + entity.changes.compactMap { change in
          switch change.kind {
          case .removed, .renamed, .type, .destination, .toMany:
            guard change.property != nil else { return nil }
            let isRenamed = if case .renamed = change.kind { true } else { false }
            return finding(
              .cloudKitChangedAfterDeployment, now.name, change.property,
              "\(now.name): \(change.description)." + (isRenamed ? " " + Self.renaming : ""))
          default: return nil
          }
        }
    }
  }
}

extension LintRule {
  static let liveTypeInFrozenSchema = the("swiftdata-live-type-in-frozen-schema")
}

/// What is odd about versions in Swift source.
struct SwiftDataChecks {
  let subject: LintSubject

  func findings() -> [LintFinding] { liveTypes() }

  /// Classes that a version and a later one share, one finding for each class. Where there are no
  /// stages no version is frozen.
  private func liveTypes() -> [LintFinding] {
    guard subject.now.stagedPlan != nil else { return [] }
    let versions = subject.now.sequence
    var names: [String] = []
    var usersByName: [String: [(version: LintedModel.Version, type: SourceVersion.Class)]] = [:]
    for version in versions {
      var own: Set<String> = []
      for type in version.source?.classes ?? [] where own.insert(type.name).inserted {
        if usersByName[type.name] == nil { names.append(type.name) }
        usersByName[type.name, default: []].append((version, type))
      }
    }
    return names.compactMap { name in
      let users = usersByName[name] ?? []
      let frozen = users.dropLast().filter { !$0.type.isInside }
      guard let first = frozen.first, let last = users.last else { return nil }
      let list = frozen.map { "“\($0.version.name)”" }.joined(separator: ", ")
      let verb = first.type.isListed ? "list" : "reach"
      return LintFinding(
        .liveTypeInFrozenSchema,
        at: first.version.source?.place.map { LintPlace(path: $0.path, line: $0.line) }
          ?? first.version.place(of: first.type.entity),
        version: first.version.name, entity: first.type.entity,
        "\(list) \(frozen.count == 1 ? verb + (verb == "reach" ? "es" : "s") : verb) \(name), which is declared outside of the version (\(first.type.place)) and is also used by “\(last.version.name)”."
      )
    }
  }
}

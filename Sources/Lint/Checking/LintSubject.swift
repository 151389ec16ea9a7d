import ManagedModel
import Migration
import ModelWriting
import SwiftModels

/// One model with all that checks go by: what it was at the base, and what is written for its steps.
struct LintSubject {
  typealias Version = LintedModel.Version

  let now: LintedModel
  /// What shipped; `nil` where nothing is known of it.
  let base: LintedModel?
  /// What the base is called.
  let baseName: String?
  /// Names of the versions that shipped, where somebody says so.
  let released: Set<String>?
  let documents: MappingDocuments
  /// Why CloudKit's rules apply, as a clause; `nil` where they do not.
  let cloudKit: String?
  /// Hashes of stores that shipped.
  let stores: [[String: VersionHash]]
  /// The steps from version to version up to the current one.
  let steps: [LintStep]

  init(
    now: LintedModel, base: LintedModel?, baseName: String?, released: Set<String>?,
    documents: MappingDocuments, cloudKit: String?, stores: [[String: VersionHash]] = []
  ) {
    self.now = now
    self.base = base
    self.baseName = baseName
    self.released = released
    self.documents = documents
    self.cloudKit = cloudKit
    self.stores = stores
    let pairs = Self.pairs(now, base)
    let former = base.map { Self.neighbours($0.sequence) } ?? []
    steps = pairs.map { from, to in
      let known = former.first { $0.0.hashes == from.hashes && $0.1.hashes == to.hashes }
      return LintStep(
        from: from, to: to, plan: now.plan, documents: documents,
        former: known.map {
          LintStep(from: $0.0, to: $0.1, plan: base?.plan, documents: documents, former: nil)
        })
    }
  }

  /// Neighbours in the order of the versions. What names no version of its own goes from the state at
  /// the base to that of now.
  private static func pairs(_ now: LintedModel, _ base: LintedModel?) -> [(Version, Version)] {
    let sequence = now.sequence
    guard now.form == .source, now.plan == nil, let base, let before = base.current,
      let current = now.current, now.version(making: before.hashes) == nil
    else { return neighbours(sequence) }
    return [(before, current)]
  }

  private static func neighbours(_ versions: [Version]) -> [(Version, Version)] {
    zip(versions, versions.dropFirst()).filter { $0.hashes != $1.hashes || $0.model != $1.model }
  }

  /// The versions that shipped: those of the base, or without one those of stores, or before the
  /// current.
  var shipped: [Version] {
    var all = base?.versions ?? (stores.isEmpty ? Array(now.sequence.dropLast()) : [])
    if let released {
      all = (base == nil ? now.versions : all).filter { released.contains($0.name) }
    }
    let more = stores.compactMap(now.version(making:)).filter { version in
      !all.contains { $0.hashes == version.hashes }
    }
    return all + more
  }

  /// The steps that are told of: those that did not ship as they are, and without a base the last.
  var newSteps: [LintStep] {
    guard let base else { return steps.suffix(1) }
    // Of a model that is new nothing shipped.
    return base.versions.isEmpty ? [] : steps
  }
}

extension LintedModel {
  /// The versions that lead to the current one, the oldest first: of a plan its own, else all before.
  var sequence: [Version] {
    guard let plan else { return Array(upToCurrent) }
    return plan.versions.compactMap { name in versions.first { $0.name == name } }
  }
}

/// A step from one version to another, with what can be told of it without a store.
struct LintStep {
  let from: LintedModel.Version
  let to: LintedModel.Version
  /// The mapping that a document has for it.
  let written: MappingModel?
  /// Whether a custom stage of the plan carries it out.
  let isCustomStage: Bool
  /// Why a document that is for it cannot be used.
  let mistake: CoreDataError?
  /// Each change that keeps it from being inferred; none where a mapping is written.
  let refusals: [CoreDataError]
  /// What the step does: as written, or as far as it can be inferred.
  let mapping: MappingModel?
  let omissions: [Omission]
  let difference: ModelDifference
  /// The same step as it shipped.
  private let former: (omissions: Set<Omission>, refused: [CoreDataError], to: Model)?

  init(
    from: LintedModel.Version, to: LintedModel.Version, plan: SourcePlan?,
    documents: MappingDocuments, former: LintStep?
  ) {
    self.from = from
    self.to = to
    isCustomStage =
      plan?.stages.contains { $0.isCustom && $0.from == from.name && $0.to == to.name } ?? false
    var mistake: CoreDataError?
    do {
      written = try documents.mapping(
        from: from.model, to: to.model, names: (from.name, to.name))
    } catch {
      written = nil
      mistake = error as? CoreDataError
    }
    self.mistake = mistake
    self.former = former.map { (Set($0.omissions), $0.refusals, $0.to.model) }
    difference = ModelDifference(from: from.model, to: to.model)
    guard from.hashes != to.hashes else {
      (refusals, mapping, omissions) = ([], nil, [])
      return
    }
    let rest = written == nil ? MappingInference.remainder(from: from.model, to: to.model) : nil
    refusals = isCustomStage ? [] : rest?.refusals ?? []
    let mapping = written ?? rest?.mapping
    self.mapping = mapping
    let destination = rest?.destination ?? to.model
    // What code of the app's own does is not known; what is refused is not gone for that.
    let all =
      isCustomStage
      ? []
      : mapping.map { CarriedProperties($0, from: from.model, to: destination).omissions() } ?? []
    let isRefused = !refusals.isEmpty
    omissions = all.filter { !isRefused || !Self.isClaimed($0, from.model, to.model) }
  }

  /// Whether something of the version after claims to be it, whether or not that can be inferred.
  private static func isClaimed(_ omission: Omission, _ from: Model, _ to: Model) -> Bool {
    guard let now = to.entityAlignment(from: from).destinations[omission.entity] else {
      return false
    }
    guard let property = omission.property else { return true }
    let name = String(property.prefix { $0 != "." })
    let attributes = NameAlignment(
      source: from.attributes(of: omission.entity).map { ($0.name, $0.canonicalName) },
      destination: to.attributes(of: now).map { ($0.name, $0.canonicalName) })
    let relationships = NameAlignment(
      source: from.relationships(of: omission.entity).map { ($0.name, $0.canonicalName) },
      destination: to.relationships(of: now).map { ($0.name, $0.canonicalName) })
    return attributes.destinations[name] != nil || relationships.destinations[name] != nil
  }

  /// Whether the very step was there at the base: what its versions' hashes say is no news.
  var isShipped: Bool { former != nil }

  /// Whether something can go from one version to the other.
  var isPassable: Bool {
    from.hashes == to.hashes || written != nil || isCustomStage || refusals.isEmpty
  }

  /// Whether code of the app's own decides what becomes of rows.
  var isOpaque: Bool {
    isCustomStage || written?.entityMappings.contains { $0.policy != nil } == true
  }

  /// The version that the step led to when it shipped; `nil` for a new one.
  var shippedDestination: Model? { former?.to }

  /// What the step drops, and did not drop when it shipped.
  var newOmissions: [Omission] {
    omissions.filter { omission in former.map { !$0.omissions.contains(omission) } ?? true }
  }

  /// What cannot be inferred, and could be when the step shipped.
  var newRefusals: [CoreDataError] {
    refusals.filter { refusal in
      former.map {
        !$0.refused.contains { $0.entity == refusal.entity && $0.property == refusal.property }
      } ?? true
    }
  }

  /// What an entity of the version before became.
  func destination(of entity: String) -> String? {
    mapping?.mapping(fromSource: entity)?.destination
  }

  /// The change of an entity or of one of its properties that a test picks.
  func change(
    of entity: String?, _ property: String?, _ test: (PropertyChange.Kind) -> Bool
  ) -> PropertyChange? {
    guard let entity, let property else { return nil }
    let holder = to.model.declaringEntity(of: property, in: entity) ?? entity
    return difference.entity(named: holder)?.changes.first {
      $0.property == property && test($0.kind)
    }
  }
}

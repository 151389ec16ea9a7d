import Files
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import ModelWriting
import SwiftModels

/// One model with all that checks use: what it was at the base, and what is written for its steps.
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
      guard let known else {
        return LintStep(from: from, to: to, plan: now.plan, documents: documents)
      }
      // Most steps are what they were, and are looked at once.
      let isSame = known.0.model == from.model && known.1.model == to.model
      guard !isSame || now.plan != base?.plan else {
        return LintStep(from: from, to: to, plan: now.plan, documents: documents, isSame: true)
      }
      return LintStep(
        from: from, to: to, plan: now.plan, documents: documents,
        former: LintStep(from: known.0, to: known.1, plan: base?.plan, documents: documents))
    }
  }

  /// Neighbours in the order of the versions. Where the version that was current at the base is none
  /// of these, and no stage leads to the current one, the step goes from the one to the other.
  private static func pairs(_ now: LintedModel, _ base: LintedModel?) -> [(Version, Version)] {
    let sequence = now.sequence
    guard now.stagedPlan == nil, let before = base?.current, let current = now.current,
      !sequence.contains(where: { $0.hashes == before.hashes })
    else { return neighbours(sequence) }
    return (now.form == .source ? [] : neighbours(sequence)) + [(before, current)]
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

  /// The steps that are reported: those that did not ship as they are, and without a base the last.
  var newSteps: [LintStep] {
    guard let base else { return steps.suffix(1) }
    // Of a model that is new nothing shipped.
    return base.versions.isEmpty ? [] : steps
  }
}

extension LintedModel {
  /// The versions that lead to the current one, the oldest first: of a plan its own, else all before.
  /// None where the source's containers have different schemas.
  var sequence: [Version] {
    if form == .source, currentName == nil, stagedPlan == nil { return [] }
    guard let plan else { return Array(upToCurrent) }
    var all = plan.versions.compactMap { name in versions.first { $0.name == name } }
    if let current, !plan.isStaged, !all.contains(where: { $0.name == current.name }) {
      all.append(current)
    }
    return all
  }
}

/// A step from one version to another, with what can be determined of it without a store.
struct LintStep {
  let from: LintedModel.Version
  let to: LintedModel.Version
  /// The mapping that a document has for it.
  let written: MappingModel?
  /// The stage of the plan that carries it out.
  let stage: SourcePlan.Stage?
  /// Why a document that is for it cannot be used.
  let mistake: CoreDataError?
  /// Each change that keeps it from being inferred; none where a mapping is written.
  let refusals: [CoreDataError]
  /// What the step does: as written, or as far as it can be inferred.
  let mapping: MappingModel?
  let omissions: [Omission]
  /// What is asked for again and again.
  let facts: StepFacts
  /// The same step as it shipped.
  private let former: (omissions: Set<Omission>, refused: [CoreDataError], to: Model)?

  init(
    from: LintedModel.Version, to: LintedModel.Version, plan: SourcePlan?,
    documents: MappingDocuments, former: LintStep? = nil, isSame: Bool = false
  ) {
    self.from = from
    self.to = to
    stage = plan?.stage(from: from.name, to: to.name)
    var mistake: CoreDataError?
    do {
      written = try documents.mapping(
        from: from.model, to: to.model, names: (from.name, to.name))
    } catch {
      written = nil
      mistake = CoreDataError(error, or: .unreadable)
    }
    self.mistake = mistake
    guard from.hashes != to.hashes else {
      (refusals, mapping, omissions) = ([], nil, [])
      facts = StepFacts(from: from.model, to: to.model, mapping: nil)
      self.former = former != nil || isSame ? ([], [], former?.to.model ?? to.model) : nil
      return
    }
    let rest = written == nil ? MappingInference.remainder(from: from.model, to: to.model) : nil
    refusals = rest?.refusals ?? []
    let mapping = written ?? rest?.mapping
    self.mapping = mapping
    let destination = rest?.destination ?? to.model
    // What the app's code takes over before the step is not known; what is refused is not gone for
    // that.
    let all =
      stage?.runsBefore == true
      ? []
      : mapping.map { CarriedProperties($0, from: from.model, to: destination).omissions() } ?? []
    let isRefused = !refusals.isEmpty
    let facts = StepFacts(from: from.model, to: to.model, mapping: mapping)
    let omissions = all.filter { omission in
      (!isRefused || !Self.isClaimed(omission, from.model, to.model, facts))
        && !Self.isMovedDown(omission, from.model, mapping)
    }
    facts.setOmissions(omissions)
    self.omissions = omissions
    self.facts = facts
    self.former =
      isSame
      ? (Set(omissions), refusals, to.model)
      : former.map { (Set($0.omissions), $0.refusals, $0.to.model) }
  }

  /// Whether the entities below an abstract one declare what that declared: each has its values still.
  private static func isMovedDown(
    _ omission: Omission, _ from: Model, _ mapping: MappingModel?
  ) -> Bool {
    guard let property = omission.property, from.entity(named: omission.entity)?.isAbstract == true
    else { return false }
    let below = from.subtree(of: omission.entity).filter {
      from.entity(named: $0)?.isAbstract == false
    }
    return !below.isEmpty
      && below.allSatisfy { entity in
        mapping?.entityMappings.contains { taker in
          taker.source == entity
            && (taker.attributes.contains { $0.source == property }
              || taker.relationships.contains { $0.source == property })
        } == true
      }
  }

  /// Whether something of the version after claims to be it, whether or not that can be inferred.
  private static func isClaimed(
    _ omission: Omission, _ from: Model, _ to: Model, _ facts: StepFacts
  ) -> Bool {
    guard let now = facts.alignment.destinations[omission.entity] else { return false }
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

  /// What differs between the two; made when it is first asked for.
  var difference: ModelDifference { facts.difference }

  /// Whether the very step was there at the base: what its versions' hashes say is no news.
  var isShipped: Bool { former != nil }

  /// Whether something can go from one version to the other.
  var isPassable: Bool { from.hashes == to.hashes || written != nil || refusals.isEmpty }

  /// Whether code of the app's own runs before or after it, in a stage.
  var isCustomStage: Bool { stage?.isCustom == true }

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
    guard let former else { return refusals }
    let shipped = Set(former.refused.map { [$0.entity, $0.property] })
    return refusals.filter { !shipped.contains([$0.entity, $0.property]) }
  }

  /// The change of an entity or of one of its properties that a test picks.
  func change(
    of entity: String?, _ property: String?, _ test: (PropertyChange.Kind) -> Bool
  ) -> PropertyChange? {
    guard let entity, let property else { return nil }
    let holder = to.model.declaringEntity(of: property, in: entity) ?? entity
    return facts.difference(of: holder)?.changes.first {
      $0.property == property && test($0.kind)
    }
  }
}

/// A store that shipped, and which version of a model it is of.
struct LintStore {
  let path: String
  let store: Store

  /// Opens a store; nothing of it is changed.
  init(path: String, models: [LintedModel]) throws {
    self.path = path
    store = try Store(path: path) { metadata in
      models.lazy.compactMap { $0.version(making: metadata.versionHashes)?.model }.first
        ?? ModelBundle.version(besideStore: path, making: metadata.versionHashes)?.model
    }
  }

  var name: String { FileSystem.name(of: path) }
  var hashes: [String: VersionHash] { store.metadata.versionHashes }

  /// How much of a model the store is of: names count for something, hashes for more.
  func likeness(to model: LintedModel) -> Double {
    model.versions.map { version in
      let same = hashes.keys.count { version.hashes[$0] != nil }
      return Compatibility(storeHashes: hashes, model: version.model).likeness
        + Double(same) / Double(max(1, hashes.count + version.hashes.count))
    }.max() ?? 0
  }

  /// Whether, of several models, it is of this one.
  func isOf(_ model: LintedModel, among models: [LintedModel]) -> Bool {
    let best = models.max { likeness(to: $0) < likeness(to: $1) }
    return best?.path == model.path && likeness(to: model) > 0
  }

  /// The version that made it, whole or for one configuration.
  func version(of model: LintedModel) -> LintedModel.Version? {
    model.version(making: hashes)
      ?? model.versions.last {
        !$0.model.configurations(matching: hashes, of: $0.hashes).isEmpty
      }
  }
}

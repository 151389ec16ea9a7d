import ManagedModel
import Migration
import ModelWriting

extension LintRule {
  static let releasedVersionEdited = the("released-version-edited")
  static let versionDeleted = the("version-deleted")
  static let currentRolledBack = the("current-rolled-back")
  static let currentNotAdvanced = the("current-not-advanced")
  static let noPath = the("no-path")
  static let noPathFromOldest = the("no-path-from-oldest")
  static let duplicateChecksum = the("duplicate-checksum")
}

/// What became of the versions that shipped.
struct VersionChecks {
  typealias Version = LintedModel.Version

  let subject: LintSubject

  private var now: LintedModel { subject.now }
  /// What an app says that does not find a version of a store.
  private var notFound: LintRule.DeviceError? {
    (now.form == .source ? LintRule.liveTypeInFrozenSchema : .versionDeleted).device
  }

  func findings() -> [LintFinding] {
    gone() + current() + paths() + duplicates()
  }

  // MARK: Versions that shipped

  private func gone() -> [LintFinding] {
    // Without a plan, and without a name, a step is inferred from the model in the store.
    guard let base = subject.base, now.form != .source || now.stagedPlan != nil else { return [] }
    let left = subject.shipped.filter { now.version(making: $0.hashes) == nil }
    return left.flatMap { version -> [LintFinding] in
      if base.isUnversioned { return [unversioned(version)] }
      let same =
        now.versions.first { $0.name == version.name }
        ?? (now.form == .single && base.form == .single ? now.versions.first : nil)
      return same.map { edited(version, $0) } ?? [deleted(version)]
    }
  }

  private func edited(_ before: Version, _ version: Version) -> [LintFinding] {
    let difference = ModelDifference(from: before.model, to: version.model)
    return difference.entities.filter(\.isHashMoved).flatMap { entity -> [LintFinding] in
      var changes = entity.changes.filter(\.movesHash)
      let own = changes.filter {
        if case .inherited = $0.kind { false } else { true }
      }
      // An entity that moved with its parent is reported with it.
      if own.isEmpty, !changes.isEmpty { return [] }
      changes = own
      let isThere = entity.destination != nil
      func finding(_ property: String?, _ what: String) -> LintFinding {
        LintFinding(
          .releasedVersionEdited, at: version.place(of: isThere ? entity.name : nil, property),
          version: version.name, entity: entity.name, property: property,
          "“\(version.name)” has shipped and was edited since \(subject.baseName ?? "the base"): \(what).",
          device: notFound)
      }
      guard !changes.isEmpty else {
        return [finding(nil, "the version hash of \(entity.name) changed")]
      }
      return changes.map { finding($0.property, $0.description) }
    }
  }

  private func deleted(_ version: Version) -> LintFinding {
    LintFinding(
      .versionDeleted, at: now.currentPlace, version: version.name,
      "“\(version.name)” shipped at \(subject.baseName ?? "the base"), and no version has its hashes any more.",
      device: notFound)
  }

  /// Classes that shipped without a version, and are none of those in the plan.
  private func unversioned(_ version: Version) -> LintFinding {
    let nearest = now.versions.nearest(to: version.hashes)
    let difference = nearest.map { ModelDifference(from: version.model, to: $0.model) }
    let first = difference?.entities.first(where: \.isHashMoved)
    let change = first?.changes.first(where: \.movesHash)
    let what = nearest.map { nearest in
      " The nearest is “\(nearest.name)”"
        + (change.map { ": \(first?.name ?? ""): \($0.description)." } ?? ".")
    }
    return LintFinding(
      .versionDeleted,
      at: nearest?.place(of: first?.destination?.name, change?.property) ?? now.currentPlace,
      version: nearest?.name, entity: first?.name, property: change?.property,
      "The classes that shipped without a version match no version of the plan." + (what ?? ""),
      device: LintRule.liveTypeInFrozenSchema.device,
      advice:
        "Begin the plan with a VersionedSchema that matches exactly what shipped, with every property and inverse."
    )
  }

  // MARK: The current version

  private func current() -> [LintFinding] {
    guard let base = subject.base, let before = base.current, let current = now.current,
      !base.isUnversioned, !now.isUnversioned
    else { return [] }
    if current.hashes != before.hashes, isOlder(current, than: before, base) {
      return [
        LintFinding(
          .currentRolledBack, at: now.currentPlace, version: current.name,
          "“\(current.name)” is current; at \(subject.baseName ?? "the base") it was “\(before.name)”.",
          device: now.form == .source ? .none : LintRule.noPath.device)
      ]
    }
    guard current.hashes == before.hashes || current.name == before.name else { return [] }
    let order = now.versions.map(\.name)
    let place = order.firstIndex(of: current.name) ?? 0
    return now.versions.enumerated().filter { index, version in
      let isNew =
        base.version(making: version.hashes) == nil
        && !base.versions.contains { $0.name == version.name }
      let isBeyond = now.plan.map { !$0.versions.contains(version.name) } ?? (index > place)
      return isNew && isBeyond
    }.map { _, version in
      LintFinding(
        .currentNotAdvanced, at: now.form == .source ? version.place() : now.currentPlace,
        version: version.name,
        "“\(version.name)” was added, and “\(current.name)” is still the current version.")
    }
  }

  /// What the base does not have is newer, whatever it is called.
  private func isOlder(_ one: Version, than other: Version, _ base: LintedModel) -> Bool {
    guard base.version(making: one.hashes) != nil else { return false }
    func place(_ version: Version, in model: LintedModel) -> Int? {
      let versions = model.plan == nil ? model.versions : model.sequence
      return versions.firstIndex { $0.name == version.name }
        ?? versions.firstIndex { $0.hashes == version.hashes }
    }
    for model in [now, base] {
      if let first = place(one, in: model), let second = place(other, in: model) {
        return first < second
      }
    }
    return false
  }

  // MARK: Ways

  private func paths() -> [LintFinding] {
    guard let current = now.current else { return [] }
    var failures: [[(version: Version, reason: CoreDataError)]] = []
    let shipped = subject.shipped.compactMap { now.version(making: $0.hashes) }
    let order = Dictionary(
      now.sequence.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    for version in shipped where version.hashes != current.hashes {
      guard let start = now.sequence.firstIndex(where: { $0.hashes == version.hashes }) else {
        continue
      }
      let way = subject.steps.filter { order[$0.from.name].map { $0 >= start } ?? false }
      // Where all neighbours lead to the next, there is a way; that a step of its own does not is
      // reported for the step.
      guard let gap = way.first(where: { !$0.isPassable }) else { continue }
      if gap.from.hashes == version.hashes, !gap.newRefusals.isEmpty,
        subject.newSteps.contains(where: { $0.from.name == gap.from.name })
      {
        continue
      }
      guard let reason = refusal(from: version, to: current) else { continue }
      if let index = failures.firstIndex(where: { $0.first?.reason.hint == reason.hint }) {
        failures[index].append((version, reason))
      } else {
        failures.append([(version, reason)])
      }
    }
    let oldest = shipped.count > 1 ? shipped.first : nil
    return failures.flatMap { failure -> [LintFinding] in
      // The reason names the version that it is about.
      func finding(
        _ rule: LintRule, _ failed: [(version: Version, reason: CoreDataError)]
      ) -> [LintFinding] {
        guard let reason = failed.first?.reason else { return [] }
        let names = failed.map { "“\($0.version.name)”" }.joined(separator: ", ")
        return [
          LintFinding(
            rule, at: current.place(of: reason.entity, reason.property),
            version: failed.last?.version.name, entity: reason.entity, property: reason.property,
            "From \(names): \(reason.message).", advice: reason.advice)
        ]
      }
      return finding(.noPathFromOldest, failure.filter { $0.version.name == oldest?.name })
        + finding(.noPath, failure.filter { $0.version.name != oldest?.name })
    }
  }

  /// Why nothing leads from one version to another.
  private func refusal(from version: Version, to current: Version) -> CoreDataError? {
    if now.form == .source {
      // Stages are gone through one by one.
      return subject.steps.first { !$0.isPassable }?.refusals.first
    }
    do {
      _ = try MigrationPath.find(
        from: version.model, to: current.model, names: (version.name, current.name),
        through: ModelVersions(
          now.sequence.map { .init(name: $0.name, model: $0.model) }, path: now.path),
        custom: { try subject.documents.mapping(from: $0, to: $1, names: $2) })
      return nil
    } catch {
      return CoreDataError(error, or: .refused)
    }
  }

  /// Versions with equal hashes: of a plan with stages each is an error; elsewhere nothing uses
  /// checksums, and a group of them is one warning.
  private func duplicates() -> [LintFinding] {
    let versions = now.plan == nil ? now.versions : now.sequence
    var groups: [(hashes: [String: VersionHash], versions: [Version])] = []
    for version in versions {
      if let index = groups.firstIndex(where: { $0.hashes == version.hashes }) {
        groups[index].versions.append(version)
      } else {
        groups.append((version.hashes, [version]))
      }
    }
    return groups.filter { $0.versions.count > 1 }.flatMap { group -> [LintFinding] in
      let checksum = Model.versionChecksum(of: group.hashes)
      func finding(_ names: [Version], at version: Version, isStaged: Bool) -> LintFinding {
        let list = names.map { "“\($0.name)”" }.joined(separator: ", ")
        return LintFinding(
          .duplicateChecksum, at: version.place(), version: version.name,
          "\(list) have the same hashes (checksum \(checksum)).",
          severity: isStaged ? .error : nil,
          consequence: isStaged
            ? nil : "A store of one is a store of the others. Nothing else happens.",
          device: isStaged ? .none : .some(nil))
      }
      if now.stagedPlan != nil {
        return group.versions.dropFirst().map {
          finding([$0, group.versions[0]], at: $0, isStaged: true)
        }
      }
      let wasThere = group.versions.allSatisfy { one in
        subject.base?.versions.contains { $0.name == one.name && $0.hashes == one.hashes } ?? false
      }
      guard !wasThere, let last = group.versions.last else { return [] }
      return [finding(group.versions, at: last, isStaged: false)]
    }
  }
}

extension [LintedModel.Version] {
  /// The version with the most hashes that are among these.
  func nearest(to hashes: [String: VersionHash]) -> Element? {
    let ranked = map { version -> (version: Element, likeness: Double) in
      (version, Compatibility(storeHashes: hashes, model: version.model).likeness)
    }
    // Of several that are as near, the one with the most names in common.
    return ranked.max { one, other in
      if one.likeness != other.likeness { return one.likeness < other.likeness }
      func names(_ version: Element) -> Int { version.hashes.keys.count { hashes[$0] != nil } }
      return names(one.version) < names(other.version)
    }?.version
  }
}

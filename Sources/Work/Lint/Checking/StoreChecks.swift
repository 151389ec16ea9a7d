import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import ModelWriting

extension LintRule {
  static let storeRefused = the("store-refused")
  static let unproven = the("swiftdata-unproven")
}

/// What the rows of a store that shipped make of the steps before it.
struct StoreChecks {
  typealias Version = LintedModel.Version

  let subject: LintSubject
  let store: LintStore
  /// Stores of other versions: the same values in both show a rename.
  let others: [LintStore]

  private var now: LintedModel { subject.now }

  /// - Returns: what was found, and sentences on what could not be looked at.
  func findings() throws -> (findings: [LintFinding], notes: [String]) {
    guard let current = now.current else { return ([], []) }
    var known = now
    // Stages are found by the versions of the plan alone.
    if now.stagedPlan != nil { known.versions = now.sequence }
    let version = store.version(of: known)
    var found = version == nil ? unproven() : []
    guard version?.hashes != current.hashes else { return (found, []) }
    // Nothing is inferred from its model then.
    if version == nil, now.stagedPlan != nil { return (found, []) }
    let start: Version
    if let version {
      start = version
    } else {
      // What the store says of itself is where a step would begin.
      guard store.store.modelSource == .store, store.store.modelMatches else {
        return (found, ["\(store.path): its model is not known, so its rows were not checked."])
      }
      start = Version(
        name: store.name, model: store.store.wholeModel, hashes: store.hashes, file: store.path)
    }
    let steps = way(from: start, to: current)
    do {
      found += try additions(in: steps)
      if let stop = steps.firstIndex(where: \.isOpaque) {
        // What the app's code makes of the rows is not known; the step between its handlers is a
        // lightweight one.
        let runsBefore = steps[stop].stage?.runsBefore != false
        let known = steps[...stop].allSatisfy(\.isPassable) && steps[stop].isCustomStage
        if known {
          let all = try planned(Array(steps[...stop]))
          found += runsBefore ? all.filter { $0.rule == .mandatoryWithoutDefault } : all
        } else if stop > 0, steps[..<stop].allSatisfy(\.isPassable) {
          found += try planned(Array(steps[..<stop]))
        }
        let (from, to) = (steps[stop].from.name, steps[stop].to.name)
        return (
          found,
          [
            "\(store.path): the app's own code runs from “\(from)” to “\(to)”: what it does to rows is not seen."
          ]
        )
      }
      if steps.allSatisfy(\.isPassable) {
        found += try planned(steps)
      } else {
        if version == nil {
          found += steps.flatMap { StepChecks(step: $0, looksAtRows: true).findings() }
        }
        found += try touched(from: start, to: current)
      }
    } catch let error as CoreDataError where error.kind == .refused || error.kind == .usage {
      return (
        found, ["\(store.path): its rows were not checked: \(error.message)."]
      )
    }
    return (found, [])
  }

  /// The steps that a store of a version has before it.
  private func way(from start: Version, to current: Version) -> [LintStep] {
    let sequence = now.sequence
    if let index = sequence.lastIndex(where: { $0.hashes == start.hashes }) {
      let hashes = sequence[index...].map(\.hashes)
      let steps = subject.steps.filter {
        hashes.contains($0.from.hashes) && hashes.contains($0.to.hashes)
      }
      if !steps.isEmpty { return steps }
    }
    return [
      LintStep(
        from: start, to: current, plan: now.plan, documents: subject.documents)
    ]
  }

  // MARK: Its version

  /// The store matches no version that is there.
  private func unproven() -> [LintFinding] {
    let nearest = (now.stagedPlan == nil ? now.versions : now.sequence).nearest(to: store.hashes)
    // SwiftData infers a step from the store's own model where no plan says otherwise.
    let isInferred = now.form == .source && now.stagedPlan == nil
    func finding(_ entity: String?, _ property: String?, _ what: String) -> LintFinding {
      LintFinding(
        now.form == .source ? .unproven : .noPath,
        at: nearest?.place(of: entity, property) ?? now.currentPlace,
        version: nearest?.name, entity: entity, property: property,
        "\(store.name) matches no version of \(now.path). \(what)",
        severity: isInferred ? .warning : nil,
        consequence: isInferred
          ? "No migration plan has the store's version: SwiftData infers a step from the model in it, if it can."
          : nil,
        device: now.form != .source
          ? LintRule.versionDeleted.device : isInferred ? .some(nil) : .none)
    }
    guard let nearest else { return [finding(nil, nil, "None has an entity in common with it.")] }
    let fit = Compatibility(storeHashes: store.hashes, model: nearest.model)
    let text =
      "The nearest is “\(nearest.name)” (\(fit.matching.count) of \(fit.matching.count + fit.differing.count + fit.missingInStore.count + fit.missingInModel.count) entities fit)"
    guard store.store.modelSource == .store, store.store.modelMatches else {
      let names = (fit.differing + fit.missingInModel + fit.missingInStore).sorted()
      return [finding(nil, nil, text + "; these differ: \(names.joined(separator: ", ")).")]
    }
    let difference = ModelDifference(from: store.store.wholeModel, to: nearest.model)
    let changes = difference.entities.filter(\.isHashMoved).flatMap { entity in
      entity.changes.filter(\.movesHash).map { (entity, $0) }
    }
    guard !changes.isEmpty else { return [finding(nil, nil, text + ".")] }
    return changes.prefix(isInferred ? 1 : 20).map { entity, change in
      finding(
        entity.destination == nil ? nil : entity.name, change.property,
        text + "; what differs: \(entity.name): \(change.description).")
    }
  }

  // MARK: Its rows

  /// What planning finds where every step can be taken.
  private func planned(_ steps: [LintStep]) throws -> [LintFinding] {
    guard let first = steps.first, let last = steps.last else { return [] }
    let migration = steps.map { step in
      MigrationStep(
        from: step.from.name, to: step.to.name, source: step.from.model,
        destination: step.to.model,
        mapping: step.mapping ?? MappingModel(kind: .none, entityMappings: []))
    }
    let plan = try StoreMigration.plan(
      store.store,
      MigrationRequest(
        steps: migration,
        to: ModelReference.Loaded(model: last.to.model, name: last.to.name, path: now.path)))
    return plan.losses.filter { !$0.isIntended && !$0.isOfFile }.flatMap { dropped($0, steps) }
      + plan.failures.compactMap { broken($0, first.from, last.to) }
  }

  /// What each change touches where some step cannot be taken.
  private func touched(from start: Version, to current: Version) throws -> [LintFinding] {
    try StoreMigration.impacts(on: store.store, from: start.model, to: current.model)
      .compactMap { impact in
        let attribute = impact.property.map {
          start.model.storedAttribute(named: $0, of: impact.entity) != nil
        }
        switch impact.severity {
        case .harmless: return nil
        case .loss:
          guard impact.code == nil else { return nil }
          let rule: LintRule =
            impact.misfit != nil
            ? .typeChanged
            : attribute.map { $0 ? .attributeDropped : .relationshipDropped } ?? .entityDropped
          return LintFinding(
            rule, at: current.place(of: impact.entity, impact.property), version: current.name,
            entity: impact.entity, property: impact.property,
            "\(place(impact.entity, impact.property)): \(impact.rows) of \(store.name) \(impact.message).",
            advice: impact.hint.map { "\($0)" }, rows: impact.rows)
        case .failure:
          guard impact.code != .inferredMappingModel else { return nil }
          return broken(
            impact.entity, impact.property, impact.code, impact.message, impact.rows,
            impact.hint.map { "\($0)" }, start, current)
        }
      }
  }

  private func place(_ entity: String, _ property: String?) -> String {
    property.map { "\(entity).\($0)" } ?? entity
  }

  /// A rule of the new version that rows break.
  private func broken(_ check: DataCheck, _ start: Version, _ current: Version) -> LintFinding? {
    broken(
      check.entity, check.property, check.code, check.message, check.rows,
      check.advice ?? "\(check.hint)", start, current)
  }

  private func broken(
    _ entity: String, _ property: String?, _ code: CoreDataError.Code?, _ message: String,
    _ rows: Int, _ advice: Advice?, _ start: Version, _ current: Version
  ) -> LintFinding? {
    let change = change(of: entity, property, start, current)
    let rule: LintRule
    switch (code, change) {
    case (.migrationConstraintViolation?, _): rule = .uniqueAdded
    case (_, .added?): rule = .mandatoryWithoutDefault
    case (_, .optional?): rule = .becameMandatory
    case (_, .type?): rule = .typeChanged
    default: rule = .storeRefused
    }
    if rule == .mandatoryWithoutDefault, let property, current.computesDefault(of: property, entity)
    {
      return nil
    }
    let first = property?.split(separator: ",").first.map(String.init)
    return LintFinding(
      rule, at: current.place(of: entity, first), version: current.name, entity: entity,
      property: property,
      "\(place(entity, property)): \(message), in \(NumberText.counted(rows, "row")) of \(store.name).",
      severity: .error,
      device: rule == .mandatoryWithoutDefault
        && property.flatMap { current.model.relationship(named: $0, of: entity) } != nil
        ? .missingLinks : .none, advice: advice, rows: rows)
  }

  /// What SwiftData makes of attributes that steps add to entities of which the store has objects.
  private func additions(in steps: [LintStep]) throws -> [LintFinding] {
    let counts = try store.store.counts()
    return steps.enumerated().flatMap { index, step in
      StepChecks(step: step, looksAtRows: true).additions().compactMap { finding in
        // Back to what the store calls the entity.
        let former = steps[...index].reversed().reduce(finding.entity) { name, step in
          name.flatMap { step.mapping?.mapping(toDestination: $0)?.source }
        }
        guard let former else { return nil }
        let rows = steps[0].from.model.subtree(of: former).reduce(0) { $0 + (counts[$1] ?? 0) }
        guard rows > 0 else { return nil }
        var finding = finding
        finding.rows = rows
        return finding
      }
    }
  }

  private func change(
    of entity: String, _ property: String?, _ start: Version, _ current: Version
  ) -> PropertyChange.Kind? {
    guard let property else { return nil }
    let holder = current.model.declaringEntity(of: property, in: entity) ?? entity
    let changes =
      ModelDifference(from: start.model, to: current.model).entity(named: holder)?.changes ?? []
    return changes.filter { $0.property == property }.map(\.kind).first { kind in
      switch kind {
      case .added, .optional(false), .type: true
      default: false
      }
    }
  }

  /// What is lost, reported for the step in which it is lost.
  private func dropped(_ loss: Loss, _ steps: [LintStep]) -> [LintFinding] {
    var (entity, property) = (loss.entity, loss.property)
    for step in steps {
      let omission = step.omissions.first { $0.entity == entity && $0.property == property }
      if let omission {
        // What shipped as it is, is no news.
        guard step.newOmissions.contains(omission) else { return [] }
        return StepDrop(step: step, omission: omission, store: store, others: others)
          .findings(loss)
      }
      guard let taker = step.mapping?.mapping(fromSource: entity), let next = taker.destination
      else { break }
      if let name = property {
        property =
          taker.attributes.first { $0.source == name }?.name
          ?? taker.relationships.first { $0.source == name }?.name ?? name
      }
      entity = next
    }
    guard let last = steps.last else { return [] }
    if let misfit = loss.misfit {
      return [
        LintFinding(
          .typeChanged, at: last.to.place(of: entity, property), version: last.to.name,
          entity: entity, property: property,
          "\(loss.name): \(store.name) has \(NumberText.counted(loss.values, "value")) \(misfit.clause).",
          advice: loss.suggestion.map { "\($0)" }, rows: loss.values)
      ]
    }
    let rule: LintRule =
      loss.property == nil
      ? .entityDropped
      : steps[0].from.model.relationship(named: loss.property ?? "", of: loss.entity) == nil
        ? .attributeDropped : .relationshipDropped
    return [
      LintFinding(
        rule, at: last.to.place(of: loss.entity), version: last.to.name, entity: loss.entity,
        property: loss.property,
        "\(loss.name): \(loss.values) \(loss.noun) of \(store.name) go.",
        advice: loss.suggestion.map { "\($0)" },
        rows: loss.values)
    ]
  }
}

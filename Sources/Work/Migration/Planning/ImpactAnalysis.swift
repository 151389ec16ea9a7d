import ManagedStore
import Mapping
import ModelWriting

/// Counts what the changes between two versions touch in a store, change by change.
struct ImpactAnalysis {
  let data: SourceData
  let source: Model
  let destination: Model

  func impacts() throws -> [ChangeImpact] {
    let rest = MappingInference.remainder(from: source, to: destination)
    guard let mapping = rest.mapping?.evaluatingDefaults(from: source, to: rest.destination),
      mapping.kind != .none
    else { return [] }
    let difference = ModelDifference(from: source, to: destination)
    var impacts: [ChangeImpact] = []
    var met: [Rule: Int] = [:]
    /// Subentities meet the same rule one by one.
    func add(_ impact: ChangeImpact, asked: [String]) {
      let rule = Rule(
        entity: impact.entity, property: impact.property, code: impact.code,
        severity: impact.severity, asked: asked)
      guard let index = met[rule] else {
        met[rule] = impacts.count
        return impacts.append(impact)
      }
      impacts[index].rows += impact.rows
      impacts[index].samples = Array((impacts[index].samples + impact.samples).prefix(5))
      impacts[index].objects = Array((impacts[index].objects + impact.objects).prefix(5))
    }
    let analysis = try StepAnalysis(
      MigrationStep(
        from: "", to: "", source: source, destination: rest.destination, mapping: mapping),
      of: data.store)
    let refused = RefusedChanges(rest.refusals, from: source, to: destination, difference)
    for loss in try analysis.losses() {
      add(impact(of: loss, refused, difference), asked: [])
    }
    for check in try analysis.checks() {
      add(impact(of: check), asked: check.asked)
    }
    for refusal in rest.refusals { try addUnreadable(refusal, to: &impacts) }
    for entity in difference.changed { try addHarmless(entity, to: &impacts) }
    return impacts
  }

  /// What distinguishes one impact from another.
  private struct Rule: Hashable {
    var entity: String
    var property: String?
    var code: CoreDataError.Code?
    var severity: ChangeImpact.Severity
    var asked: [String]
  }

  private func impact(
    of loss: Loss, _ refused: RefusedChanges, _ difference: ModelDifference
  ) -> ChangeImpact {
    let entity = difference.entities.first { $0.source?.name == loss.entity }
    let name = entity?.name ?? loss.entity
    guard let former = loss.property else {
      return ChangeImpact(
        entity: name, rows: loss.values, message: "would be lost with the entity",
        samples: loss.samples, severity: .loss, hint: loss.suggestion)
    }
    let property = entity?.counterpart(of: former)
    let isRefused = refused.contains(loss)
    return ChangeImpact(
      entity: name, property: property ?? former, rows: loss.values,
      message: isRefused
        ? "only a recipe or a mapping model would keep"
        : loss.misfit.map { "would be read truncated: \($0.clause)" } ?? "would be lost",
      samples: loss.samples, severity: isRefused ? .failure : .loss,
      code: isRefused ? .inferredMappingModel : nil, misfit: loss.misfit,
      hint: isRefused ? nil : loss.suggestion,
      predicate: loss.predicate(in: source))
  }

  private func impact(of check: DataCheck) -> ChangeImpact {
    // A constraint is a change of its entity.
    let isConstraint = check.code == .migrationConstraintViolation
    let holder =
      isConstraint
      ? check.entity
      : check.property.flatMap { destination.declaringEntity(of: $0, in: check.entity) }
        ?? check.entity
    return ChangeImpact(
      entity: holder, property: isConstraint ? nil : check.property, rows: check.rows,
      message: isConstraint
        ? check.message + " (\(check.property ?? ""))" : "have " + check.message,
      samples: check.first.map(\.description), objects: check.first,
      severity: check.isWarning ? .loss : .failure, code: check.code, hint: check.hint,
      predicate: check.predicate)
  }

  private static func text(_ value: AttributeValue, of attribute: Attribute) -> String {
    guard attribute.type == .boolean else { return value.literal }
    return value == .boolean(true) || value == .integer(1) ? "true" : "false"
  }

  /// Renamed and new attributes of objects that go on.
  private func addHarmless(_ entity: EntityDifference, to impacts: inout [ChangeImpact]) throws {
    guard let old = entity.source else { return }
    let objects = source.subtree(of: old.name)
    for change in entity.changes {
      guard let name = change.property,
        !impacts.contains(where: { $0.entity == entity.name && $0.property == name }),
        let attribute = entity.destination?.storedAttribute(named: name)
          ?? entity.destination?.attribute(named: name), attribute.isStored
      else { continue }
      switch change.kind {
      case .added where !attribute.isDerived:
        let rows = try objects.reduce(0) { try $0 + data.count($1, where: []) }
        guard rows > 0 else { continue }
        let value = attribute.defaultValue.map { Self.text($0, of: attribute) } ?? "NULL"
        let evaluated = attribute.evaluatedDefault.flatMap { $0.kind == .unknown ? nil : $0 }
        impacts.append(
          ChangeImpact(
            entity: entity.name, property: name, rows: rows,
            message: evaluated.map { "get the same value of \($0.expression)" }
              ?? "get the value \(value)"))
      case .renamed(let former):
        let rows = try objects.reduce(0) { sum, object in
          guard let column = data.column(of: former, in: object) else { return sum }
          return try sum + data.count(object, where: ["\(column) IS NOT NULL"])
        }
        guard rows > 0 else { continue }
        impacts.append(
          ChangeImpact(
            entity: entity.name, property: name, rows: rows,
            message: "keep their value under the new name"))
      default: continue
      }
    }
  }

  /// Texts that a number or a truth value could not be made of.
  private func addUnreadable(_ refusal: CoreDataError, to impacts: inout [ChangeImpact]) throws {
    guard let entity = refusal.entity, let property = refusal.property,
      let new = destination.storedAttribute(named: property, of: entity),
      let from = destination.entityAlignment(from: source).sources[entity],
      let old = source.storedAttributes(of: from).first(where: {
        $0.canonicalName == new.canonicalName || $0.name == new.canonicalName
      }), old.type == .string
    else { return }
    let column = data.column(of: old.name, in: from)
    let condition: String
    switch new.type {
    case .integer16, .integer32, .integer64, .date:
      condition = "json_type(trim(\(column ?? ""))) <> 'integer'"
    case .double, .float, .decimal:
      condition = "json_type(trim(\(column ?? ""))) NOT IN ('integer', 'real')"
    case .boolean: condition = "lower(trim(\(column ?? ""))) NOT IN ('0', '1', 'true', 'false')"
    default: return
    }
    guard let column else { return }
    let isUnreadable =
      new.type == .boolean
      ? condition : "CASE WHEN json_valid(trim(\(column))) THEN \(condition) ELSE 1 END"
    let found = try data.found(from, where: ["\(column) IS NOT NULL", isUnreadable])
    guard let found, found.count > 0 else { return }
    impacts.append(
      ChangeImpact(
        entity: destination.declaringEntity(of: property, in: entity) ?? entity,
        property: property, rows: found.count, message: "hold text that is not \(new.type.name)",
        samples: found.first.map(\.description), objects: found.first, severity: .loss))
  }
}

/// What one change of a model means for the rows of one store.
public struct ChangeImpact: Sendable, Equatable {
  /// How much it matters.
  public enum Severity: Sendable {
    /// Values are kept, or given.
    case harmless
    /// Values or objects would go, or a rule is broken that only a save looks at.
    case loss
    /// The migration would be refused.
    case failure
  }

  /// Name of the entity, as ``ModelDifference`` has it.
  public var entity: String
  /// Name of the property, the destination's where both versions have it; `nil` for the entity.
  public var property: String?
  /// Rows, values or links that it touches; never 0.
  public var rows: Int
  /// What happens to them, as a clause that follows their number.
  public var message: String
  /// The first of them: objects, or values.
  public var samples: [String] = []
  /// The objects among the first, for going there.
  public var objects: [ObjectID] = []
  /// How much it matters.
  public var severity = Severity.harmless
  /// Core Data's code, where the migration would be refused with one.
  public var code: CoreDataError.Code?
  /// What of numbers does not fit the new type, where that is what the rows lose.
  public var misfit: NumberMisfit?
  /// What to do about it, as a sentence.
  public var hint: String?
  /// NSPredicate text that takes exactly those objects among those of the source's entity; `nil`
  /// where none is known.
  public var predicate: String?
}

extension StoreMigration {
  /// Counts what each change between two versions touches in a store; writes nothing.
  ///
  /// Unlike a plan it can be had of versions between which no mapping can be inferred: a change
  /// that stands in the way counts as if the property were another one.
  ///
  /// - Parameter source: the version that made the store; the store's own model where `nil`.
  /// - Throws: ``CoreDataError`` 134130 where the store was opened with a model that did not make it.
  public static func impacts(
    on store: Store, from source: Model? = nil, to destination: Model
  ) throws -> [ChangeImpact] {
    try refuseUnknownModel(of: store)
    return try ImpactAnalysis(
      data: SourceData(store: store),
      source: store.part.model(
        source.flatMap { store.isMade(by: $0) ? $0 : nil } ?? store.wholeModel),
      destination: store.part.model(destination)
    ).impacts()
  }
}

import ManagedModel
import ManagedStore
import Migration

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
      "\(name) of “\(step.from.name)” is not in “\(step.to.name)”, and nothing takes its \(what) over.\(more)",
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

import ManagedModel
import ManagedStore
import Migration

extension MigrationPlan {
  /// Looks at the names of losses that `--allow-loss` allowed: one that nothing is called by was mistyped.
  ///
  /// - Parameters:
  ///   - allowances: the names, with where they were given.
  ///   - others: further versions of the model whose names are no mistake, such as those that other
  ///     stores of one run are of.
  /// - Returns: of those that allow nothing here, why, as sentences.
  /// - Throws: ``CoreDataError`` of kind usage for a name that no version has, with the nearest.
  func unusedAllowances(
    _ allowances: Allowances, knownTo others: [Model] = []
  ) throws -> [String] {
    var models = steps.map(\.source) + steps.suffix(1).map(\.destination)
    if let wholeDestination { models.append(wholeDestination) }
    let used = Set(losses.flatMap { [$0.name, $0.entity] })
    return try allowances.names.subtracting(used).sorted().map { name in
      let label = allowances.label(of: name)
      try Self.requireKnown(name, label, in: models + others)
      return "\(label) allows nothing: nothing of it would be lost"
        + (inheritor(of: name).map { "; what would be is called \($0)" } ?? "")
    }
  }

  /// The loss that was meant by naming a property of an entity that inherits it.
  private func inheritor(of name: String) -> String? {
    let (entity, property) = Self.parts(of: name)
    guard let property else { return nil }
    return losses.first { loss in
      loss.property == property
        && steps.contains { $0.source.lineage(of: entity).contains { $0.name == loss.entity } }
    }?.name
  }

  private static func parts(of name: String) -> (entity: String, property: String?) {
    guard let dot = name.firstIndex(of: ".") else { return (name, nil) }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }

  private static func requireKnown(
    _ name: String, _ label: String, in models: [Model]
  ) throws {
    if name == Loss.logName || name == Loss.journalName { return }
    let (entity, property) = parts(of: name)
    let holders = models.filter { $0.entity(named: entity) != nil }
    guard !holders.isEmpty else {
      throw CoreDataError(
        .usage, "\(label): no version of the model has an entity “\(entity)”",
        hint: Nearest.question(entity, in: models.flatMap { $0.entities.map(\.name) }) { near in
          property.map { "\(near).\($0)" } ?? near
        } ?? "Name what the plan says is lost: strata plan lists it.")
    }
    // A column that no model knows is named as the store does: `Entity.ZCOLUMN`.
    guard let property, !property.hasPrefix("Z") || property != property.uppercased() else {
      return
    }
    let names = holders.flatMap { $0.names(of: .property, in: entity) }
    // An element of a composite attribute is named behind it.
    let first = String(property.prefix { $0 != "." })
    guard !names.contains(property), !names.contains(first) else { return }
    throw CoreDataError(
      .usage, "\(label): \(entity) has no property “\(property)” in any version",
      hint: Nearest.question(property, in: names) { "\(entity).\($0)" }
        ?? "Name what the plan says is lost: strata plan lists it.")
  }
}

import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  func checks() throws -> [DataCheck] {
    var checks: [DataCheck] = []
    for row in mapped.rows {
      checks += try step.mapping.evaluating(row, schemas.destination, on: connection) {
        // What is computed is computed here, whether or not a rule asks for it.
        if let evaluation = row.evaluation { _ = try connection.value(evaluation) }
        return try (valueRules(row) + typeRules(row) + compositeRules(row)).broken(
          in: "(\(row.selectAll)) e", key: "e.Z_PK", on: connection
        ).map { $0.rule.check($0.rows) }
      }
    }
    checks += try emptinessChecks() + unledChecks() + abstractChecks()
    for entityMapping in step.mapping.entityMappings where !mapped.isPolicy(entityMapping) {
      checks += try danglingChecks(entityMapping)
    }
    checks += try data.brokenJoins(
      of: step.mapping, hint: "They are no links, and are left out.")
    let constraints = ConstraintCheck(
      schema: schemas.destination, rows: mapped.rows, connection: connection)
    for entity in step.destination.entities {
      for constraint in entity.uniquenessConstraints {
        checks += try constraints.check(constraint, of: entity.name, isNew: false)
      }
    }
    return checks
  }

  /// To-ones that are taken over as they are, and lead to objects that are not there.
  private func danglingChecks(_ entityMapping: EntityMapping) throws -> [DataCheck] {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return [] }
    return try entityMapping.relationships.flatMap { mapping -> [DataCheck] in
      guard let name = mapping.source, mapping.condition == nil,
        let before = step.source.relationship(named: name, of: from), !before.isToMany,
        let gone = data.leadsNowhere(name, of: from),
        let found = try data.found(from, where: [gone]), found.count > 0
      else { return [] }
      return [DestinationRule.dangling(mapping.name, of: to, where: gone).check(found)]
    }
  }

  /// Objects of entities that turned abstract, which nothing takes.
  private func abstractChecks() throws -> [DataCheck] {
    try step.mapping.entityMappings.flatMap { entityMapping -> [DataCheck] in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        step.destination.entity(named: to)?.isAbstract == true,
        let found = try data.found(from, where: []), found.count > 0
      else { return [] }
      return [DestinationRule.concrete(to).check(found)]
    }
  }

  /// Mandatory values that the mapping would leave out.
  private func valueRules(_ row: DestinationRows) -> [DestinationRule] {
    guard let table = schemas.destination.table(of: row.entity) else { return [] }
    let given = Set(row.columns.map(\.name))
    return table.columns.filter { !row.later.contains($0.name) }.compactMap { column in
      let missing = given.contains(column.name) ? ["e.\(quoted(column.name)) IS NULL"] : []
      switch column.content {
      case .attribute(let declarer, let name)
      where step.destination.isKind(row.entity, of: declarer) && !wasBroken(name, row):
        let attribute = step.destination.storedAttribute(named: name, of: row.entity)
        guard attribute?.isOptional == false, attribute?.isDerived == false else { return nil }
        return .value(
          of: name, in: row.entity, missing: missing,
          hint:
            "Compute a value with coalesce(…, …), give the attribute a default, or make it optional."
        )
      case .toOne(let declarer, let name)
      where step.destination.isKind(row.entity, of: declarer) && !wasBroken(name, row):
        let relationship = step.destination.relationship(named: name, of: row.entity)
        guard relationship?.isOptional == false else { return nil }
        return .object(in: name, of: row.entity, missing: missing)
      default: return nil
      }
    }
  }

  /// Whether the source's own counterpart is mandatory and broken already: told, but not refused.
  private func wasBroken(_ property: String, _ row: DestinationRows) -> Bool {
    guard let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source,
      let source = entityMapping.attribute(named: property)?.source
    else { return false }
    return step.source.storedAttribute(named: source, of: from)?.isOptional == false
  }

  /// Mandatory composite attributes that a mapping would leave without a value.
  private func compositeRules(_ row: DestinationRows) -> [DestinationRule] {
    guard let table = schemas.destination.entityTable(of: row.entity) else { return [] }
    let given = Set(row.columns.map(\.name))
    return step.destination.mandatoryComposites(of: row.entity).map { composite in
      let isMissing = composite.isMissing { name in
        table.column(of: name).flatMap { given.contains($0) ? "e.\(quoted($0))" : nil }
      }
      return .composite(composite, of: row.entity, missing: [isMissing])
    }
  }
}

import ManagedModel
import ManagedStore
import SQLite

extension MigrationStep {
  /// Whether every object is validated in the end, also one that nothing changed: NSMigrationManager does
  /// so with a mapping model, and fails on the first that breaks a rule of the destination.
  var validatesAll: Bool { mapping.kind == .mapping }
}

extension MappedAnalysis {
  func checks() throws -> [DataCheck] {
    var checks: [DataCheck] = []
    for row in mapped.rows {
      checks += try step.mapping.evaluating(row, schemas.destination, on: connection) {
        // What is computed is computed here, whether or not a rule asks for it.
        if let evaluation = row.evaluation { _ = try connection.value(evaluation) }
        return try (valueRules(row) + savingRules(row) + typeRules(row) + compositeRules(row))
          .broken(
            in: "(\(row.selectAll)) e", key: "e.Z_PK", on: connection
          ).map { $0.rule.check($0.rows) }
      }
    }
    checks += try emptinessChecks() + countChecks() + unledChecks() + abstractChecks()
    for entityMapping in step.mapping.entityMappings where !mapped.isPolicy(entityMapping) {
      checks += try danglingChecks(entityMapping)
    }
    checks += try data.brokenJoins(
      of: step.mapping, hint: "They are not links, and are left out.")
    let constraints = ConstraintCheck(
      schema: schemas.destination, rows: mapped.rows, connection: connection)
    for entity in step.destination.entities {
      for constraint in entity.uniquenessConstraints {
        checks += try constraints.check(constraint, of: entity.name, isNew: false)
      }
    }
    return checks
  }

  /// To-ones that are taken over as they are, and reference objects that are not there.
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
  private func valueRules(_ row: RowProgram) -> [DestinationRule] {
    guard let table = schemas.destination.table(of: row.entity) else { return [] }
    return table.columns.filter { !row.isLater($0.name) }.compactMap { column in
      let missing = row.writes(column.name) ? ["e.\(quoted(column.name)) IS NULL"] : []
      switch column.content {
      case .attribute(let declarer, let name)
      where step.destination.isKind(row.entity, of: declarer):
        let attribute = step.destination.storedAttribute(named: name, of: row.entity)
        guard attribute?.isOptional == false, attribute?.isDerived == false,
          !isCopyOfFull(name, row)
        else { return nil }
        guard !wasMandatory(name, row) else {
          return .formerGap(in: name, of: row.entity, missing: missing)
        }
        var rule = DestinationRule.value(
          of: name, in: row.entity, missing: missing,
          hint:
            "Compute a value with coalesce(…, …), give the attribute a default, or make it optional."
        )
        Validation(step: step, schemas: schemas, connection: connection).ask(&rule)
        return rule
      case .toOne(let declarer, let name)
      where step.destination.isKind(row.entity, of: declarer):
        let relationship = step.destination.relationship(named: name, of: row.entity)
        guard relationship?.isOptional == false else { return nil }
        var rule = DestinationRule.object(in: name, of: row.entity, missing: missing)
        Validation(step: step, schemas: schemas, connection: connection).ask(&rule)
        return rule
      default: return nil
      }
    }
  }

  /// Whether the attribute is a copy of one that was mandatory before: what is empty in it was broken
  /// already. NSMigrationManager does not ask how it came about.
  private func wasMandatory(_ attribute: String, _ row: RowProgram) -> Bool {
    (!step.validatesAll || attribute.contains("."))
      && former(attribute, row)?.isOptional == false
  }

  /// Whether it is known that the attribute is a copy of one that has a value in every object.
  private func isCopyOfFull(_ attribute: String, _ row: RowProgram) -> Bool {
    guard let from = step.mapping.mapping(named: row.mapping)?.source,
      let former = former(attribute, row), let table = store.table(of: from),
      let column = table.column(of: former.name)
    else { return false }
    return store.facts?.nulls(in: column, of: table) == 0
  }

  /// The source's attribute of which one is a copy.
  private func former(_ attribute: String, _ row: RowProgram) -> Attribute? {
    guard let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source,
      let source = entityMapping.attribute(named: attribute)?.source
    else { return nil }
    return step.source.storedAttribute(named: source, of: from)
  }

  /// What a save asks of values: of all where a mapping model is carried out, else of those that are
  /// computed, and of copies where the rule is new or tighter.
  private func savingRules(_ row: RowProgram) -> [DestinationRule] {
    row.written.flatMap { column -> [DestinationRule] in
      guard let attribute = schemas.destination.attribute(of: column.name, in: row),
        !attribute.isDerived
      else { return [] }
      // How a composite's elements are validated was not seen.
      let isRefused = step.validatesAll && !attribute.name.contains(".")
      return SavingRule.all(
        of: attribute, "e.\(quoted(column.name))",
        since: isRefused ? nil : former(attribute.name, row)?.validation
      ).map { .saving($0, in: attribute.name, of: row.entity, isRefused: isRefused) }
    }
  }

  /// Mandatory composite attributes that a mapping would leave without a value.
  private func compositeRules(_ row: RowProgram) -> [DestinationRule] {
    guard let table = schemas.destination.entityTable(of: row.entity) else { return [] }
    return step.destination.mandatoryComposites(of: row.entity).map { composite in
      let isMissing = composite.isMissing { name in
        table.column(of: name).flatMap { row.writes($0) ? "e.\(quoted($0))" : nil }
      }
      return .composite(composite, of: row.entity, missing: [isMissing])
    }
  }
}

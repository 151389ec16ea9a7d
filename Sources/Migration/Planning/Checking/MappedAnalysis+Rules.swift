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
        return try (rules(row) + fileRules(row)).broken(
          in: "(\(row.selectAll)) e", key: "e.Z_PK", on: connection
        ).map { $0.rule.check($0.rows) }
      }
    }
    // What policies link cannot be foretold.
    if mapped.policyMappings.isEmpty {
      let links = RelationshipChecks(
        schemas, MigratedContents(mapped), planned, connection, validatesAll: step.validatesAll)
      checks += try links.empty() + links.counts()
    }
    checks += try unledChecks() + abstractChecks()
    for entityMapping in step.mapping.entityMappings where !mapped.isPolicy(entityMapping) {
      checks += try linkChecks(entityMapping)
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

  /// Links that are taken over as they are, and are not in order.
  private func linkChecks(_ entityMapping: EntityMapping) throws -> [DataCheck] {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return [] }
    let rules = entityMapping.relationships.filter { $0.condition == nil }.flatMap {
      schemas.linkRules($0, from: from, to: to, data, isValidated: step.validatesAll)
    }
    return try data.checks(rules, of: from)
  }

  /// Objects of entities that turned abstract, which nothing takes.
  private func abstractChecks() throws -> [DataCheck] {
    try step.mapping.entityMappings.flatMap { entityMapping -> [DataCheck] in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        step.destination.entity(named: to)?.isAbstract == true
      else { return [] }
      return try data.checks([.concrete(to)], of: from)
    }
  }

  /// What the destination asks of the rows `e` of a mapping.
  private func rules(_ row: RowProgram) -> [DestinationRule] {
    guard let table = schemas.destination.table(of: row.entity),
      let entity = schemas.destination.entityTable(of: row.entity)
    else { return [] }
    let rules = table.columns.flatMap { column -> [DestinationRule] in
      guard !row.isLater(column.name) else { return [] }
      if let attribute = schemas.destination.attribute(of: column.name, in: row) {
        return DestinationRule.all(
          of: attribute, in: row.entity, value(of: attribute, column.name, row),
          validatesAll: step.validatesAll)
      }
      guard case .toOne(let declarer, let name) = column.content,
        step.destination.isKind(row.entity, of: declarer),
        let relationship = step.destination.relationship(named: name, of: row.entity),
        !relationship.isOptional
      else { return [] }
      var rule = DestinationRule.objects(
        in: relationship, of: row.entity,
        missing: row.writes(column.name) ? ["e.\(quoted(column.name)) IS NULL"] : [],
        isValidated: step.validatesAll)
      Validation(step: step, schemas: schemas, connection: connection).excuse(&rule)
      rule.tellsFormer = !step.validatesAll
      return [rule]
    }
    return rules
      + DestinationRule.composites(of: row.entity, in: step.destination) { name in
        entity.column(of: name).flatMap { row.writes($0) ? "e.\(quoted($0))" : nil }
      }
  }

  private func value(of attribute: Attribute, _ column: String, _ row: RowProgram) -> AskedValue {
    guard let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source
    else {
      return AskedValue(sql: row.writes(column) ? "e.\(quoted(column))" : nil, isComputed: true)
    }
    let mapped = entityMapping.attribute(named: attribute.name)
    let former = mapped?.source.flatMap { step.source.storedAttribute(named: $0, of: from) }
    var value = AskedValue(
      sql: row.writes(column) ? "e.\(quoted(column))" : nil, former: former,
      isComputed: mapped?.expression != nil)
    // A copy of one that has a value in every object.
    if let former, let table = store.table(of: from), let name = table.column(of: former.name),
      store.facts?.nulls(in: name, of: table) == 0
    {
      value.nulls = 0
    }
    return value
  }

  /// Copies of values in files that cannot be had.
  private func fileRules(_ row: RowProgram) throws -> [DestinationRule] {
    guard let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source
    else { return [] }
    return try entityMapping.attributes.flatMap { mapped -> [DestinationRule] in
      guard
        let former = mapped.source.flatMap({ step.source.storedAttribute(named: $0, of: from) }),
        former.allowsExternalBinaryDataStorage,
        let attribute = step.destination.storedAttribute(named: mapped.name, of: row.entity)
      else { return [] }
      return try data.fileRules(
        former, of: from, for: attribute, in: row.entity,
        where: account.taken(by: entityMapping, of: from, row: "t"), on: connection)
    }
  }
}

import ManagedModel
import ManagedStore
import Mapping
import SQLite

extension MigrationStep {
  /// Whether every object is validated in the end, also one that nothing changed: NSMigrationManager does
  /// so with a mapping model, and fails on the first that breaks a rule of the destination.
  var validatesAll: Bool { mapping.kind == .mapping }
}

/// What the destination would not accept.
extension StepAnalysis {
  func checks() throws -> [DataCheck] {
    let copied = { try mapping.entityMappings.flatMap { try sourceChecks($0) } }
    let checks =
      try layout.map { layout in
        try layout.mapped.rows.flatMap { try rowChecks($0, on: layout.connection) }
          + relationshipChecks() + unledChecks() + copied()
      } ?? (copied() + relationshipChecks())
    return try checks
      + data.brokenJoins(
        of: mapping,
        hint: layout == nil
          ? "They stay as they are: Core Data ignores them or fails to fulfill a fault (133000)."
          : "They are not links, and are left out.") + constraintChecks()
  }

  /// Asked of the source's rows: links that go on as they are, objects of an entity that turned abstract, and
  /// all that the columns show which an inferred step copies.
  private func sourceChecks(_ entityMapping: EntityMapping) throws -> [DataCheck] {
    guard let from = entityMapping.source, let to = entityMapping.destination,
      let entity = destination.entity(named: to)
    else { return [] }
    var rules: [DestinationRule] = entity.isAbstract ? [.concrete(to)] : []
    if layout == nil {
      for mapped in entityMapping.attributes {
        rules += try columnRules(mapped, in: entityMapping, from: from, to: to)
      }
      rules += DestinationRule.composites(of: to, in: destination) { name in
        entityMapping.attribute(named: name).flatMap { copy($0, of: from).sql }
      }
    }
    for relationshipMapping in entityMapping.relationships
    where relationshipMapping.condition == nil && !isPolicy(entityMapping) {
      if layout == nil { rules += filledRules(relationshipMapping, in: entityMapping) }
      rules += schemas.linkRules(
        relationshipMapping, from: from, to: to, data, isValidated: step.validatesAll)
    }
    return try data.checks(rules, of: from)
  }

  /// What rows will have in an attribute.
  ///
  /// - Parameter sql: where the rows have it; `nil` where nothing is written.
  private func value(
    _ mapped: AttributeMapping?, of from: String, as sql: String?
  ) -> AskedValue {
    let former = mapped?.source.flatMap { source.storedAttribute(named: $0, of: from) }
    var value = AskedValue(sql: sql, former: former, isComputed: mapped?.expression != nil)
    if mapped?.filling != nil {
      value.nulls = 0
    } else if let former, let table = store.table(of: from),
      let name = table.column(of: former.name)
    {
      value.nulls = store.facts?.nulls(in: name, of: table)
    }
    return value
  }

  /// The same of an inferred step: a NULL takes the default before a rule is asked, as Core Data looks for
  /// what is missing when all is done.
  private func copy(_ mapped: AttributeMapping, of from: String) -> AskedValue {
    let former = mapped.source.flatMap { source.storedAttribute(named: $0, of: from) }
    let filling = mapped.filling?.literal
    let column = former.flatMap { data.column(of: $0.name, in: from) }.map { column in
      filling.map { "coalesce(\(column), \($0))" } ?? column
    }
    var value = value(mapped, of: from, as: column ?? filling)
    value.predicate = former.map { "\(PredicateText.name($0.name)) == nil" }
    return value
  }

  private func columnRules(
    _ mapped: AttributeMapping, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> [DestinationRule] {
    guard let attribute = destination.storedAttribute(named: mapped.name, of: to),
      !attribute.isDerived
    else { return [] }
    let value = copy(mapped, of: from)
    var rules = DestinationRule.all(of: attribute, in: to, value)
    if value.former == nil {
      // Of a constant it is known at once.
      rules = try rules.filter {
        try $0.conditions.isEmpty || store.number("SELECT \($0.condition)") != 0
      }
    }
    rules += try fileRules(mapped, in: entityMapping, from: from, to: to)
    if let filling = mapped.defaultValue, !attribute.type.holds(filling) {
      // What an earlier step fills in, before a later one changes the type.
      let column = value.former.flatMap { data.column(of: $0.name, in: from) }
      rules.append(
        DestinationRule(
          entity: to, property: attribute.name,
          conditions: column.map { ["\($0) IS NULL"] } ?? [],
          message:
            "a default value in an earlier step that is not of type \(attribute.type.name): \(filling.literal)",
          hint: "Give the attribute a default value that fits both types."))
    }
    return rules
  }

  /// A mandatory to-one has an object, where a column of the source shows it.
  private func filledRules(
    _ relationshipMapping: RelationshipMapping, in entityMapping: EntityMapping
  ) -> [DestinationRule] {
    guard let from = entityMapping.source, let to = entityMapping.destination,
      let relationship = destination.relationship(named: relationshipMapping.name, of: to),
      relationship.emptiness != .allowed,
      let column = schemas.column(showing: relationship, in: entityMapping)
    else { return [] }
    var rule = DestinationRule.objects(
      in: relationship, of: to, missing: ["t.\(quoted(column)) IS NULL"])
    // Those that were mandatory and empty before were broken already.
    if let name = relationshipMapping.source,
      source.relationship(named: name, of: from)?.isOptional == false
    {
      rule = rule.excused
      rule.predicate = "\(PredicateText.name(name)) == nil"
    }
    return [rule]
  }

  /// What the destination asks of the rows `e` of a mapping.
  private func rules(_ row: RowProgram, on connection: Connection) -> [DestinationRule] {
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
        destination.isKind(row.entity, of: declarer),
        let relationship = destination.relationship(named: name, of: row.entity),
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
      + DestinationRule.composites(of: row.entity, in: destination) { name in
        entity.column(of: name).flatMap { row.writes($0) ? "e.\(quoted($0))" : nil }
      }
  }

  private func value(of attribute: Attribute, _ column: String, _ row: RowProgram) -> AskedValue {
    let sql = row.writes(column) ? "e.\(quoted(column))" : nil
    guard let entityMapping = mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source
    else { return AskedValue(sql: sql, isComputed: true) }
    var value = value(entityMapping.attribute(named: attribute.name), of: from, as: sql)
    // Of a copy the mapping may take some rows only.
    if value.nulls != 0 { value.nulls = nil }
    return value
  }

  /// The rows of a mapping, asked as they are computed.
  private func rowChecks(_ row: RowProgram, on connection: Connection) throws -> [DataCheck] {
    try mapping.evaluating(row, schemas.destination, on: connection) {
      // What is computed is computed here, whether or not a rule asks for it.
      if let evaluation = row.evaluation { _ = try connection.value(evaluation) }
      var rules = rules(row, on: connection)
      if let entityMapping = mapping.mapping(named: row.mapping),
        entityMapping.destination == row.entity, let from = entityMapping.source
      {
        rules += try entityMapping.attributes.flatMap {
          try fileRules($0, in: entityMapping, from: from, to: row.entity)
        }
      }
      return try rules.broken(in: "(\(row.selectAll)) e", key: "e.Z_PK", on: connection).map {
        $0.rule.check($0.rows)
      }
    }
  }

  /// Copies of values in files that cannot be read.
  private func fileRules(
    _ mapped: AttributeMapping, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> [DestinationRule] {
    guard let former = mapped.source.flatMap({ source.storedAttribute(named: $0, of: from) }),
      former.allowsExternalBinaryDataStorage,
      let attribute = destination.storedAttribute(named: mapped.name, of: to)
    else { return [] }
    return try data.fileRules(
      former, of: from, for: attribute, in: to,
      where: taken(by: entityMapping, of: from, row: "t"), on: connection)
  }

  /// Relationships that end up empty, or with too few or too many objects.
  private func relationshipChecks() throws -> [DataCheck] {
    // What policies link cannot be foretold; and most of an inferred step's are asked of the source's columns.
    guard layout.map({ $0.mapped.policyMappings.isEmpty }) ?? hasHiddenEmptiness else { return [] }
    return try asking {
      let checks = try RelationshipChecks(self, connectionOverSource())
      return try checks.empty() + checks.counts()
    }
  }

  /// Whether a mandatory relationship of an inferred step is one that only the step as a whole shows to end up
  /// empty.
  private var hasHiddenEmptiness: Bool {
    mapping.entityMappings.contains { entityMapping in
      entityMapping.source != nil
        && entityMapping.relationships.contains {
          guard let to = entityMapping.destination,
            let relationship = destination.relationship(named: $0.name, of: to)
          else { return false }
          return relationship.emptiness != .allowed
            && schemas.column(showing: relationship, in: entityMapping) == nil
        }
    }
  }

  /// Objects that are made for a one-to-one which a later one takes: nothing references them.
  private func unledChecks() throws -> [DataCheck] {
    try (planned?.lost() ?? []).compactMap { lost in
      guard let entityMapping = mapping.mapping(named: lost.link.mapping),
        destination.isKind(entityMapping.destination ?? "", of: lost.link.entity) == false
          || entityMapping.relationships.allSatisfy({
            $0.name != lost.link.relationship || $0.source == nil
          }),
        let relationship = destination.relationship(
          named: lost.link.relationship, of: lost.link.entity)
      else { return nil }
      return DataCheck(
        code: .migration, entity: relationship.destination, property: relationship.inverse,
        rows: lost.count,
        first: lost.first.map { ObjectID(entity: relationship.destination, key: $0.destination) },
        message:
          "several objects created for \(lost.link.entity).\(relationship.name), which is to-one: the last one is kept",
        hint: "Create one object, or make the relationship to-many.", isWarning: true)
    }
  }

  /// Duplicates under constraints: of an inferred step only under those that are new, or that a default could
  /// break.
  private func constraintChecks() throws -> [DataCheck] {
    let wanted = destination.entities.flatMap { entity in
      entity.uniquenessConstraints.map { (entity.name, $0) }
    }.filter { layout != nil || !isKept($0.1, of: $0.0) }
    guard !wanted.isEmpty else { return [] }
    let roots = Set(wanted.map { destination.root(of: $0.0) })
    return try asking {
      let check = try ConstraintCheck(
        schema: schemas.destination,
        rows: layout?.mapped.rows
          ?? schemas.destination.tables.filter { roots.contains($0.root) }.flatMap(schemas.rows),
        connection: connectionOverSource())
      return try wanted.flatMap { entity, constraint in
        try check.check(
          constraint, of: entity, isNew: layout == nil && !wasThere(constraint, of: entity))
      }
    }
  }

  /// Whether a constraint held before, and nothing changes the values it is about.
  private func isKept(_ constraint: [String], of entity: String) -> Bool {
    guard wasThere(constraint, of: entity) else { return false }
    return destination.subtree(of: entity).allSatisfy { name in
      mapping.mapping(toDestination: name)?.attributes.allSatisfy {
        !constraint.contains($0.name) || $0.defaultValue == nil
      } ?? true
    }
  }

  private func wasThere(_ constraint: [String], of entity: String) -> Bool {
    destination.subtree(of: entity).allSatisfy { name in
      guard let entityMapping = mapping.mapping(toDestination: name),
        let from = entityMapping.source
      else { return true }
      let former = Set(
        constraint.map { name in
          entityMapping.attribute(named: name)?.source
            ?? entityMapping.relationship(named: name)?.source ?? name
        })
      return source.lineage(of: from).contains { ancestor in
        ancestor.uniquenessConstraints.contains { Set($0) == former }
      }
    }
  }
}

extension AttributeMapping {
  /// What goes in where there would be nothing.
  fileprivate var filling: AttributeValue? {
    defaultValue.flatMap { $0.isNothing ? nil : $0 }
  }
}

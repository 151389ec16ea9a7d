import ManagedModel
import ManagedStore
import SQLite

/// What an inferred mapping, of one step or of several, would do to a store: losses and checks.
struct InferredAnalysis {
  let data: SourceData
  let source: Model
  let destination: Model
  let mapping: MappingModel
  let schemas: StepSchemas
  /// What the links of one-to-ones that are set in the end come to.
  let planned: PlannedPairs?

  init(data: SourceData, source: Model, destination: Model, mapping: MappingModel) throws {
    self.data = data
    self.source = source
    self.destination = destination
    self.mapping = mapping
    schemas = StepSchemas(store: data.store, mapping: mapping, destination: destination)
    planned = try PlannedPairs(inferred: schemas)
  }

  /// What it would drop.
  var account: LossAccount {
    LossAccount(
      data: data, source: source, destination: destination, mapping: schemas.mapping,
      schemas: schemas,
      planned: planned)
  }

  func checks() throws -> [DataCheck] {
    try mapping.entityMappings.flatMap { try checks(of: $0) } + emptyRelationships()
      + data.brokenJoins(
        of: mapping,
        hint: "They stay as they are: Core Data ignores them or fails to fulfill a fault (133000).")
      + brokenConstraints()
  }

  private func checks(of entityMapping: EntityMapping) throws -> [DataCheck] {
    guard let from = entityMapping.source, let to = entityMapping.destination,
      let entity = destination.entity(named: to)
    else { return [] }
    var rules: [DestinationRule] = entity.isAbstract ? [.concrete(to)] : []
    for attributeMapping in entityMapping.attributes {
      rules += try self.rules(attributeMapping, from: from, to: to)
    }
    rules += DestinationRule.composites(of: to, in: destination) { name in
      entityMapping.attribute(named: name).flatMap { value($0, of: from).sql }
    }
    for relationshipMapping in entityMapping.relationships {
      rules += rule(relationshipMapping, in: entityMapping)
      rules += schemas.linkRules(relationshipMapping, from: from, to: to, data)
    }
    return try data.checks(rules, of: from)
  }

  /// What rows will have in an attribute: a NULL takes the default before a rule is asked, as Core Data
  /// looks for what is missing when all is done.
  private func value(_ attributeMapping: AttributeMapping, of from: String) -> AskedValue {
    let former = attributeMapping.source.flatMap { source.storedAttribute(named: $0, of: from) }
    let column = former.flatMap { data.column(of: $0.name, in: from) }
    var value = AskedValue(sql: column, former: former)
    value.predicate = former.map { "\(PredicateText.name($0.name)) == nil" }
    if let filling = attributeMapping.defaultValue, !filling.isNothing {
      value.sql = column.map { "coalesce(\($0), \(filling.literal))" } ?? filling.literal
      value.nulls = 0
    } else if let former, let table = data.store.table(of: from),
      let name = table.column(of: former.name)
    {
      value.nulls = data.store.facts?.nulls(in: name, of: table)
    }
    return value
  }

  private func rules(
    _ attributeMapping: AttributeMapping, from: String, to: String
  ) throws -> [DestinationRule] {
    guard let attribute = destination.storedAttribute(named: attributeMapping.name, of: to),
      !attribute.isDerived
    else { return [] }
    let value = value(attributeMapping, of: from)
    var rules = DestinationRule.all(of: attribute, in: to, value)
    if let former = value.former {
      rules += try data.fileRules(former, of: from, for: attribute, in: to)
    } else {
      // Of a constant it is known at once.
      rules = try rules.filter {
        try $0.conditions.isEmpty || data.store.number("SELECT \($0.condition)") != 0
      }
    }
    if let filling = attributeMapping.defaultValue, !attribute.type.holds(filling) {
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
  private func rule(
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

  /// Mandatory relationships that only the step as a whole shows to end up empty.
  private func emptyRelationships() throws -> [DataCheck] {
    let isAsked = mapping.entityMappings.contains { entityMapping in
      entityMapping.source != nil
        && entityMapping.relationships.contains {
          guard let to = entityMapping.destination,
            let relationship = destination.relationship(named: $0.name, of: to)
          else { return false }
          return relationship.emptiness != .allowed
            && schemas.column(showing: relationship, in: entityMapping) == nil
        }
    }
    guard isAsked else { return [] }
    let connection = try planned?.connection ?? .scratch(over: data.store)
    return try data.store.reading {
      try RelationshipChecks(
        schemas, MigratedContents(schemas), planned, connection, isInferred: true
      ).empty()
    }
  }

  /// Duplicates under constraints that are new, or that a default could break.
  private func brokenConstraints() throws -> [DataCheck] {
    let wanted = destination.entities.flatMap { entity in
      entity.uniquenessConstraints.map { (entity.name, $0) }
    }.filter { !isKept($0.1, of: $0.0) }
    guard !wanted.isEmpty else { return [] }
    let connection = try Connection.scratch(over: data.store)
    let roots = Set(wanted.map { destination.root(of: $0.0) })
    return try data.store.reading {
      let check = ConstraintCheck(
        schema: schemas.destination,
        rows: schemas.destination.tables.filter { roots.contains($0.root) }
          .flatMap(schemas.rows), connection: connection)
      return try wanted.flatMap { entity, constraint in
        try check.check(constraint, of: entity, isNew: !wasThere(constraint, of: entity))
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

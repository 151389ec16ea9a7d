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
    try mapping.entityMappings.flatMap { try checks(of: $0) }
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
      rules += try self.rules(relationshipMapping, from: from, to: to)
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

  /// A mandatory relationship has as many objects as it must.
  private func rules(
    _ relationshipMapping: RelationshipMapping, from: String, to: String
  ) throws -> [DestinationRule] {
    guard let relationship = destination.relationship(named: relationshipMapping.name, of: to),
      !relationship.isOptional
    else { return [] }
    if let planned,
      let declarer = destination.declaringEntity(of: relationship.name, in: to),
      let keys = planned.keys(in: relationship.name, of: declarer)
    {
      return try unset(relationship, relationshipMapping, from: from, to: to, keys, planned)
    }
    guard let name = relationshipMapping.source else {
      // What the inverse carries is in it, too.
      let missing = inverseLinks(of: relationship).map { ["t.Z_PK NOT IN (\($0))"] } ?? []
      return [.objects(in: relationship, of: to, missing: missing)]
    }
    // Empty ones that were allowed before and are not now; others were broken already. Those that lead to
    // an object that goes will be empty afterwards.
    var rules: [DestinationRule] = []
    var broken: [String] = []
    if let empty = data.isEmpty(name, of: from) {
      let before = source.relationship(named: name, of: from)
      if before?.isOptional == true {
        broken.append(empty)
      } else if before?.emptiness != .told || relationship.emptiness != .told {
        // Of empty to-manys apps' stores are full, each array of SwiftData's among these.
        var rule = DestinationRule.objects(in: relationship, of: to, missing: [empty]).excused
        rule.predicate = before?.isToMany == false ? "\(PredicateText.name(name)) == nil" : nil
        rules.append(rule)
      }
    }
    if let gone = data.leadsTo(removedBy: mapping, relationship: name, of: from)
      ?? onlyToRemoved(name, of: from)
    {
      broken.append(gone)
    }
    if let crowded = schemas.isCrowdedOut(relationship, of: to) { broken.append(crowded) }
    guard !broken.isEmpty else { return rules }
    return rules
      + [.objects(in: relationship, of: to, missing: [broken.joined(separator: " OR ")])]
  }

  /// SELECT of keys of source objects that are referenced by what a relationship's inverse carries; `nil`
  /// where it carries nothing.
  private func inverseLinks(of relationship: Relationship) -> String? {
    guard let inverse = relationship.inverse else { return nil }
    let selects = mapping.entityMappings.compactMap { entityMapping -> String? in
      guard let from = entityMapping.source, let table = data.store.table(of: from),
        entityMapping.makes(relationship.destination, in: destination),
        let former = entityMapping.relationship(named: inverse)?.source
      else { return nil }
      return table.storage(of: former).map {
        """
        SELECT e.destination FROM (\($0.allLinks())) e JOIN \(quoted(table.table)) o
        ON o.Z_PK = e.owner AND o.Z_ENT = \(table.entityID)
        """
      }
    }
    return selects.isEmpty ? nil : selects.joined(separator: " UNION ALL ")
  }

  /// Objects that a mandatory one-to-one whose sides are set in the end leaves without a partner.
  private func unset(
    _ relationship: Relationship, _ relationshipMapping: RelationshipMapping, from: String,
    to: String, _ keys: String, _ planned: PlannedPairs
  ) throws -> [DestinationRule] {
    var conditions = ["t.Z_PK NOT IN (\(keys))"]
    // What was mandatory and empty before was broken already.
    if let name = relationshipMapping.source,
      source.relationship(named: name, of: from)?.isOptional == false,
      let empty = data.isEmpty(name, of: from)
    {
      conditions.append("NOT (\(empty))")
    }
    // Asked of another connection: not with the others.
    guard let rows = data.rows(of: from, where: conditions, in: "src.") else { return [] }
    var rule = DestinationRule.objects(in: relationship, of: to)
    rule.answer = .rows(try FoundRows(rows, key: "t.Z_PK", of: from, on: planned.connection))
    return [rule]
  }

  /// SQL that is true for rows whose to-many has objects, and none that stay; `nil` where all stay.
  private func onlyToRemoved(_ relationship: String, of entity: String) -> String? {
    guard let declared = source.relationship(named: relationship, of: entity), declared.isToMany,
      let other = data.store.table(of: declared.destination),
      let all = data.store.table(of: entity)?.storage(of: relationship)?.allLinks()
    else { return nil }
    let removed = source.subtree(of: declared.destination).filter {
      mapping.mapping(fromSource: $0)?.destination == nil
    }.compactMap { data.store.table(of: $0)?.entityID }
    guard !removed.isEmpty else { return nil }
    let links = "SELECT 1 FROM (\(all)) e JOIN \(quoted(other.table)) d ON d.Z_PK = e.destination"
    let list = removed.list
    return """
      EXISTS (\(links) WHERE e.owner = t.Z_PK)
      AND NOT EXISTS (\(links) WHERE e.owner = t.Z_PK AND d.Z_ENT NOT IN (\(list)))
      """
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

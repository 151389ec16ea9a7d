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

  /// Whether the sides of a one-to-one are set again.
  func isLoose(_ relationship: Relationship, of entity: String) -> Bool {
    destination.declaringEntity(of: relationship.name, in: entity).map {
      schemas.isLoose(relationship.name, of: $0)
    } ?? false
  }

  func checks() throws -> [DataCheck] {
    try data.countTogether { _ = try checksOfEntities() }
    return try checksOfEntities() + brokenLinkRows() + brokenConstraints()
  }

  private func brokenLinkRows() throws -> [DataCheck] {
    try data.brokenJoins(
      of: mapping,
      hint: "They stay as they are: Core Data ignores them or fails to fulfill a fault (133000).")
  }

  private func checksOfEntities() throws -> [DataCheck] {
    var checks: [DataCheck] = []
    for entityMapping in mapping.entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let entity = destination.entity(named: to)
      else { continue }
      if entity.isAbstract {
        checks += try check(.concrete(to), of: from)
      }
      for attributeMapping in entityMapping.attributes {
        checks += try self.checks(attributeMapping, from: from, to: to)
      }
      checks += try emptyComposites(entityMapping, from: from, to: to)
      for relationshipMapping in entityMapping.relationships {
        checks += try self.check(relationshipMapping, from: from, to: to)
        checks += try brokenLinks(relationshipMapping, from: from, to: to)
      }
    }
    return checks
  }

  /// The rows of a source entity that fulfil conditions, as a check that failed, or as a warning
  /// with that code; none where there are none.
  func rows(
    of from: String, where conditions: [String], break rule: (entity: String, property: String?),
    _ message: String, hint: String, warning code: CoreDataError.Code? = nil,
    predicate: String? = nil
  ) throws -> [DataCheck] {
    try check(
      DestinationRule(
        entity: rule.entity, property: rule.property, conditions: conditions,
        code: code ?? .migration,
        message: message, hint: hint, isWarning: code != nil, predicate: predicate), of: from)
  }

  /// What is reported for the rows of a source entity that break a rule.
  func check(_ rule: DestinationRule, of from: String) throws -> [DataCheck] {
    guard let rows = try data.found(from, where: rule.conditions), rows.count > 0 else { return [] }
    return [rule.check(rows)]
  }

  private func checks(
    _ attributeMapping: AttributeMapping, from: String, to: String
  ) throws -> [DataCheck] {
    guard let attribute = destination.storedAttribute(named: attributeMapping.name, of: to),
      !attribute.isDerived
    else { return [] }
    var checks: [DataCheck] = []
    let before = attributeMapping.source.flatMap { source.storedAttribute(named: $0, of: from) }
    if !attribute.isOptional, attributeMapping.defaultValue == nil {
      let optional = before.flatMap { $0.isOptional ? data.isMissing($0.name, in: from) : nil }
      if before == nil || optional != nil {
        var rule = DestinationRule.value(
          of: attribute.name, in: to, missing: optional.map { [$0] } ?? [],
          hint:
            "Give \(to).\(attribute.name) a default value, make it optional, or fill those rows first."
        )
        rule.predicate = before.map { "\(PredicateText.name($0.name)) == nil" }
        checks += try check(rule, of: from)
      }
    }
    if let before {
      checks += try missingFiles(before, from: from, attribute, of: to)
      checks += try formerGaps(before, from: from, attribute, attributeMapping, of: to)
      checks += try brokenRules(before, from: from, attribute, of: to)
    }
    if let value = attributeMapping.defaultValue, !attribute.type.holds(value) {
      // What an earlier step fills in, before a later one changes the type.
      checks += try rows(
        of: from,
        where: before.flatMap { data.column(of: $0.name, in: from) }.map { ["\($0) IS NULL"] }
          ?? [], break: (to, attribute.name),
        "a default value in an earlier step that is not of type \(attribute.type.name): \(value.literal)",
        hint: "Give the attribute a default value that fits both types.")
    }
    return checks
  }

  private func check(
    _ relationshipMapping: RelationshipMapping, from: String, to: String
  ) throws -> [DataCheck] {
    guard let relationship = destination.relationship(named: relationshipMapping.name, of: to),
      !relationship.isOptional
    else { return [] }
    var former: [DataCheck] = []
    let conditions: [String]
    if isLoose(relationship, of: to), let planned,
      let declarer = destination.declaringEntity(of: relationship.name, in: to),
      let keys = planned.keys(in: relationship.name, of: declarer)
    {
      return try unset(relationship, relationshipMapping, from: from, to: to, keys, planned)
    }
    if let name = relationshipMapping.source {
      // Empty ones that were allowed before and are not now; others were broken already. Those
      // that reference an object that goes will be empty afterwards.
      var broken: [String] = []
      if let empty = data.isEmpty(name, of: from) {
        let before = source.relationship(named: name, of: from)
        if before?.isOptional == true {
          broken.append(empty)
        } else if before?.emptiness != .told || relationship.emptiness != .told {
          // Of empty to-manys apps' stores are full, each array of SwiftData's among these.
          former = try rows(
            of: from, where: [empty], break: (to, relationship.name),
            "missing objects on a relationship that was mandatory before",
            hint: "These rows cannot be saved as they are: set the relationship in the app.",
            warning: .validationMissingMandatoryProperty,
            predicate: before?.isToMany == false
              ? "\(PredicateText.name(name)) == nil" : nil)
        }
      }
      if let gone = data.leadsTo(removedBy: mapping, relationship: name, of: from)
        ?? onlyToRemoved(name, of: from)
      {
        broken.append(gone)
      }
      if let crowded = schemas.isCrowdedOut(relationship, of: to) { broken.append(crowded) }
      guard !broken.isEmpty else { return former }
      conditions = [broken.joined(separator: " OR ")]
    } else {
      // What the inverse carries is in it, too.
      conditions = inverseLinks(of: relationship).map { ["t.Z_PK NOT IN (\($0))"] } ?? []
    }
    return try former + check(.objects(in: relationship, of: to, missing: conditions), of: from)
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
  ) throws -> [DataCheck] {
    var conditions = ["t.Z_PK NOT IN (\(keys))"]
    // What was mandatory and empty before was broken already.
    if let name = relationshipMapping.source,
      source.relationship(named: name, of: from)?.isOptional == false,
      let empty = data.isEmpty(name, of: from)
    {
      conditions.append("NOT (\(empty))")
    }
    // Asked of another connection: not with the others.
    guard !data.counts.isGathering, let rows = data.rows(of: from, where: conditions, in: "src.")
    else { return [] }
    let found = try FoundRows(
      rows, key: "t.Z_PK", of: from, on: planned.connection)
    guard found.count > 0 else { return [] }
    return [DestinationRule.objects(in: relationship, of: to).check(found)]
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
    return try data.store.reading {
      let check = ConstraintCheck(
        schema: schemas.destination,
        rows: schemas.destination.tables.flatMap(schemas.rows), connection: connection)
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

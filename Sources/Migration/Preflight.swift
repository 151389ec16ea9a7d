import ManagedModel
import ManagedStore
import SQLite

/// Looks through a store for data that the destination model does not allow.
struct Preflight {
  let data: SourceData
  let source: Model
  let destination: Model
  let mapping: MappingModel

  func checks() throws -> [DataCheck] {
    var checks: [DataCheck] = []
    for entityMapping in mapping.entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let entity = destination.entity(named: to)
      else { continue }
      if entity.isAbstract {
        checks += try rows(
          of: from, where: [], break: (to, nil), "objects of an entity that turned abstract",
          hint: "Keep \(to) concrete, or delete its objects first.")
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
    checks += try brokenJoins()
    return try checks + brokenConstraints()
  }

  /// The rows of a source entity that fulfil a condition, as a check that failed, or as a warning
  /// with that code; none where there are none.
  func rows(
    of from: String, where conditions: [String], break rule: (entity: String, property: String?),
    _ message: String, hint: String, warning code: Int? = nil, predicate: String? = nil
  ) throws -> [DataCheck] {
    let count = try data.count(from, where: conditions)
    guard count > 0 else { return [] }
    return [
      DataCheck(
        code: code ?? 134110, entity: rule.entity, property: rule.property, rows: count,
        first: try data.first(from, where: conditions), message: message, hint: hint,
        isWarning: code != nil, predicate: predicate)
    ]
  }

  private func checks(
    _ attributeMapping: AttributeMapping, from: String, to: String
  ) throws
    -> [DataCheck]
  {
    guard let attribute = destination.storedAttribute(named: attributeMapping.name, of: to),
      !attribute.isDerived
    else { return [] }
    var checks: [DataCheck] = []
    let before = attributeMapping.source.flatMap { source.storedAttribute(named: $0, of: from) }
    if !attribute.isOptional, attributeMapping.defaultValue == nil {
      var conditions: [String]?
      if let before {
        if before.isOptional, let column = data.column(of: before.name, in: from) {
          conditions = ["\(column) IS NULL"]
        }
      } else {
        conditions = []
      }
      if let conditions {
        checks += try rows(
          of: from, where: conditions, break: (to, attribute.name),
          "missing values on a mandatory destination attribute",
          hint:
            "Give \(to).\(attribute.name) a default value, make it optional, or fill those rows first.",
          predicate: before.map { "\(PredicateText.name($0.name)) == nil" })
      }
    }
    if let before {
      checks += try missingFiles(before, from: from, attribute, of: to)
      checks += try formerGaps(before, from: from, attribute, attributeMapping, of: to)
      checks += try brokenRules(before, from: from, attribute, of: to)
    }
    if let before, let range = Self.range(of: attribute.type),
      let column = data.column(of: before.name, in: from), attribute.type != before.type
    {
      checks += try rows(
        of: from, where: ["\(column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"],
        break: (to, attribute.name),
        "values that do not fit the narrower type \(attribute.type.name)",
        hint: "Keep the type \(before.type.name), or change those values first.")
    }
    return checks
  }

  static func range(of type: AttributeType) -> ClosedRange<Int64>? {
    switch type {
    case .boolean: 0...1
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }

  private func check(
    _ relationshipMapping: RelationshipMapping, from: String, to: String
  ) throws
    -> [DataCheck]
  {
    guard let relationship = destination.relationship(named: relationshipMapping.name, of: to),
      !relationship.isOptional
    else { return [] }
    var former: [DataCheck] = []
    let conditions: [String]
    if let name = relationshipMapping.source {
      // Empty ones that were allowed before and are not now; others were broken already. Those
      // that lead to an object that goes will be empty afterwards.
      var broken: [String] = []
      if let empty = data.isEmpty(name, of: from) {
        if source.relationship(named: name, of: from)?.isOptional == true {
          broken.append(empty)
        } else {
          former = try rows(
            of: from, where: [empty], break: (to, relationship.name),
            "missing objects on a relationship that was mandatory before",
            hint: "These rows cannot be saved as they are: set the relationship in the app.",
            warning: 1570,
            predicate: source.relationship(named: name, of: from)?.isToMany == false
              ? "\(PredicateText.name(name)) == nil" : nil)
        }
      }
      if let gone = data.leadsTo(removedBy: mapping, relationship: name, of: from)
        ?? onlyToRemoved(name, of: from)
      {
        broken.append(gone)
      }
      guard !broken.isEmpty else { return former }
      conditions = [broken.joined(separator: " OR ")]
    } else {
      conditions = []
    }
    if relationship.isToMany {
      // Apple's engine lets a mandatory to-many begin empty (store2-82-0 of the fixtures, migrated
      // from 2-73-0, has 21 conversations without participantRoles): only a save looks for it.
      return try former
        + rows(
          of: from, where: conditions, break: (to, relationship.name),
          "no objects in a mandatory to-many relationship",
          hint: "Such objects cannot be saved until the app gives them some.", warning: 1570)
    }
    return try former
      + rows(
        of: from, where: conditions, break: (to, relationship.name),
        "missing objects on a mandatory destination relationship",
        hint: "Make \(to).\(relationship.name) optional, or set it in those rows first.")
  }

  /// SQL that is true for rows whose to-many has objects, and none that stay; `nil` where all stay.
  private func onlyToRemoved(_ relationship: String, of entity: String) -> String? {
    guard let declared = source.relationship(named: relationship, of: entity), declared.isToMany,
      let other = data.store.table(of: declared.destination),
      let edges = data.store.edges(of: relationship, in: entity, schema: "")
    else { return nil }
    let removed = source.subtree(of: declared.destination).filter {
      mapping.mapping(fromSource: $0)?.destination == nil
    }.compactMap { data.store.table(of: $0)?.number }
    guard !removed.isEmpty else { return nil }
    let links = "SELECT 1 FROM (\(edges)) e JOIN \(quoted(other.table)) d ON d.Z_PK = e.destination"
    let list = removed.map(String.init).joined(separator: ", ")
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
    let schemas = StepSchemas(store: data.store, mapping: mapping, destination: destination)
    let connection = try Connection(path: "", mode: .create)
    try MigrationFunctions.define(on: connection, store: data.store)
    try connection.attach(data.store.connection, as: "src")
    return try data.store.reading {
      let check = ConstraintCheck(
        schema: schemas.destination,
        rows: schemas.destination.tables.flatMap(schemas.rowSources), connection: connection)
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
          entityMapping.attributes.first { $0.name == name }?.source
            ?? entityMapping.relationships.first { $0.name == name }?.source ?? name
        })
      return source.lineage(of: from).contains { ancestor in
        ancestor.uniquenessConstraints.contains { Set($0) == former }
      }
    }
  }
}

import ManagedModel
import ManagedStore
import SQLite

/// Looks through a store for data that the destination model does not allow.
struct Preflight {
  let data: SourceData
  /// Whether values in files can be read while rows move: only where objects are copied.
  var readsFiles = false
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
      for relationshipMapping in entityMapping.relationships {
        checks += try self.check(relationshipMapping, from: from, to: to)
        checks += try brokenLinks(relationshipMapping, from: from, to: to)
      }
    }
    checks += try brokenJoins()
    for entity in destination.entities {
      for constraint in entity.uniquenessConstraints {
        checks += try check(constraint, of: entity.name)
      }
    }
    return checks
  }

  /// The rows of a source entity that fulfil a condition, as a check that failed, or as a warning
  /// with that code; none where there are none.
  func rows(
    of from: String, where conditions: [String], break rule: (entity: String, property: String?),
    _ message: String, hint: String, warning code: Int? = nil
  ) throws -> [DataCheck] {
    let count = try data.count(from, where: conditions)
    guard count > 0 else { return [] }
    return [
      DataCheck(
        code: code ?? 134110, entity: rule.entity, property: rule.property, rows: count,
        first: try data.first(from, where: conditions), message: message, hint: hint,
        isWarning: code != nil)
    ]
  }

  private func checks(
    _ attributeMapping: AttributeMapping, from: String, to: String
  ) throws
    -> [DataCheck]
  {
    guard let attribute = destination.attribute(named: attributeMapping.name, of: to),
      !attribute.isDerived
    else { return [] }
    var checks: [DataCheck] = []
    let before = attributeMapping.source.flatMap { source.attribute(named: $0, of: from) }
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
            "Give \(to).\(attribute.name) a default value, make it optional, or fill those rows first."
        )
      }
    }
    if let before {
      if !readsFiles { checks += try filesThatCannotMove(before, from: from, attribute, of: to) }
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

  private static func range(of type: AttributeType) -> ClosedRange<Int64>? {
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
            warning: 1570)
        }
      }
      if let gone = data.leadsTo(removedBy: mapping, relationship: name, of: from) {
        broken.append(gone)
      }
      guard !broken.isEmpty else { return former }
      conditions = [broken.joined(separator: " OR ")]
    } else {
      conditions = []
    }
    return try former
      + rows(
        of: from, where: conditions, break: (to, relationship.name),
        "missing objects on a mandatory destination relationship",
        hint: "Make \(to).\(relationship.name) optional, or set it in those rows first.")
  }

  /// Duplicates under a constraint that is new; NULL is never a duplicate.
  private func check(_ constraint: [String], of entity: String) throws -> [DataCheck] {
    guard let entityMapping = mapping.mapping(toDestination: entity),
      let from = entityMapping.source, let formerEntity = source.entity(named: from)
    else { return [] }
    let columns = constraint.map { name -> String? in
      if let attribute = entityMapping.attributes.first(where: { $0.name == name }) {
        if let former = attribute.source, let column = data.column(of: former, in: from) {
          guard let value = attribute.defaultValue,
            let declared = destination.attribute(named: name, of: entity)
          else { return column }
          return "coalesce(\(column), \(value.sqlLiteral(for: declared)))"
        }
        guard let value = attribute.defaultValue,
          let declared = destination.attribute(named: name, of: entity)
        else { return nil }
        return value.sqlLiteral(for: declared)
      }
      guard
        let former = entityMapping.relationships.first(where: { $0.name == name })?.source,
        case .toOne(let column, _) = data.store.table(of: from)?.storage(of: former)
      else { return nil }
      return "t." + quoted(column)
    }
    let former = constraint.map { name in
      entityMapping.attributes.first { $0.name == name }?.source
        ?? entityMapping.relationships.first { $0.name == name }?.source ?? name
    }
    let isOld = formerEntity.uniquenessConstraints.contains { Set($0) == Set(former) }
    let keys = columns.compactMap { $0 }
    guard !isOld, keys.count == constraint.count, let table = data.store.table(of: from),
      data.store.database.contains(table.table)
    else { return [] }
    let isPresent = keys.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let numbers = table.numbers.map(String.init).joined(separator: ", ")
    let groups = """
      SELECT min(t.Z_PK), count(*) FROM \(quoted(table.table)) t
      WHERE t.Z_ENT IN (\(numbers)) AND \(isPresent)
      GROUP BY \(keys.map { "+\($0)" }.joined(separator: ", "))
      HAVING count(*) > 1
      """
    return try data.store.reading {
      let connection = data.store.connection
      let counted = try connection.rows(
        "WITH g(k, n) AS (\(groups)) SELECT count(*), coalesce(sum(n), 0) FROM g")
      guard let row = counted.first, row.count == 2, let groupCount = row[0].integer,
        groupCount > 0
      else { return [] }
      let first = try connection.rows(
        "WITH g(k, n) AS (\(groups)) SELECT k FROM g ORDER BY k LIMIT 5"
      )
      .compactMap { $0.first?.integer.map { ObjectID(entity: from, key: $0) } }
      return [
        DataCheck(
          code: 134111, entity: entity, property: constraint.joined(separator: ", "),
          rows: Int(row[1].integer ?? 0), first: first,
          message: "duplicates under a new uniqueness constraint, \(groupCount) groups",
          hint: "Merge or change the duplicates first, or leave the constraint out.")
      ]
    }
  }
}

import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// What relationships will hold, asked of the program of a step, whatever it was made from.
struct RelationshipChecks {
  private let schemas: StepSchemas
  /// Its rows by entity and by table, and its links by declaring entity and relationship.
  private let rows: [String: [RowProgram]]
  private let tables: [String: [RowProgram]]
  private let links: [[String]: [LinkProgram]]
  private let joins: [JoinProgram]
  private let planned: PlannedPairs?
  private let connection: Connection
  /// Whether keys stay as they are, and of the to-ones that rows show by themselves only those of a plain
  /// column were looked at with the attributes.
  private let isInferred: Bool
  /// Whether every object is validated, as NSMigrationManager does.
  private let validatesAll: Bool

  private var model: Model { schemas.destinationModel }

  /// - Parameter connection: has the source attached as `src`, and the temporary tables of the program.
  init(_ analysis: StepAnalysis, _ connection: Connection) {
    schemas = analysis.schemas
    let contents =
      analysis.layout.map { MigratedContents($0.mapped) } ?? MigratedContents(analysis.schemas)
    rows = Dictionary(grouping: contents.rows, by: \.entity)
    tables = Dictionary(grouping: contents.rows, by: \.table)
    links = Dictionary(grouping: contents.links) { [$0.entity, $0.relationship] }
    joins = contents.joins
    planned = analysis.planned
    self.connection = connection
    isInferred = analysis.layout == nil
    validatesAll = analysis.step.validatesAll
  }

  /// Mandatory relationships that end up empty.
  ///
  /// Objects that had nothing in a relationship that was mandatory before were broken already, and are no
  /// reason to refuse.
  func empty() throws -> [DataCheck] {
    try each { entity, relationship, rows in
      guard relationship.emptiness != .allowed else { return [] }
      let empty = rows.compactMap { row -> String? in
        guard let missing = missing(relationship, row) else { return nil }
        let former = formerlyEmpty(relationship, row)
        // Then nothing that was there is gone.
        if former != nil, relationship.emptiness == .told, isCarriedWhole(relationship, of: entity)
        {
          return nil
        }
        let conditions = row.conditions + [RowCondition(missing)]
        return """
          SELECT \(key(of: row)) AS key, \(former ?? "0") AS former FROM \(row.from)\(conditions.filter)
          """
      }.joined(separator: " UNION ALL ")
      guard !empty.isEmpty else { return [] }
      // Keys of an inferred step are the source's, whose name the objects have there.
      let name =
        isInferred ? schemas.mapping.mapping(toDestination: entity)?.source ?? entity : entity
      let rule = DestinationRule.objects(
        in: relationship, of: entity, isValidated: validatesAll)
      func found(_ condition: String, _ rule: DestinationRule) throws -> [DataCheck] {
        let found = try FoundRows(
          "FROM (\(empty)) WHERE \(condition)", key: "key", of: name, on: connection)
        return found.count > 0 ? [rule.check(found)] : []
      }
      guard try connection.number("SELECT EXISTS (SELECT 1 FROM (\(empty)))") != 0 else {
        return []
      }
      return try found("NOT former", rule)
        + (relationship.emptiness == .refused ? found("former", rule.excused) : [])
    }
  }

  /// To-manys that have fewer or more objects than their counts say, where every object is validated.
  func counts() throws -> [DataCheck] {
    guard validatesAll else { return [] }
    return try each { entity, relationship, rows in
      guard relationship.isToMany, relationship.minCount > 1 || relationship.maxCount > 0,
        let pairs = pairs(in: relationship, of: entity)
      else { return [] }
      let objects = rows.map { "SELECT e.Z_PK AS key FROM (\($0.selectAll)) e" }
      let counted = """
        FROM (SELECT key, count(*) AS number FROM (SELECT DISTINCT key, other FROM (\(pairs)))
        WHERE key IN (\(objects.joined(separator: " UNION ALL "))) GROUP BY key)
        """
      var asked = [(isTooMany: false, condition: "number < \(relationship.minCount)")]
      if relationship.maxCount > 0 { asked.append((true, "number > \(relationship.maxCount)")) }
      return try asked.compactMap { isTooMany, condition in
        let found = try FoundRows(
          "\(counted) WHERE \(condition)", key: "key", of: entity, on: connection)
        guard found.count > 0 else { return nil }
        return DestinationRule.count(of: relationship, of: entity, isTooMany: isTooMany).check(
          found)
      }
    }
  }

  /// What is said of each stored relationship of the entities that get objects.
  private func each(
    _ checks: (String, Relationship, [RowProgram]) throws -> [DataCheck]
  ) throws -> [DataCheck] {
    try model.entities.flatMap { entity -> [DataCheck] in
      guard let rows = rows[entity.name] else { return [] }
      return try model.relationships(of: entity.name).filter { !$0.isTransient }.flatMap {
        try checks(entity.name, $0, rows)
      }
    }
  }

  private func key(of row: RowProgram) -> String { row.value(of: "Z_PK")?.sql ?? "s.Z_PK" }

  /// SQL that is true of source rows `s` which become objects without anything in a relationship; `nil` where
  /// they are looked at with the attributes.
  private func missing(_ relationship: Relationship, _ row: RowProgram) -> String? {
    guard let declarer = model.declaringEntity(of: relationship.name, in: row.entity) else {
      return nil
    }
    if let keys = planned?.keys(in: relationship.name, of: declarer) {
      return "\(key(of: row)) NOT IN (\(keys))"
    }
    if !relationship.isToMany {
      let column = schemas.destination.table(of: row.entity)?.column(
        .toOne(entity: declarer, name: relationship.name))?.name
      guard let column else { return nil }
      if !row.isLater(column) {
        let value = row.value(of: column)
        guard isInferred, value?.plainColumn == nil else { return nil }
        return "(\(value?.sql ?? "NULL")) IS NULL"
      }
    }
    return pairs(in: relationship, of: row.entity).map {
      "\(key(of: row)) NOT IN (SELECT key FROM (\($0)))"
    }
  }

  /// SQL that is true of source rows `s` without anything in what the relationship was before; `nil` where that
  /// was not mandatory.
  private func formerlyEmpty(_ relationship: Relationship, _ row: RowProgram) -> String? {
    guard !validatesAll, let entityMapping = schemas.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source,
      let name = entityMapping.relationship(named: relationship.name)?.source,
      schemas.sourceModel.relationship(named: name, of: from)?.isOptional == false
    else { return nil }
    return schemas.store.table(of: from)?.storage(of: name)?.isEmpty("s", in: "src.")
  }

  /// Whether all links of a relationship go on as they are.
  private func isCarriedWhole(_ relationship: Relationship, of entity: String) -> Bool {
    guard isInferred, let declarer = model.declaringEntity(of: relationship.name, in: entity) else {
      return false
    }
    if let join = join(of: relationship, declarer)?.join {
      return join.takesAll && join.former != nil
    }
    let content: StoreSchema.Content =
      schemas.destination.inverse(of: relationship).map { .toOne(entity: $0, name: $1.name) }
      ?? .owner(entity: declarer, name: relationship.name)
    guard let table = schemas.destination.table(of: relationship.destination),
      let column = table.column(content)?.name
    else { return false }
    return (tables[table.name] ?? []).allSatisfy { row in
      !model.isKind(row.entity, of: relationship.destination)
        || row.value(of: column)?.plainColumn != nil
    }
  }

  /// The join table of a relationship, and whether its first column has the relationship's owners.
  private func join(
    of relationship: Relationship, _ declarer: String
  ) -> (join: JoinProgram, table: StoreSchema.JoinTable, isFirst: Bool)? {
    guard let table = schemas.destination.join(of: relationship.name, in: declarer),
      let join = joins.first(where: { $0.table == table.name })
    else { return nil }
    return (
      join, table,
      table.relationship == relationship.name && table.entity == declarer
    )
  }

  /// SELECT of `key` and `other`, the ends of the links that a relationship will have; a link comes
  /// twice where both its sides are carried.
  private func pairs(in relationship: Relationship, of entity: String) -> String? {
    let schema = schemas.destination
    guard let declarer = model.declaringEntity(of: relationship.name, in: entity) else {
      return nil
    }
    var selects = (links[[declarer, relationship.name]] ?? []).map {
      "SELECT owner AS key, destination AS other FROM (\($0.select))"
    }
    if let (join, table, isFirst) = join(of: relationship, declarer) {
      let ends = [quoted(table.first), quoted(table.second)]
      // A row of which an end is missing is no link.
      func select(_ key: String, _ other: String) -> String {
        """
        SELECT \(key) AS key, \(other) AS other FROM (\(join.select))
        WHERE \(key) IS NOT NULL AND \(other) IS NOT NULL
        """
      }
      if isFirst || table.isReflexive { selects.append(select(ends[0], ends[1])) }
      if !isFirst || table.isReflexive { selects.append(select(ends[1], ends[0])) }
    } else if let (other, inverse) = schema.inverse(of: relationship) {
      selects += (links[[other, inverse.name]] ?? []).map {
        "SELECT destination AS key, owner AS other FROM (\($0.select))"
      }
      selects += owners(.toOne(entity: other, name: inverse.name), in: relationship.destination)
    } else {
      selects += owners(
        .owner(entity: declarer, name: relationship.name), in: relationship.destination)
    }
    guard !selects.isEmpty else { return "SELECT NULL AS key, NULL AS other WHERE 0" }
    let all = selects.joined(separator: " UNION ALL ")
    guard schema.storage(of: relationship.name, in: declarer)?.isInDestinationRow == true else {
      return all
    }
    // A row has room for one owner: of several the first one keeps it.
    return "SELECT min(key) AS key, other FROM (\(all)) GROUP BY other"
  }

  /// SELECTs of what rows of a hierarchy hold in a column, each with the row's own key.
  private func owners(_ content: StoreSchema.Content, in entity: String) -> [String] {
    guard let table = schemas.destination.table(of: entity),
      let column = table.column(content)?.name
    else { return [] }
    return (tables[table.name] ?? []).filter { $0.writes(column) }.map {
      """
      SELECT e.\(quoted(column)) AS key, e.Z_PK AS other FROM (\($0.selectAll)) e
      WHERE e.\(quoted(column)) IS NOT NULL
      """
    }
  }
}

extension StepSchemas {
  /// The source's column that shows whether a to-one will be empty; `nil` where only the step as a whole does.
  func column(showing relationship: Relationship, in entityMapping: EntityMapping) -> String? {
    guard !relationship.isToMany, let to = entityMapping.destination,
      let declarer = destinationModel.declaringEntity(of: relationship.name, in: to)
    else { return nil }
    return value(of: .toOne(entity: declarer, name: relationship.name), in: entityMapping)
      .plainColumn
  }
}

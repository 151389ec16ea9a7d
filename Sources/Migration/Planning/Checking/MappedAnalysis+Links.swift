import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  /// Mandatory relationships that would end up empty, as validation after the run finds them; what
  /// policies link cannot be foretold.
  func emptinessChecks() throws -> [DataCheck] {
    guard mapped.policyMappings.isEmpty else { return [] }
    var checks: [DataCheck] = []
    let validation = Validation(step: step, schemas: schemas, connection: connection)
    let all = Dictionary(grouping: mapped.rows, by: \.entity)
    for entity in step.destination.entities where !entity.isAbstract {
      guard let rows = all[entity.name] else { continue }
      for relationship in step.destination.relationships(of: entity.name)
      where !relationship.isTransient && relationship.emptiness != .allowed {
        guard let keys = keys(in: relationship, of: entity.name, rows) else { continue }
        let empty = rows.map {
          "SELECT e.Z_PK AS key FROM (\($0.selectAll)) e WHERE e.Z_PK NOT IN (\(keys))"
        }.joined(separator: " UNION ALL ")
        let found = try FoundRows("FROM (\(empty))", key: "key", of: entity.name, on: connection)
        guard found.count > 0 else { continue }
        let rule = DestinationRule.objects(
          in: relationship, of: entity.name, isValidated: step.validatesAll)
        if try step.validatesAll
          || found.count > validation.former(relationship.name, of: entity.name, isEmpty: true)
        {
          checks.append(rule.check(found))
        } else if relationship.emptiness == .refused {
          checks.append(rule.excused.check(found))
        }
      }
    }
    return checks
  }

  /// To-manys that have fewer or more objects than their counts say, where every object is validated.
  func countChecks() throws -> [DataCheck] {
    guard step.validatesAll, mapped.policyMappings.isEmpty else { return [] }
    var checks: [DataCheck] = []
    let all = Dictionary(grouping: mapped.rows, by: \.entity)
    for entity in step.destination.entities where !entity.isAbstract {
      guard let rows = all[entity.name] else { continue }
      let objects = rows.map { "SELECT e.Z_PK AS key FROM (\($0.selectAll)) e" }
      for relationship in step.destination.relationships(of: entity.name)
      where relationship.isToMany && !relationship.isTransient {
        guard relationship.minCount > 1 || relationship.maxCount > 0,
          let pairs = pairs(in: relationship, of: entity.name)
        else { continue }
        let counted = """
          FROM (SELECT key, count(*) AS number FROM (SELECT DISTINCT key, other FROM (\(pairs)))
          WHERE key IN (\(objects.joined(separator: " UNION ALL "))) GROUP BY key)
          """
        var asked = [(isTooMany: false, condition: "number < \(relationship.minCount)")]
        if relationship.maxCount > 0 { asked.append((true, "number > \(relationship.maxCount)")) }
        for (isTooMany, condition) in asked {
          let found = try FoundRows(
            "\(counted) WHERE \(condition)", key: "key", of: entity.name, on: connection)
          guard found.count > 0 else { continue }
          checks.append(
            DestinationRule.count(of: relationship, of: entity.name, isTooMany: isTooMany)
              .check(found))
        }
      }
    }
    return checks
  }

  /// SELECT of the keys of objects that will have something in a relationship; `nil` where its rows
  /// show it themselves, and are looked at with the attributes.
  private func keys(
    in relationship: Relationship, of entity: String, _ own: [RowProgram]
  ) -> String? {
    guard let declarer = step.destination.declaringEntity(of: relationship.name, in: entity) else {
      return nil
    }
    if let keys = planned?.keys(in: relationship.name, of: declarer) { return keys }
    if !relationship.isToMany {
      let column = schemas.destination.table(of: entity)?.column(
        .toOne(entity: declarer, name: relationship.name))?.name
      guard let column, own.contains(where: { $0.isLater(column) }) else { return nil }
    }
    return pairs(in: relationship, of: entity).map { "SELECT key FROM (\($0))" }
  }

  /// SELECT of `key` and `other`, the ends of the links that a relationship will have; a link comes
  /// twice where both its sides are carried.
  private func pairs(in relationship: Relationship, of entity: String) -> String? {
    let schema = schemas.destination
    guard let declarer = step.destination.declaringEntity(of: relationship.name, in: entity) else {
      return nil
    }
    var selects = (links[[declarer, relationship.name]] ?? []).map {
      "SELECT owner AS key, destination AS other FROM (\($0.select))"
    }
    if let (other, inverse) = schema.inverse(of: relationship) {
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
    return (rows[table.name] ?? []).filter { $0.writes(column) }.map {
      """
      SELECT e.\(quoted(column)) AS key, e.Z_PK AS other FROM (\($0.selectAll)) e
      WHERE e.\(quoted(column)) IS NOT NULL
      """
    }
  }

  /// Objects that are made for a one-to-one which a later one takes: nothing references them.
  func unledChecks() throws -> [DataCheck] {
    try (planned?.lost() ?? []).compactMap { lost in
      guard let entityMapping = step.mapping.mapping(named: lost.link.mapping),
        step.destination.isKind(entityMapping.destination ?? "", of: lost.link.entity) == false
          || entityMapping.relationships.allSatisfy({
            $0.name != lost.link.relationship || $0.source == nil
          }),
        let relationship = step.destination.relationship(
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
}

import ManagedModel
import ManagedStore
import SQLite

extension StepSchemas {
  /// Links that find no room: of several owners of an object the one of the least key keeps it, and nothing
  /// else of the destination keeps the link.
  func crowdedLinks() throws -> [Loss] {
    var losses: [Loss] = []
    for entity in sourceModel.entities {
      for relationship in entity.relationships
      where sourceModel.declaringEntity(of: relationship.name, in: entity.name) == entity.name {
        if let loss = try crowdedLinks(of: relationship, in: entity.name) { losses.append(loss) }
      }
    }
    return losses
  }

  /// Who takes a relationship's links over, in one direction.
  private struct Taker {
    var entity: String
    var relationship: String
    var isCrowdable: Bool
    /// Numbers of the source entities that it takes the links of.
    var owners: [Int64]
    /// Numbers of the source entities whose objects can be at the other end.
    var others: [Int64]
  }

  private func takers(of relationship: Relationship, in entity: String) -> [Taker] {
    var takers: [Taker] = []
    for entityMapping in mapping.mappings(fromSources: sourceModel.subtree(of: entity)) {
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let owner = store.table(of: from)?.entityID
      else { continue }
      for relationshipMapping in entityMapping.relationships
      where relationshipMapping.source == relationship.name {
        guard let now = destinationModel.relationship(named: relationshipMapping.name, of: to),
          let declarer = destinationModel.declaringEntity(of: now.name, in: to)
        else { continue }
        if let index = takers.firstIndex(where: {
          $0.entity == declarer && $0.relationship == now.name
        }) {
          takers[index].owners.append(owner)
          continue
        }
        let others = sourceModel.subtree(of: relationship.destination).filter { other in
          mapping.mappings(fromSource: other).contains { taker in
            taker.destination.map { destinationModel.isKind($0, of: now.destination) } ?? false
          }
        }
        takers.append(
          Taker(
            entity: declarer, relationship: now.name,
            isCrowdable: now.isToMany
              && destination.storage(of: now.name, in: to)?.isInDestinationRow == true
              // Where the to-one has a former one of its own, that says whose each object is.
              && !isCarried(now.inverse, of: now.destination),
            owners: [owner], others: others.compactMap { store.table(of: $0)?.entityID }))
      }
    }
    return takers
  }

  private func crowdedLinks(of relationship: Relationship, in entity: String) throws -> Loss? {
    guard let own = store.table(of: entity),
      let storage = own.storage(of: relationship.name), !storage.isInDestinationRow,
      let other = store.table(of: relationship.destination)
    else { return nil }
    let forward = takers(of: relationship, in: entity)
    let inverse = relationship.inverse.flatMap {
      sourceModel.relationship(named: $0, of: relationship.destination)
    }
    let inverseEntity = inverse.flatMap {
      sourceModel.declaringEntity(of: $0.name, in: relationship.destination)
    }
    let isReflexive = inverse?.name == relationship.name && inverseEntity == entity
    let back = inverse.flatMap { inverse in
      inverseEntity.map { takers(of: inverse, in: $0) }
    }
    let all = forward.map { (taker: $0, isForward: true) } + (back ?? []).map { ($0, false) }
    // Where both a relationship and its inverse lack room, the first by name reports the links.
    guard forward.contains(where: \.isCrowdable),
      isReflexive || back?.contains(where: \.isCrowdable) != true
        || "\(entity).\(relationship.name)"
          < "\(inverseEntity ?? "").\(inverse?.name ?? "")"
    else { return nil }
    // A row of which an end is missing is no link.
    var tables = [
      """
      links AS (SELECT DISTINCT e.owner, e.destination, o.Z_ENT AS one, d.Z_ENT AS two
      FROM (\(storage.allLinks(bothWays: true))) e
      JOIN \(quoted(own.table)) o ON o.Z_PK = e.owner
      JOIN \(quoted(other.table)) d ON d.Z_PK = e.destination)
      """
    ]
    var (joins, carried, lost): ([String], [String], [String]) = ([], [], [])
    for (index, (taker, isForward)) in all.enumerated() {
      let ends = isForward ? (taker.owners, taker.others) : (taker.others, taker.owners)
      let takes = "one IN (\(ends.0.list)) AND two IN (\(ends.1.list))"
      carried.append(takes)
      guard taker.isCrowdable else {
        lost.append("NOT (\(takes))")
        continue
      }
      let (object, owner) = isForward ? ("destination", "owner") : ("owner", "destination")
      tables.append(
        """
        first\(index) AS MATERIALIZED (SELECT \(object) AS object, min(\(owner)) AS owner
        FROM links WHERE \(takes) GROUP BY 1)
        """)
      joins.append(
        "LEFT JOIN first\(index) f\(index) ON f\(index).object = l.\(object) AND f\(index).owner = l.\(owner)"
      )
      lost.append("f\(index).object IS NULL")
    }
    // A pair that counts both ways is one.
    if isReflexive { lost.append("l.owner <= l.destination") }
    let with = "WITH " + tables.joined(separator: ", ")
    let rows = """
      FROM links l \(joins.joined(separator: " "))
      WHERE (\(carried.map { "(\($0))" }.joined(separator: " OR "))) AND \(lost.joined(separator: " AND "))
      """
    return try store.reading {
      let count = try store.connection.number("\(with) SELECT count(*) \(rows)")
      guard count > 0, let crowded = forward.first(where: \.isCrowdable) else { return nil }
      let samples = try store.connection.rows(
        "\(with) SELECT l.owner, l.destination \(rows) ORDER BY 1, 2 LIMIT 5"
      ).compactMap { row -> String? in
        guard row.count == 2, let owner = row[0].integer, let object = row[1].integer else {
          return nil
        }
        return
          "\(ObjectID(entity: entity, key: owner)) → \(ObjectID(entity: relationship.destination, key: object))"
      }
      return Loss(
        entity: entity, property: relationship.name, values: count, samples: samples,
        suggestion:
          "\(crowded.entity).\(crowded.relationship) allows one owner for each object: if there are several, the first one keeps it. Give it a to-many inverse to keep all links."
      )
    }
  }

  private func isCarried(_ inverse: String?, of entity: String) -> Bool {
    guard let inverse else { return false }
    return destinationModel.subtree(of: entity).contains {
      mapping.mapping(toDestination: $0)?.relationship(named: inverse)?.source != nil
    }
  }
}

/// Looks for objects that a step would make equal under a uniqueness constraint.
///
/// The source is attached to the connection as `src`. All mappings into the entity and those below
/// it count together, each with its own expressions; NULL is never a duplicate.
struct ConstraintCheck {
  let schema: StoreSchema
  let rows: [RowProgram]
  let connection: Connection

  func check(_ constraint: [String], of entity: String, isNew: Bool) throws -> [DataCheck] {
    let columns = constraint.compactMap { schema.column(of: $0, in: entity) }
    guard columns.count == constraint.count else { return [] }
    let keys = columns.map { quoted($0) }
    let selects = rows.filter { row in
      schema.model.isKind(row.entity, of: entity)
        && columns.allSatisfy(row.writes)
    }.map { row in
      // Kept apart, so that a plain number is no position in GROUP BY.
      "SELECT Z_PK, \(keys.joined(separator: ", ")) FROM (\(row.selectAll))"
    }
    guard !selects.isEmpty else { return [] }
    let duplicates = try Duplicates(
      of: selects.joined(separator: " UNION ALL "), by: keys, entity: entity, on: connection)
    guard let duplicates else { return [] }
    return [
      DataCheck(
        code: .migrationConstraintViolation, entity: entity,
        property: constraint.joined(separator: ", "),
        rows: duplicates.rows.count, first: duplicates.rows.first,
        message:
          "duplicates under a \(isNew ? "new " : "")uniqueness constraint, \(duplicates.groups) groups",
        hint: "Merge or change the duplicates first, or leave the constraint out.",
        asked: constraint)
    ]
  }
}

/// Rows that are equal in some columns; NULL is never equal.
package struct Duplicates {
  /// How many groups of equal rows there are.
  package let groups: Int
  /// How many rows there are in all groups, and the first of the first groups.
  package let rows: FoundRows

  /// - Parameters:
  ///   - select: rows with Z_PK and the columns.
  ///   - keys: the columns, quoted.
  package init?(
    of select: String, by keys: [String], entity: String, on connection: Connection
  ) throws {
    let groups = """
      FROM (SELECT min(Z_PK) AS k, count(*) AS n FROM (\(select))
      WHERE \(keys.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
      GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1)
      """
    let counted = try connection.rows("SELECT count(*), coalesce(sum(n), 0) \(groups)").first
    guard let count = counted?.first?.integer, count > 0 else { return nil }
    self.groups = Int(count)
    rows = try FoundRows(
      groups, key: "k", of: entity, on: connection, count: Int(counted?.last?.integer ?? 0))
  }
}

import ManagedModel
import ManagedStore
import SQLite

extension StepSchemas {
  /// Where the links of a to-many are in the source, when the destination keeps them in the rows of the
  /// objects and the source did not; `nil` for any other relationship.
  ///
  /// Such a row has room for one owner, and objects that were shared had several.
  ///
  /// - Parameter schema: prefix of the source's tables.
  func crowdableLinks(
    of relationship: Relationship, in entity: String, schema: String = ""
  ) -> (origin: (entity: String, name: String), select: String)? {
    guard relationship.isToMany,
      destination.storage(of: relationship.name, in: entity)?.isInDestinationRow == true,
      // Where the to-one has a former one of its own, that says whose each object is.
      !isCarried(relationship.inverse, of: relationship.destination),
      let origin = mapping.origins(of: relationship.name, in: entity, destinationModel).first,
      let own = store.table(of: origin.entity), let storage = own.storage(of: origin.name),
      !storage.isInDestinationRow,
      let kind = sourceModel.relationship(named: origin.name, of: origin.entity),
      let other = store.table(of: kind.destination)
    else { return nil }
    // Only the objects that the relationship is carried of take part.
    let carrying = sourceModel.subtree(of: origin.entity).filter { entity in
      mapping.mappings(fromSource: entity).contains {
        $0.relationship(named: relationship.name)?.source == origin.name
      }
    }.compactMap { store.table(of: $0)?.entityID }
    // A row of which an end is missing is no link.
    return (
      origin,
      """
      SELECT l.* FROM (\(storage.allLinks(in: schema, bothWays: true))) l
      JOIN \(schema)\(quoted(own.table)) o ON o.Z_PK = l.owner AND o.Z_ENT IN (\(carrying.list))
      JOIN \(schema)\(quoted(other.table)) d ON d.Z_PK = l.destination
      """
    )
  }

  /// SQL that is true of source rows `t` whose objects all have an earlier owner; `nil` where none can be.
  func isCrowdedOut(_ relationship: Relationship, of entity: String) -> String? {
    guard let (_, links) = crowdableLinks(of: relationship, in: entity) else { return nil }
    return """
      EXISTS (SELECT 1 FROM (\(links)) l WHERE l.owner = t.Z_PK) AND NOT EXISTS (
      SELECT 1 FROM (\(links)) l WHERE l.owner = t.Z_PK AND NOT EXISTS (
      SELECT 1 FROM (\(links)) m WHERE m.destination = l.destination AND m.owner < l.owner))
      """
  }

  /// Links that find no room: of several owners of an object the one of the least key keeps it.
  func crowdedLinks() throws -> [Loss] {
    var losses: [Loss] = []
    // What two relationships take from one has room for the same owners in both.
    var told: Set<String> = []
    for entity in destinationModel.entities {
      for relationship in entity.relationships {
        guard let (origin, links) = crowdableLinks(of: relationship, in: entity.name),
          !isKeptElsewhere(origin, besides: relationship.name, of: entity.name),
          told.insert("\(origin.entity).\(origin.name)").inserted
        else { continue }
        let kind = sourceModel.relationship(named: origin.name, of: origin.entity)
        func isFirst(_ owner: String, _ destination: String) -> String {
          """
          NOT EXISTS (SELECT 1 FROM (\(links)) m
          WHERE m.destination = \(destination) AND m.owner < \(owner))
          """
        }
        var lost = "FROM (\(links)) l WHERE NOT \(isFirst("l.owner", "l.destination"))"
        if kind?.inverse == origin.name,
          kind?.destination == sourceModel.declaringEntity(of: origin.name, in: origin.entity)
        {
          // A pair that counts both ways goes where neither way is kept, and is one.
          lost += " AND l.owner <= l.destination AND NOT \(isFirst("l.destination", "l.owner"))"
        }
        let count =
          kind?.inverse == origin.name
          ? try store.number("SELECT count(*) \(lost)")
          : try store.number("SELECT count(*) - count(DISTINCT destination) FROM (\(links))")
        guard count > 0 else { continue }
        let samples = try store.reading {
          try store.connection.rows(
            "SELECT owner, destination \(lost) ORDER BY 1, 2 LIMIT 5")
        }.compactMap { row -> String? in
          guard row.count == 2, let owner = row[0].integer, let object = row[1].integer else {
            return nil
          }
          return
            "\(ObjectID(entity: origin.entity, key: owner)) → \(ObjectID(entity: kind?.destination ?? "", key: object))"
        }
        losses.append(
          Loss(
            entity: sourceModel.declaringEntity(of: origin.name, in: origin.entity)
              ?? origin.entity, property: origin.name, values: count, samples: samples,
            suggestion:
              "\(entity.name).\(relationship.name) has room for one owner of each object: of several the first one keeps it. Give it a to-many inverse to keep all links."
          ))
      }
    }
    return losses
  }

  private func isCarried(_ inverse: String?, of entity: String) -> Bool {
    guard let inverse else { return false }
    return destinationModel.subtree(of: entity).contains {
      mapping.mapping(toDestination: $0)?.relationship(named: inverse)?.source != nil
    }
  }

  /// Whether another relationship of the destination keeps the same links, all of them.
  private func isKeptElsewhere(
    _ origin: (entity: String, name: String), besides name: String, of entity: String
  ) -> Bool {
    /// Whether a mapping keeps all links of a relationship of its source.
    func keeps(_ taker: EntityMapping?, _ former: String, besides name: String?) -> Bool {
      guard let taker, let to = taker.destination else { return false }
      return taker.relationships.contains {
        $0.name != name && $0.source == former
          && destination.storage(of: $0.name, in: to)?.isInDestinationRow == false
      }
    }
    if keeps(mapping.mapping(fromSource: origin.entity), origin.name, besides: name) { return true }
    guard let former = sourceModel.relationship(named: origin.name, of: origin.entity),
      let inverse = former.inverse
    else { return false }
    return sourceModel.subtree(of: former.destination).allSatisfy {
      keeps(mapping.mapping(fromSource: $0), inverse, besides: nil)
    }
  }
}

import ManagedModel
import ManagedStore
import SQLite

extension PolicyRun {
  /// UPDATE of the to-ones of all that a mapping made by itself, for keys behind ?1 up to ?3, each
  /// row once.
  ///
  /// - Returns: the statement and the relationships that it sets; `nil` where the keys do not tell
  ///   of which source object an object was made.
  func plainLinks(
    of entityMapping: EntityMapping, from: String, to: String
  ) throws -> (names: Set<String>, sql: String)? {
    let others = mapped.mapping.entityMappings
    guard madeObjects[entityMapping.name]?.isPlain == true,
      let offset = mapped.keys[entityMapping.name]?.distance,
      // Whatever else is of that entity has been made by hand, and has a key beyond all of these.
      others.filter({ $0.destination == to }).count == 1,
      others.allSatisfy(\.children.isEmpty), let own = store.table(of: from),
      let table = mapped.schema.table(of: to), let number = mapped.schema.numbers[to]
    else { return nil }
    let known = mapped.knowingKeys(of: Set(madeObjects.filter(\.value.isComplete).keys))
    var names: Set<String> = []
    var values: [String] = []
    var sets: [(column: String, sql: String)] = []
    for relationshipMapping in entityMapping.relationships {
      guard
        let (relationship, storage) = plainToOne(relationshipMapping.name, of: entityMapping, to),
        let origin = try mapped.origin(of: relationshipMapping, in: entityMapping, from: from),
        case .one(let key) = origin.value,
        let object = try known.reference(
          to: origin.entity, through: relationshipMapping.through, in: relationship,
          of: entityMapping, mayDangle: true),
        let other = mapped.schema.table(of: relationship.destination)
      else { continue }
      let value = "k\(names.count)"
      names.insert(relationship.name)
      values.append("\(object.key(of: key).sql ?? "NULL") AS \(value)")
      // What leads to nothing leaves alone what is there.
      func set(_ column: String, _ sql: String) {
        let column = quoted(column)
        sets.append((column, "CASE WHEN \(value) IS NULL THEN t.\(column) ELSE \(sql) END"))
      }
      set(storage.destination, value)
      if let column = storage.entityColumn {
        set(column, "(SELECT d.Z_ENT FROM main.\(quoted(other.name)) d WHERE d.Z_PK = \(value))")
      }
      if let column = storage.inversePosition,
        let place = mapped.order(of: relationship.name, in: entityMapping, from: from).sql
      {
        values.append("\(place) AS p\(value)")
        set(column, "coalesce(p\(value), t.\(quoted(column)))")
      }
    }
    guard !names.isEmpty else { return nil }
    // OFFSET keeps SQLite from looking for a value again wherever it is used.
    return (
      names,
      """
      UPDATE main.\(quoted(table.name)) AS t SET (\(sets.map(\.column).joined(separator: ", "))) =
      (SELECT \(sets.map(\.sql).joined(separator: ", ")) FROM
      (SELECT \(values.joined(separator: ", ")) FROM src.\(quoted(own.table)) s
      WHERE s.Z_PK = t.Z_PK - \(offset) LIMIT -1 OFFSET 0))
      WHERE t.Z_PK > ?1 AND t.Z_PK <= ?3 AND t.Z_ENT = \(number)
      """
    )
  }

  /// A to-one that is set by its own side alone, so that it does not matter when.
  private func plainToOne(
    _ name: String, of entityMapping: EntityMapping, _ to: String
  ) -> (Relationship, RelationshipStorage)? {
    let schema = mapped.schema
    guard let relationship = mapped.model.relationship(named: name, of: to),
      let storage = schema.storage(of: name, in: to), storage.kind == .toOne,
      schema.inverse(of: relationship)?.1.isToMany != false,
      let column = schema.linkColumn(of: name, in: to)
    else { return nil }
    // To the same object at both sides: `boss` and `staff`.
    let sides = entityMapping.relationships.filter {
      schema.linkColumn(of: $0.name, in: to) == column
    }
    return sides.count == 1 || mirrors.isMirrored(column) ? (relationship, storage) : nil
  }
}

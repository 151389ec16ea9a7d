import ManagedModel
import SQLite

/// Objects of a one-to-one whose partner does not lead back to them.
///
/// Core Data keeps the two sides alike while an app runs; its own migrations, and SQL, do not: stores
/// that Apple's engine wrote hold such objects. It reads each side from its own column.
public struct OneSidedLinks: Sendable, Equatable {
  /// The entity that declares the relationship.
  public var entity: String
  /// The relationship that references the partner.
  public var relationship: String
  /// How many objects reference one that does not lead back; never 0.
  public var objects: Int
  /// The first few.
  public var first: [ObjectID]
}

extension StoreSchema {
  /// How the other side of a one-to-one is kept; `nil` for what is no one-to-one.
  package func otherSide(of relationship: Relationship) -> RelationshipStorage? {
    guard !relationship.isToMany, let (entity, inverse) = inverse(of: relationship),
      !inverse.isToMany
    else { return nil }
    return storage(of: inverse.name, in: entity)
  }

  /// SQL that is true of a row `t` whose to-one references an object that leads elsewhere, or nowhere;
  /// `nil` for what is no one-to-one.
  ///
  /// - Parameter schemaName: the prefix of tables, such as `main.`.
  package func disagreement(
    _ relationship: Relationship, of entity: String, schemaName: String = ""
  ) -> String? {
    guard let column = toOneColumn(of: relationship.name, in: entity),
      let other = otherSide(of: relationship)
    else { return nil }
    return """
      EXISTS (SELECT 1 FROM \(schemaName)\(quoted(other.table)) o
      WHERE o.Z_PK = t.\(quoted(column)) AND o.\(quoted(other.destination)) IS NOT t.Z_PK)
      """
  }
}

extension Store {
  /// One-to-ones whose two sides disagree, by entity and name.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func oneSidedLinks() throws -> [OneSidedLinks] {
    guard modelSource != .raw else { return [] }
    var all: [OneSidedLinks] = []
    for side in model.oneToOnes.flatMap(\.sides) {
      guard let own = table(of: side.entity), own.toOneColumn(of: side.name) != nil,
        let inverse = side.relationship.inverse,
        table(of: side.relationship.destination)?.toOneColumn(of: inverse) != nil,
        let wrong = schema.disagreement(side.relationship, of: side.entity)
      else { continue }
      let rows = "FROM \(quoted(own.table)) t WHERE t.Z_ENT IN (\(own.numbers.list)) AND \(wrong)"
      try reading {
        let count = Int(try connection.value("SELECT count(*) \(rows)")?.integer ?? 0)
        guard count > 0 else { return }
        let first = try connection.rows("SELECT t.Z_PK, t.Z_ENT \(rows) ORDER BY 1 LIMIT 5")
        all.append(
          OneSidedLinks(
            entity: side.entity, relationship: side.name, objects: count,
            first: first.compactMap { id($0, else: side.entity) }))
      }
    }
    return all
  }
}

import ManagedModel
import SQLite
import StoreTables

extension Store {
  /// The audits of its references.
  ///
  /// - Parameter name: the prefix of tables, such as `main.`.
  package func audits(in name: String = "") -> LinkAudits {
    LinkAudits(schema, layout, database, in: name)
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

import ManagedModel
import ManagedStore
import SQLite

extension Store {
  /// SELECT of a to-many's links: owner, destination, position in the relationship, position in the
  /// inverse.
  ///
  /// - Parameter schema: what the tables are called by; nothing on the store's own connection.
  func edges(
    of relationship: String, in entity: String, schema: String = "src."
  ) -> String? {
    switch table(of: entity)?.storage(of: relationship) {
    case .foreignKey(let table, let column, let order):
      return """
        SELECT \(quoted(column)) AS owner, Z_PK AS destination, \(order.map { quoted($0) } ?? "NULL") AS position, \
        NULL AS inverse FROM \(schema)\(quoted(table)) WHERE \(quoted(column)) IS NOT NULL
        """
    case .join(let join, let owner, let other, let order):
      let declared = self.schema.joins.first { $0.name == join }
      let inverse = declared.flatMap { $0.first == owner ? $0.firstOrder : $0.secondOrder }
        .flatMap { database.columns(of: join).contains($0) ? $0 : nil }
      return """
        SELECT \(quoted(owner)) AS owner, \(quoted(other)) AS destination, \
        \(order.map { quoted($0) } ?? "NULL") AS position, \(inverse.map { quoted($0) } ?? "NULL") AS inverse
        FROM \(schema)\(quoted(join))
        """
    case .reflexive(let join, let first, let second):
      return """
        SELECT \(quoted(first)) AS owner, \(quoted(second)) AS destination, NULL AS position, \
        NULL AS inverse FROM \(schema)\(quoted(join))
        """
    case .toOne, .some(.none), nil: return nil
    }
  }

  /// SELECT of where a path of relationships leads, in the columns of ``edges(of:in:schema:)``: each
  /// object once, however many ways lead to it.
  func edges(along path: [String], from entity: String) -> String? {
    var holder = entity
    var walked: String?
    for name in path {
      guard let step = model.relationship(named: name, of: holder), let table = table(of: holder)
      else { return nil }
      var next = edges(of: name, in: holder)
      if case .toOne(let column, _) = table.storage(of: name) {
        next =
          "SELECT Z_PK AS owner, \(quoted(column)) AS destination FROM src.\(quoted(table.table))"
      }
      guard let next else { return nil }
      walked =
        walked.map {
          "SELECT w.owner, n.destination FROM (\($0)) w JOIN (\(next)) n ON n.owner = w.destination"
        } ?? next
      holder = step.destination
    }
    return walked.map {
      """
      SELECT DISTINCT owner, destination, NULL AS position, NULL AS inverse FROM (\($0))
      WHERE destination IS NOT NULL
      """
    }
  }
}

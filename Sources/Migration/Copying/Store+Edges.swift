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
}

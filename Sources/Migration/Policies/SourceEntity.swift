import ManagedModel
import ManagedStore
import SQLite

/// How objects of one source entity are read, by compiled statements.
final class SourceEntity {
  let scope: ExpressionScope
  let attributes: [EntityTable.AttributeColumn]
  let indexes: [String: Int]
  private let table: EntityTable
  // The run has this object: holding it in turn would keep the connection, and its lock on what is
  // the store by then, for good.
  private unowned let run: PolicyRun
  private var byKey: Statement?
  private var relations: [String: (statement: Statement, destination: String)] = [:]

  init(_ entity: String, run: PolicyRun) throws {
    let store = run.store
    scope = ExpressionScope(store: store, entity: entity)
    table = try store.layout.knownTable(of: entity)
    self.run = run
    attributes = table.attributes
    indexes = Dictionary(
      first: table.attributes.enumerated().map { ($0.element.attribute.name, $0.offset) })
  }

  /// SQL of the attributes' values in a row `s`, in their order.
  var columns: [String] { attributes.map { $0.content(in: "s") } }

  var isThere: Bool { run.store.database.contains(table.table) }

  /// The object whose row a statement stands on, that statement, and which columns are the values: most
  /// policies look at few objects' values.
  private var standing: (object: Unmanaged<SourceObject>, rows: Statement, columns: Range<Int>)?

  func stand(on object: SourceObject, in rows: Statement, columns: Range<Int>) {
    standing = (Unmanaged.passUnretained(object), rows, columns)
  }

  /// The row is no longer stood on.
  func leave() { standing = nil }

  func values(of object: SourceObject) throws -> [Value] {
    if let standing, standing.object.toOpaque() == Unmanaged.passUnretained(object).toOpaque() {
      return standing.rows.row(standing.columns)
    }
    return try values(of: object.id.key)
  }

  private func values(of key: Int64) throws -> [Value] {
    let statement =
      try byKey
      ?? run.connection.prepare(
        """
        SELECT \((columns + ["1"]).joined(separator: ", ")) FROM src.\(quoted(table.table)) s
        WHERE s.Z_PK = ?
        """)
    byKey = statement
    return try statement.firstRow([.integer(key)])
  }

  func related(_ relationship: String, of key: Int64) throws -> [SourceObject] {
    let (statement, destination) = try relation(relationship)
    return try statement.rows([.integer(key)]).compactMap { row in
      guard let key = row[0].integer else { return nil }
      let entity = row[1].integer.flatMap { run.store.entityNames[$0] } ?? destination
      return try run.source(ObjectID(entity: entity, key: key))
    }
  }

  private func relation(_ name: String) throws -> (Statement, String) {
    if let known = relations[name] { return known }
    guard let relationship = run.store.model.relationship(named: name, of: scope.entity),
      let storage = table.storage(of: name),
      let other = run.store.table(of: relationship.destination)
    else { throw scope.unknown(name, in: scope.entity) }
    let made = (
      statement: try run.connection.prepare(storage.objects(in: other.table, schema: "src.")),
      destination: relationship.destination
    )
    relations[name] = made
    return made
  }
}

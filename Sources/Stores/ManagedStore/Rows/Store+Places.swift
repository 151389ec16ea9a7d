import ManagedModel
import SQLite
import StoreTables

extension Store {
  /// Number of an entity's objects that a filter takes, those of subentities included.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or a filter that does not fit it, or when SQLite fails.
  public func count(of entity: String, filter: RowFilter? = nil) throws -> Int {
    let table = try knownTable(of: entity)
    let source = try queryRows(RowQuery(entity: entity, filter: filter), table)
    guard database.contains(table.table) else { return 0 }
    return try count(source, source.restriction())
  }

  /// The key that stands `offset` places into an entity in key order; `nil` past the end.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or a filter that does not fit it, or when SQLite fails.
  public func key(
    at offset: Int, in entity: String, filter: RowFilter? = nil
  ) throws -> Int64? {
    guard offset >= 0 else { return nil }
    return try cursor(at: offset, in: RowQuery(entity: entity, filter: filter))?.key
  }

  /// The place of the row that stands `offset` places into a query's order; `nil` past the end.
  ///
  /// Only keys and what they are sorted by are passed over, in an index where there is one; the
  /// query's anchor, limit and properties do not matter.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or property, or when SQLite fails.
  public func cursor(at offset: Int, in query: RowQuery) throws -> RowCursor? {
    let table = try knownTable(of: query.entity)
    guard database.contains(table.table), offset >= 0 else { return nil }
    let source = try queryRows(query, table)
    return try cursor(
      source,
      """
      SELECT \(source.columns) FROM \(source.from) \(source.restriction()) \
      \(source.order(descending: query.sort.isDescending)) LIMIT 1 OFFSET \(number: Int64(offset))
      """)
  }

  /// The place of the row with that key in a query's order; `nil` where the query leaves it out.
  package func cursor(of key: Int64, in query: RowQuery) throws -> RowCursor? {
    let table = try knownTable(of: query.entity)
    guard database.contains(table.table) else { return nil }
    let source = try queryRows(query, table)
    return try cursor(
      source,
      """
      SELECT \(source.columns) FROM \(source.from) \
      \(source.restriction("t.Z_PK = \(value: .integer(key))"))
      """)
  }

  /// Number of rows that come before a place in a query's order.
  package func count(before cursor: RowCursor, in query: RowQuery) throws -> Int {
    let table = try knownTable(of: query.entity)
    guard database.contains(table.table) else { return 0 }
    let source = try queryRows(query, table)
    let before = source.beyond(cursor, descending: !query.sort.isDescending)
    return try count(source, source.restriction(before))
  }

  private func cursor(_ source: QueryRows, _ sql: SQLText) throws -> RowCursor? {
    try reading {
      let statement = try connection.prepare(
        "SELECT Z_PK, \(RowCursor.SortValue.columns(of: "k")) FROM (\(sql.sql))")
      try statement.bind(sql.values)
      guard try statement.step() else { return nil }
      return RowCursor(
        key: statement.integer(at: 0),
        sortValue: source.sort == nil ? .none : .init(statement, at: 1))
    }
  }

  private func count(_ source: QueryRows, _ restriction: SQLText) throws -> Int {
    try reading {
      let sql: SQLText = "SELECT count(*) FROM \(source.from) \(restriction)"
      return Int(try connection.value(sql.sql, sql.values)?.integer ?? 0)
    }
  }

  /// What a query is about, as parts of a statement.
  func queryRows(_ query: RowQuery, _ table: EntityTable) throws -> QueryRows {
    if let filter = query.filter, filter.entity != query.entity {
      throw CoreDataError(
        .usage, "the filter was made for \(filter.entity)", path: path, entity: query.entity)
    }
    return QueryRows(table, sortColumn: try sortColumn(query, table), filter: query.filter)
  }

  /// The column that a query sorts by; `nil` for the key.
  func sortColumn(_ query: RowQuery, _ table: EntityTable) throws -> String? {
    guard let property = query.sort.property else { return nil }
    if let column = table.column(of: property) ?? table.toOneColumn(of: property) {
      return column
    }
    throw unknownProperty(
      property, in: query.entity, try columns(of: query.entity).filter { !$0.isToMany })
  }
}

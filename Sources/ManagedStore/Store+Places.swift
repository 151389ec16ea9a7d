import ManagedModel
import SQLite

extension Store {
  /// Number of an entity's objects that a filter takes, those of subentities included.
  ///
  /// - Throws: ``CoreDataError`` for an unknown entity or a filter that does not fit it, or when SQLite fails.
  public func count(of entity: String, filter: RowFilter? = nil) throws -> Int {
    let table = try knownTable(of: entity)
    let condition = try condition(filter, of: entity)
    guard database.contains(table.table) else { return 0 }
    return try reading {
      let count = try connection.value(
        "SELECT count(*) FROM \(quoted(table.table)) t \(restriction(table, condition))",
        condition?.values ?? [])
      return Int(count?.integer ?? 0)
    }
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
    let sortColumn = try self.sortColumn(query, table)
    let condition = try condition(query.filter, of: query.entity)
    let direction = query.sort.isDescending ? "DESC" : "ASC"
    let order = sortColumn.map { "t.\(quoted($0)) \(direction), " } ?? ""
    return try reading {
      let statement = try connection.prepare(
        """
        SELECT t.Z_PK, \(sortColumn.map { "t." + quoted($0) } ?? "NULL")
        FROM \(quoted(table.table)) t \(restriction(table, condition))
        ORDER BY \(order)t.Z_PK \(direction) LIMIT 1 OFFSET ?
        """)
      try statement.bind((condition?.values ?? []) + [.integer(Int64(offset))])
      guard try statement.step() else { return nil }
      return RowCursor(
        key: statement.integer(at: 0),
        sortValue: sortColumn == nil ? .none : .init(statement, at: 1))
    }
  }

  /// The column that a query sorts by; `nil` for the key.
  func sortColumn(_ query: RowQuery, _ table: EntityTable) throws -> String? {
    guard let property = query.sort.property else { return nil }
    if let column = table.column(of: property) { return column }
    if case .toOne(let column, _) = table.storage(of: property) { return column }
    throw unknownProperty(
      property, in: query.entity, try columns(of: query.entity).filter { !$0.isToMany })
  }

  /// A filter's condition on the row `t`.
  func condition(_ filter: RowFilter?, of entity: String) throws -> SQLText? {
    guard let filter else { return nil }
    guard filter.entity == entity else {
      throw CoreDataError(
        .usage, "the filter was made for \(filter.entity)", path: path, entity: entity)
    }
    return filter.condition
  }

  private func restriction(_ table: EntityTable, _ condition: SQLText?) -> String {
    let parts = [table.entityCondition(alias: "t"), condition.map { "(\($0.sql))" }]
    let known = parts.compactMap { $0 }
    return known.isEmpty ? "" : "WHERE " + known.joined(separator: " AND ")
  }
}

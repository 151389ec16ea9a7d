import SQLite

/// A column that holds keys of the rows of a table: of a to-one, of an owner, of an end of a join table, of
/// history.
///
/// Its conditions are SQL over a row `t` of ``table``.
package struct KeyColumn: Sendable, Equatable {
  /// The table that the column is in.
  package let table: String
  /// What the column is called.
  package let column: String
  /// The table that it references.
  package let destination: String
  /// The column of the keys in that table.
  private let key: String
  /// Z_ENT of the rows that it may reference; `nil` for every row of the table.
  let kind: [Int64]?
  /// The prefix of tables, such as `main.`.
  private let schema: String

  /// A column that may reference every row of a table.
  package init(
    table: String, column: String, destination: String, key: String = "Z_PK", in schema: String = ""
  ) {
    self.init(table, column, destination, key, nil, schema)
  }

  /// A column that references objects of an entity and of those below it.
  package init(table: String, column: String, objects: EntityTable, in schema: String = "") {
    let kind = objects.isWholeTable ? nil : objects.numbers
    self.init(table, column, objects.table, "Z_PK", kind, schema)
  }

  private init(
    _ table: String, _ column: String, _ destination: String, _ key: String, _ kind: [Int64]?,
    _ schema: String
  ) {
    self.table = table
    self.column = column
    self.destination = destination
    self.key = key
    self.kind = kind
    self.schema = schema
  }

  /// The key of a row.
  package var value: String { "t." + quoted(column) }

  /// FROM of its table.
  package var rows: String { "FROM \(schema)\(quoted(table)) t" }

  /// True where there is a row `d` with the key, of which a condition is true.
  func isThere(where condition: String? = nil) -> String {
    let filter = condition.map { " AND \($0)" } ?? ""
    return """
      EXISTS (SELECT 1 FROM \(schema)\(quoted(destination)) d \
      WHERE d.\(quoted(key)) = \(value)\(filter))
      """
  }

  /// True of a row `d` of the kind; `nil` where every row is.
  var isOfKind: String? { kind.map { "d.Z_ENT IN (\($0.list))" } }

  /// True of a row `d` of another kind; `nil` where none can be.
  private var isOther: String? { isOfKind.map { "(\($0)) IS NOT TRUE" } }

  /// True where the key is that of a row of the kind.
  package var isSound: String { isThere(where: isOfKind) }

  /// True where the key is that of a row of another kind; `nil` where none can be.
  var isOfOtherKind: String? { isOther.map { isThere(where: $0) } }

  /// True where no row has the key.
  package var isDangling: String { "(\(value) IS NOT NULL AND NOT \(isThere()))" }

  /// FROM and WHERE of the rows `d` of another kind that it references; `nil` where none can be.
  package var strangers: String? {
    isOther.map {
      "\(rows) JOIN \(schema)\(quoted(destination)) d ON d.\(quoted(key)) = \(value) WHERE \($0)"
    }
  }
}

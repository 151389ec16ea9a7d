import ManagedStore
import SQLite
import Salvage

/// The rows that an entity mapping gives one table of the destination: filled, and compared
/// afterwards, by one SELECT over the source.
struct RowProgram {
  var mapping: String
  var entity: String
  var table: String
  var source: RowSource
  var conditions: [RowCondition] = []
  /// Z_PK, Z_ENT and Z_OPT first.
  var columns: [ColumnProgram]

  /// What stands behind FROM, such as `src."ZPERSON" s`.
  var from: String { source.sql }
  var ranges: (table: String, key: String, column: String) { source.ranges }

  /// The columns that the rows are written with, with the SQL of their values.
  var written: [(name: String, sql: String)] {
    columns.compactMap { column in column.value.sql.map { (column.name, $0) } }
  }

  /// The columns that the model asks for, as the table has them.
  var own: ArraySlice<ColumnProgram> { columns.dropFirst(3) }

  /// What a column holds; `nil` for one that these rows say nothing of.
  func value(of column: String) -> ColumnValue? { columns.first { $0.name == column }?.value }

  /// Whether the rows are written with a value in a column.
  func writes(_ column: String) -> Bool { value(of: column)?.sql != nil }

  /// Whether a column is set when all objects are there.
  func isLater(_ column: String) -> Bool { value(of: column)?.isLater ?? false }

  /// The SELECT of the rows whose range key lies between `?1` and `?2`.
  var select: String {
    let all = ["\(ranges.key) BETWEEN ?1 AND ?2"] + conditions.map { "(\($0.sql))" }
    return "SELECT \(values) FROM \(from) WHERE \(all.joined(separator: " AND "))"
  }

  /// The same rows, all at once.
  var selectAll: String { "SELECT \(values) FROM \(from)\(conditions.filter)" }

  private var values: String {
    written.map { "\($0.sql) AS \(quoted($0.name))" }.joined(separator: ", ")
  }

  var insert: String {
    let names = written.map { quoted($0.name) }.joined(separator: ", ")
    return "INSERT INTO main.\(quoted(table)) (\(names)) \(select) ORDER BY \(ranges.key)"
  }
}

/// A column of a table, and what it holds in some rows.
struct ColumnProgram {
  var name: String
  var value: ColumnValue

  init(_ name: String, _ value: ColumnValue) { (self.name, self.value) = (name, value) }
}

/// Where the rows of a mapping come from; a row of the source is `s` in each.
enum RowSource: Equatable {
  /// Objects of a table of the source, each of which becomes one.
  case objects(of: String)
  /// Groups of equal values, in a temporary table `g`, each with its first object.
  case groups(String, of: String)
  /// What is made for objects, in a temporary table `t`, each with the object that it comes from.
  case children(String, of: String)

  var sql: String {
    switch self {
    case .objects(let table): "src.\(quoted(table)) s"
    case .groups(let groups, let table):
      "temp.\(groups) g CROSS JOIN src.\(quoted(table)) s ON s.Z_PK = g.source"
    case .children(let tree, let table):
      "temp.\(tree) t JOIN src.\(quoted(table)) s ON s.Z_PK = t.source"
    }
  }

  /// The table whose keys are walked in ranges, as SQL, and the column that is the key there.
  var ranges: (table: String, key: String, column: String) {
    switch self {
    case .objects(let table): ("src." + quoted(table), "s.Z_PK", "Z_PK")
    case .groups(let groups, _): ("temp." + groups, "g.key", "key")
    case .children(let tree, _): ("temp." + tree, "t.key", "key")
    }
  }
}

/// What is true of the source rows that a mapping takes.
struct RowCondition {
  var sql: String
  /// The entity that the rows are of, where the condition says only that.
  var entity: Int64?

  init(_ sql: String, entity: Int64? = nil) { (self.sql, self.entity) = (sql, entity) }
}

extension [RowCondition] {
  var allTrue: String { map(\.sql).allTrue }
  var filter: String { map(\.sql).filter }
}

/// Conditions of SQL.
extension [String] {
  var allTrue: String { map { "(\($0))" }.joined(separator: " AND ") }
  /// WHERE all of them are true; nothing where there are none.
  var filter: String { isEmpty ? "" : " WHERE " + allTrue }
}

/// What a column of a new row holds, by the row `s` of the source that it comes from.
///
/// What a column or a constant can decide is decided by it, so that the plan, the run and the verification ask the same
/// value; only what SQLite must compute is SQL, and nobody reads that.
indirect enum ColumnValue: Equatable {
  /// What the source's row holds in a column.
  case column(String)
  case constant(Value)
  /// What the source's row holds in a column, with some entity IDs become others.
  case renumbered(String, [Int64: Int64])
  /// The value where the source's row holds something in a column; else NULL.
  case ifPresent(String, ColumnValue)
  /// The value, or the other one where it is NULL.
  case orElse(ColumnValue, ColumnValue)
  /// What this program's own SQL looks up; with the columns of `s` that it reads.
  case lookup(String, reading: Set<String>)
  /// What an expression gives, or a function that reads files: it may fail. With the columns of `s` that it reads.
  case computed(String, reading: Set<String>)
  /// The position in an order; objects without one are given one afterwards. `nil` where the source has none.
  case position(ColumnValue?)
  /// A derived attribute that is computed when all is there; with what a row that stays has meanwhile.
  case derived(DerivedFilling, former: ColumnValue)
  /// Set when all objects are there, by links; a row may be written with another value before.
  case later(first: ColumnValue?)
  /// Nothing: a column of the entity's own that has no source.
  case empty
  /// Nothing: a column of another entity of the table.
  case foreign

  /// SQL over the row `s`; `nil` where the row is written without the column.
  var sql: String? {
    switch self {
    case .column(let name): Self.reference(to: name)
    case .constant(let value): value.literal
    case .renumbered(let name, let numbers): Self.renumbering(Self.reference(to: name), numbers)
    case .ifPresent(let name, let value):
      "CASE WHEN \(Self.reference(to: name)) IS NOT NULL THEN \(value.sql ?? "NULL") END"
    case .orElse(let value, let other): "coalesce(\(value.sql ?? "NULL"), \(other.sql ?? "NULL"))"
    case .lookup(let sql, _), .computed(let sql, _): sql
    case .position(let value), .later(let value): value?.sql
    case .derived, .empty, .foreign: nil
    }
  }

  /// Columns of the row `s` that the value is read from.
  var reads: Set<String> {
    switch self {
    case .column(let name), .renumbered(let name, _): [name]
    case .ifPresent(let name, let value): value.reads.union([name])
    case .orElse(let value, let other): value.reads.union(other.reads)
    case .lookup(_, let names), .computed(_, let names): names
    case .position(let value), .later(let value): value?.reads ?? []
    case .constant, .derived, .empty, .foreign: []
    }
  }

  /// Whether computing it can fail, or reads what a person wrote.
  var isComputed: Bool {
    switch self {
    case .computed: true
    case .ifPresent(_, let value), .orElse(let value, _): value.isComputed
    case .position(let value), .later(let value): value?.isComputed ?? false
    default: false
    }
  }

  /// The column of `s` that it is as it stands there, if it is one.
  var plainColumn: String? {
    switch self {
    case .column(let name), .position(.column(let name)?): name
    default: nil
    }
  }

  var isLater: Bool { if case .later = self { true } else { false } }

  /// What a row that stays in its table has before the rest is there.
  var meanwhile: ColumnValue { if case .derived(_, let former) = self { former } else { self } }

  /// What is compared without SQLite; `nil` where only SQLite can compute the value.
  ///
  /// - Parameter source: the table that the rows come from. Its key is no column of a record.
  func comparison(in source: IndexedTable) -> RowComparison.Value? {
    func place(of name: String) -> Int? {
      source.columns.firstIndex(of: name).flatMap { $0 == source.key ? nil : $0 }
    }
    switch self {
    case .column(let name): return place(of: name).map { .column($0) }
    case .constant(.null), .empty, .foreign: return .null
    case .constant(.integer(let number)): return .integer(number)
    case .constant(.text(let text)): return .text(Array(text.utf8))
    case .renumbered(let name, let numbers):
      return place(of: name).map { .renumbered($0, numbers) }
    case .ifPresent(let name, let value):
      guard let place = place(of: name), let value = value.comparison(in: source) else {
        return nil
      }
      return .present(place, value)
    case .position(let value):
      // Objects that had no position in an order were given one.
      guard case .column(let name)? = value else { return nil }
      return place(of: name).map { .known($0) }
    case .constant, .orElse, .lookup, .computed, .derived, .later: return nil
    }
  }

  /// NULL where a condition of SQL over `s` is not true.
  func kept(where condition: String?) -> ColumnValue {
    guard let condition, let sql else { return self }
    return .lookup("CASE WHEN \(condition) THEN \(sql) END", reading: reads)
  }

  /// A number as SQL, with some become others.
  static func renumbering(_ sql: String, _ numbers: [Int64: Int64]) -> String {
    let cases = numbers.sorted { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }
    return "CASE \(sql) \(cases.joined(separator: " ")) ELSE \(sql) END"
  }

  /// A column of the row `s` as SQL.
  static func reference(to column: String) -> String {
    ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) ? "s." + column : "s." + quoted(column)
  }
}

extension CompiledExpression {
  /// The value, where names and constants show it.
  var value: ColumnValue? { plain.map(ColumnValue.init) }
  /// The value.
  var asValue: ColumnValue { value ?? .computed(sql, reading: []) }
}

extension ColumnValue {
  init(_ plain: CompiledExpression.Plain) {
    switch plain {
    case .column(let name): self = .column(name)
    case .constant(let value): self = .constant(value)
    }
  }
}

import Files
import ManagedModel
import ManagedStore
import Mapping
import SQLite

extension EntityMapping {
  /// Runs what computes the mapping's values: an error that they cause names the mapping.
  ///
  /// - Parameter property: the property whose value it is, asked only after an error.
  func evaluating<T>(property: () -> String? = { nil }, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SQLiteError where error.isEvaluation {
      throw CoreDataError(
        .refused, code: .migration,
        "in the mapping “\(name)”: an expression fails: \(error.message)",
        entity: destination ?? source, property: property(),
        hint: "Guard it, such as by CASE WHEN json_valid(x) THEN … END. The store is unchanged.")
    }
  }
}

extension MappingModel {
  /// Runs what computes the values of a mapping's rows; an error that they cause names the mapping,
  /// the entity and the property.
  func evaluating<T>(
    _ row: RowProgram, _ schema: StoreSchema, on connection: Connection, _ body: () throws -> T
  ) throws -> T {
    guard var entityMapping = mapping(named: row.mapping) else { return try body() }
    // Objects that hang on others are of another entity than their mapping.
    entityMapping.destination = row.entity
    return try entityMapping.evaluating(
      property: { row.failingColumn(on: connection).flatMap { schema.property(of: $0, in: row) } },
      body)
  }
}

extension RowProgram {
  /// Computes every value that can fail; `nil` where none can.
  var evaluation: String? { evaluation(of: columns.filter(\.value.isComputed)) }

  /// The first column whose values cannot be computed.
  func failingColumn(on connection: Connection) -> String? {
    columns.first { column in
      do {
        if let sql = evaluation(of: [column]) { _ = try connection.value(sql) }
        return false
      } catch {
        return (error as? SQLiteError)?.isEvaluation ?? false
      }
    }?.name
  }

  private func evaluation(of columns: [ColumnProgram]) -> String? {
    let counts = columns.compactMap { $0.value.sql.map { "count(\($0))" } }
    guard !counts.isEmpty else { return nil }
    return "SELECT \(counts.joined(separator: ", ")) FROM \(from)\(conditions.filter)"
  }
}

extension StoreSchema {
  func content(of column: String, in row: RowProgram) -> Content? {
    table(named: row.table)?.columns.first { $0.name == column }?.content
  }

  func property(of column: String, in row: RowProgram) -> String? {
    switch content(of: column, in: row) {
    case .attribute(_, let name), .toOne(_, let name), .toOneEntity(_, let name),
      .toOneOrder(_, let name), .owner(_, let name), .ownerOrder(_, let name):
      name
    case nil: nil
    }
  }

  /// The attribute that a column of a row keeps, where it is one of the row's entity.
  func attribute(of column: String, in row: RowProgram) -> Attribute? {
    guard case .attribute(let declarer, let name)? = content(of: column, in: row),
      model.isKind(row.entity, of: declarer)
    else { return nil }
    return model.storedAttribute(named: name, of: row.entity)
  }
}

extension ValueExpression {
  /// The expression as SQL; an error names the mapping and the property that it is in.
  func compiled(
    in scope: ExpressionScope, mapping: String, property: String?, attribute: Attribute? = nil
  ) throws -> CompiledExpression {
    do {
      switch form {
      case .sql(let text): return try scope.compile(recipe: text, for: attribute)
      case .expression(let expression):
        if let attribute { return try scope.compile(expression, for: attribute) }
        return try scope.compile(expression)
      case .predicate(let format): return try scope.compile(predicate: format)
      }
    } catch var error as CoreDataError {
      error.message = "in the mapping “\(mapping)”: \(error.message)"
      if error.entity == nil { error.entity = scope.entity }
      if error.property == nil { error.property = property }
      throw error
    }
  }
}

/// Gives out the keys of each destination table, so that no two mappings claim one.
struct KeyPlanning {
  /// Highest key given out in each destination table (by its root entity).
  private(set) var bounds: [String: Int64] = [:]
  /// Source tables and entities whose objects keep their keys in a destination table.
  private var keepers: [String: (table: String, entities: Set<String>)] = [:]
  private let store: Store
  private let maxima: [String: Int64]

  init(store: Store) throws {
    self.store = store
    var maxima: [String: Int64] = [:]
    for table in store.entityTables where table.isWholeTable && store.database.contains(table.table)
    {
      let used = try store.reading {
        try store.connection.value("SELECT max(Z_PK) FROM \(quoted(table.table))")
      }
      maxima[table.table] = used?.integer ?? 0
    }
    self.maxima = maxima
  }

  /// Objects of one entity keep their keys in a table where nobody else could have them: where all
  /// others that keep theirs come from the same source table.
  mutating func offset(from entity: String, into root: String) throws -> Int64 {
    guard let table = store.table(of: entity)?.table else { return 0 }
    let highest = maxima[table] ?? 0
    if let keeper = keepers[root] {
      guard keeper.table == table, !keeper.entities.contains(entity) else {
        return try room(for: highest, in: root)
      }
    } else if let taken = bounds[root], taken > 0 {
      return try room(for: highest, in: root)
    }
    keepers[root, default: (table, [])].entities.insert(entity)
    bounds[root] = max(bounds[root] ?? 0, highest)
    return 0
  }

  private mutating func room(for highest: Int64, in root: String) throws -> Int64 {
    let taken = bounds[root] ?? 0
    let (bound, isTooLarge) = taken.addingReportingOverflow(max(0, highest))
    guard !isTooLarge else { throw PrimaryKeys.exhausted(root) }
    bounds[root] = bound
    return taken
  }

  /// The last key given out so far in a destination table.
  func bound(of root: String) -> Int64 { bounds[root] ?? 0 }

  /// Keys up to this one are taken from now on.
  mutating func take(upTo key: Int64, of root: String) {
    bounds[root] = max(bounds[root] ?? 0, key)
  }
}

/// The SQL functions that a migration's statements use.
enum MigrationFunctions {
  static func define(on connection: Connection, store: Store) throws {
    try ExpressionFunctions.define(on: connection)
    try ExternalContent.define(on: connection, files: store.files, storeUUID: store.metadata.uuid)
    // Marks bytes as the row's own, in a column that may also name a file.
    try connection.defineFunction("strata_inline", arguments: 1) { arguments in
      switch arguments.first {
      case .blob(let bytes): .blob(MarkedBytes.row(bytes).column)
      case .text(let text): .blob(MarkedBytes.row(Array(text.utf8)).column)
      case .null, nil: .null
      case .some(let other): other
      }
    }
    // Whether a column of an attribute type, given by its number, cannot hold a value as that type.
    let column = NumericColumn()
    try connection.defineFunction("strata_misplaced", arguments: 2) { arguments in
      guard arguments.count == 2, let number = arguments[1].integer.flatMap(UInt32.init(exactly:)),
        let type = AttributeType(rawValue: number)
      else { return .null }
      return .integer(type.cannotHold(arguments[0], in: column) ? 1 : 0)
    }
  }
}

/// What SQLite makes of a value that goes into a column of numbers: text that is a number becomes one.
private final class NumericColumn {
  private let connection: Connection?

  init() {
    connection = try? Connection(path: ":memory:", mode: .create)
    try? connection?.execute("CREATE TABLE n (v NUMERIC)")
  }

  func stored(_ value: Value) -> Value {
    switch value {
    case .text, .real:
      let sql = "INSERT OR REPLACE INTO n (rowid, v) VALUES (1, ?) RETURNING v"
      return (try? connection?.value(sql, [value])) ?? value
    default: return value
    }
  }
}

extension AttributeType {
  fileprivate func cannotHold(_ value: Value, in column: NumericColumn) -> Bool {
    guard let classes = storageClasses else { return false }
    var value = value
    switch value {
    case .null: return false
    case .integer where classes.contains("integer"): break
    case .real where classes.contains("real"): return false
    // A number in a column of text becomes text.
    case .integer, .real: if classes == ["text"] { return false } else { fallthrough }
    default: if classes.contains("integer") { value = column.stored(value) }
    }
    switch value {
    case .integer(let number):
      return !classes.contains("integer") || wholeNumbers?.contains(number) == false
    case .real: return !classes.contains("real")
    case .text: return !classes.contains("text")
    case .blob: return !classes.contains("blob")
    default: return false
    }
  }
}

/// The SQL functions that compiled expressions call on the connection that runs a migration.
enum ExpressionFunctions {
  /// Defines those of every store, and the time.
  ///
  /// - Parameter now: the time in seconds since 2001 that `strata_now()` answers, the same to all
  ///   statements, since what is verified must equal what was written.
  static func define(on connection: Connection, now: Double = CoreDataDate.now) throws {
    try StoreFunctions.define(on: connection)
    try connection.defineFunction("strata_now", arguments: 0) { _ in .real(now) }
  }
}

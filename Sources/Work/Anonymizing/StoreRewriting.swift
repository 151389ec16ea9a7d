import DataMasking
import ManagedModel
import ManagedStore
import SQLite

/// Replaces the values in a private copy of a store.
struct StoreRewriting {
  let store: Store
  let columns: StoreColumns
  let names: Pseudonyms
  let data: DataPseudonyms
  /// The copy.
  let connection: Connection
  private(set) var replaced = 0
  private(set) var unchanged = 0
  /// The same by column, `ZRECIPE.ZSERVES`, in the order of the tables; columns without one are left out.
  private(set) var unchangedColumns: [(name: String, values: Int)] = []
  private(set) var ownTables: [(name: String, rows: Int)] = []
  private(set) var uuid = ""
  private var numbers: NumberOrders
  private let systemTexts: SystemTexts

  init(
    store: Store, columns: StoreColumns, names: Pseudonyms, data: DataPseudonyms,
    connection: Connection
  ) {
    (self.store, self.columns, self.names) = (store, columns, names)
    (self.data, self.connection) = (data, connection)
    numbers = NumberOrders(StoreColumns.namedNumbers(of: store.model))
    systemTexts = SystemTexts(store.model)
  }

  mutating func run(
    keepsOwnTables: Bool, isCancelled: @escaping () -> Bool, progress: (Int, Int) -> Void
  ) throws {
    let source = store.connection
    guard columns.trees.isEmpty || connection.hasRTrees else {
      throw CoreDataError(
        .refused, "the store has R-trees, which this SQLite cannot write", path: store.path,
        hint: "Use a build of SQLite with SQLITE_ENABLE_RTREE.")
    }
    connection.fireTriggers(false)
    try StoreFunctions.define(on: connection)
    var total = 0
    for table in columns.tables where !table.columns.isEmpty {
      total += Int(try source.value("SELECT count(*) FROM \(quoted(table.name))")?.integer ?? 0)
    }
    try connection.transaction {
      let exact = try exactDerivedRows()
      try collectNumbers(source)
      numbers.choose(names.hash)
      let statistics = try savedStatistics()
      let indexes = try droppedIndexes()
      var done = 0
      for table in columns.tables where !table.columns.isEmpty {
        try rewrite(table, from: source) {
          if isCancelled() { throw CoreDataError(.cancelled, "cancelled") }
          done += $0
          progress(done, total)
        }
      }
      try computeDerived(exact)
      try rewriteMetadata()
      if !keepsOwnTables { try emptyOwnTables() } else { try countOwnTables() }
      for sql in indexes { try connection.execute(sql) }
      try restore(statistics)
      for tree in columns.trees {
        try connection.execute("DELETE FROM \(quoted(tree.name))")
        try connection.execute(tree.fill)
      }
    }
  }

  // MARK: - Numbers

  private mutating func collectNumbers(_ source: Connection) throws {
    for table in columns.tables {
      let own: [(String, NumberOrders.Kind)] = table.columns.compactMap {
        switch $0.treatment {
        case .replaced(let kind?, _): ($0.name, kind)
        case .external, .uuid: ($0.name, .integer)
        default: nil
        }
      }
      guard !own.isEmpty else { continue }
      let list = own.map { quoted($0.0) }.joined(separator: ", ")
      let statement = try source.prepare("SELECT \(list) FROM \(quoted(table.name))")
      while try statement.step() {
        for (index, column) in own.enumerated() {
          switch statement.number(at: index) {
          case .null: continue
          case let value: numbers.add(value, column.1)
          }
        }
      }
    }
  }

  // MARK: - Rows

  private static let batch = 500

  private mutating func rewrite(
    _ table: ReplacedTable, from source: Connection, _ tell: (Int) throws -> Void
  ) throws {
    let names = table.columns.map { quoted($0.name) }
    let reading = try source.prepare(
      "SELECT rowid, \(names.joined(separator: ", ")) FROM \(quoted(table.name)) ORDER BY rowid")
    let writing = try connection.prepare(
      """
      UPDATE \(quoted(table.name)) SET \(names.map { "\($0) = ?" }.joined(separator: ", "))
      WHERE rowid = ?
      """)
    var rows = 0
    var same = [Int](repeating: 0, count: table.columns.count)
    defer {
      for (column, count) in zip(table.columns, same) where count > 0 {
        unchangedColumns.append(("\(table.name).\(column.name)", count))
      }
    }
    while try reading.step() {
      writing.clear()
      for (index, column) in table.columns.enumerated() {
        let before = unchanged
        try replace(reading, index + 1, column.treatment, writing, index)
        same[index] += unchanged - before
      }
      try writing.bind(.integer(reading.integer(at: 0)), at: names.count)
      while try writing.step() {}
      rows += 1
      if rows == Self.batch {
        try tell(rows)
        rows = 0
      }
    }
    try tell(rows)
  }

  private mutating func replace(
    _ reading: Statement, _ place: Int, _ treatment: ColumnTreatment, _ writing: Statement,
    _ target: Int
  ) throws {
    let value = reading.value(at: place)
    if case .null = value { return }
    if case .text(let text) = value, let broken = reading.brokenText(at: place, decodedAs: text) {
      // Not a text that can be read: bytes that are none either.
      replaced += 1
      var bytes = data.random(broken)
      if !bytes.isEmpty { bytes[0] = broken[0] == 0xFF ? 0xFE : 0xFF }
      return try bytes.withUnsafeBytes { try writing.bind($0, isText: true, at: target) }
    }
    let other = replacement(of: value, treatment)
    if other == value { unchanged += 1 } else { replaced += 1 }
    try writing.bind(other, at: target)
  }

  private func replacement(of value: Value, _ treatment: ColumnTreatment) -> Value {
    switch (treatment, value) {
    case (.keptExternal, .blob(let bytes)):
      return .blob(ExternalName.renamed(bytes, names) ?? bytes)
    case (.keptExternal, _): return value
    case (.external, .blob(let bytes)):
      if let renamed = ExternalName.renamed(bytes, names) { return .blob(renamed) }
      if case .row(let content) = MarkedBytes(bytes), content.count < bytes.count {
        return .blob(MarkedBytes.row(data.data(content)).column)
      }
      return .blob(data.data(bytes))
    case (.uuid, .blob(let bytes)) where bytes.count == 16: return .blob(names.uuid(bytes))
    case (.systemText, .text(let text)):
      return .text(systemTexts.stays(text) ? text : names.text(text))
    case (.systemData, .blob(let bytes)): return .blob(data.data(bytes, keepsNumbers: true))
    case (.replaced(_, let rules), .text(let text)): return .text(names.text(text, rules))
    case (_, .text(let text)): return .text(names.text(text))
    case (_, .blob(let bytes)): return .blob(data.data(bytes))
    case (.replaced(let kind?, _), _): return numbers.replaced(value, kind)
    case (.external, _), (.uuid, _): return numbers.replaced(value, .integer)
    default: return value
    }
  }

  // MARK: - Derived attributes

  /// Of each derived attribute the rows whose value is what it is derived from; a temporary table for each.
  private func exactDerivedRows() throws -> [(
    table: String, column: String, sql: String, rows: String
  )] {
    var result: [(table: String, column: String, sql: String, rows: String)] = []
    for (index, entry) in columns.derived.enumerated() {
      let rows = "strata_exact_\(index)"
      let column = quoted(entry.column)
      try connection.execute("CREATE TEMP TABLE \(rows) (pk INTEGER PRIMARY KEY)")
      do {
        try connection.execute(
          """
          INSERT INTO \(rows) SELECT s.Z_PK FROM main.\(quoted(entry.table)) AS s
          WHERE s.\(column) IS \(entry.sql) AND s.\(column) IS NOT NULL
          AND s.Z_ENT IN (\(entry.numbers.list))
          """)
      } catch let error as SQLiteError where !error.isInterrupted {
        // An expression over a table that is not there: its values are replaced like others.
        continue
      }
      result.append((entry.table, entry.column, entry.sql, rows))
    }
    return result
  }

  private func computeDerived(
    _ exact: [(table: String, column: String, sql: String, rows: String)]
  ) throws {
    // What a value is derived from may be derived itself.
    for _ in 0..<2 {
      for entry in exact {
        try connection.execute(
          """
          UPDATE main.\(quoted(entry.table)) AS s SET \(quoted(entry.column)) = \(entry.sql)
          WHERE s.Z_PK IN (SELECT pk FROM temp.\(entry.rows))
          """)
      }
    }
    for index in columns.derived.indices {
      try connection.execute("DROP TABLE temp.strata_exact_\(index)")
    }
  }

  // MARK: - Indexes and statistics

  /// Values move past each other, which a unique index would refuse.
  private func droppedIndexes() throws -> [String] {
    let tables = Set(columns.tables.filter { !$0.columns.isEmpty }.map(\.name))
    let rows = try connection.rows(
      "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid"
    )
    var made: [String] = []
    for row in rows {
      guard let name = row[0].text, let table = row[1].text, let sql = row[2].text,
        tables.contains(table)
      else { continue }
      try connection.execute("DROP INDEX \(quoted(name))")
      made.append(sql)
    }
    return made
  }

  /// Counts of the query planner's; its samples are values.
  private func savedStatistics() throws -> [[Value]]? {
    let tables = Set(
      try connection.rows("SELECT name FROM sqlite_master WHERE name GLOB 'sqlite_stat?'")
        .compactMap { $0.first?.text })
    for name in ["sqlite_stat2", "sqlite_stat3", "sqlite_stat4"] where tables.contains(name) {
      try connection.execute("DELETE FROM \(name)")
    }
    guard tables.contains("sqlite_stat1") else { return nil }
    return try connection.rows("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY rowid")
  }

  private func restore(_ statistics: [[Value]]?) throws {
    guard let statistics else { return }
    try connection.execute("DELETE FROM sqlite_stat1")
    let statement = try connection.prepare("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)")
    for row in statistics { try statement.run(row) }
  }

  // MARK: - Metadata

  /// The store gets another UUID. What Core Data wrote stays, and what anybody else did is replaced, keys too.
  private mutating func rewriteMetadata() throws {
    let uuid =
      UUIDText.bytes(store.metadata.uuid).map { UUIDText.text(names.uuid($0)) }
      ?? names.text(store.metadata.uuid)
    var values: [String: PropertyListValue] = [:]
    for (key, value) in store.metadata.values {
      if systemTexts.isMetadataKey(key) {
        values[key] = value
      } else {
        values[names.text(key)] = other(value)
      }
    }
    try connection.run(
      "UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?",
      [.text(uuid), .blob(PropertyList.binary(.dictionary(values)))])
    self.uuid = uuid
  }

  private func other(_ value: PropertyListValue) -> PropertyListValue {
    switch value {
    case .null, .boolean, .uid: value
    case .integer(let number): .integer(names.integer(number, in: .min ... .max))
    case .real(let number): .real(names.real(number))
    case .date(let seconds): .date(names.real(seconds))
    case .data(let bytes): .data(data.data(bytes))
    case .string(let text): .string(names.text(text))
    case .array(let items): .array(items.map(other))
    case .dictionary(let entries):
      .dictionary(
        Dictionary(entries.map { (names.text($0.key), other($0.value)) }) { first, _ in first })
    }
  }

  // MARK: - An app's own tables

  private mutating func countOwnTables() throws {
    let virtual = store.database.virtual
    for name in columns.own {
      let object = store.database.object(ofTable: name)
      // The rows of a virtual table are in its shadows, and its module may be unknown.
      guard !virtual.contains(name), !object.isShadow(of: virtual) else {
        if virtual.contains(name) { ownTables.append((name, 0)) }
        continue
      }
      let count = try connection.value("SELECT count(*) FROM \(quoted(name))")?.integer ?? 0
      ownTables.append((name, Int(count)))
    }
  }

  private mutating func emptyOwnTables() throws {
    try countOwnTables()
    let virtual = store.database.virtual
    for name in columns.own where !virtual.contains(name) {
      let object = store.database.object(ofTable: name)
      let owner = virtual.filter { name.hasPrefix($0 + "_") }.max { $0.count < $1.count }
      if object.isShadow(of: virtual), let owner {
        try VirtualTable(owner, sql: store.database.sql[owner] ?? "").empty(name, on: connection)
      } else {
        try connection.execute("DELETE FROM \(quoted(name))")
      }
    }
    if store.database.tables["sqlite_sequence"] != nil {
      let statement = try connection.prepare("DELETE FROM sqlite_sequence WHERE name = ?")
      for name in columns.own { try statement.run([.text(name)]) }
    }
  }
}

extension Statement {
  /// The number in a column; NULL for what is none.
  fileprivate func number(at column: Int) -> Value {
    switch value(at: column) {
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    default: .null
    }
  }
}

/// A virtual table of an app's own, which is emptied through the tables behind it: its module, or what that needs,
/// may be the app's alone.
struct VirtualTable {
  private let name: String
  private let module: String

  init(_ name: String, sql: String) {
    self.name = name
    let words = sql.uppercased().split { $0.isWhitespace || $0 == "(" }
    module =
      words.firstIndex(of: "USING").flatMap { index in
        words.indices.contains(index + 1) ? String(words[index + 1]) : nil
      } ?? ""
  }

  /// Empties one of the tables behind it, so that the virtual table is a sound one without rows.
  func empty(_ shadow: String, on connection: Connection) throws {
    let part = shadow.dropFirst(name.count + 1)
    switch (module, part) {
    // What it was made with; nothing of its rows.
    case ("FTS5", "config"): return
    case ("FTS5", "data"):
      // An index of nothing has a record of its averages and one of its structure.
      try connection.execute("DELETE FROM \(quoted(shadow))")
      try connection.execute(
        """
        INSERT INTO \(quoted(shadow)) (id, block) VALUES (1, x''), (10, x'00000000000000')
        """)
    case ("RTREE", "node"), ("RTREE_I32", "node"):
      // The root is a page of zeros.
      let size =
        try connection.value(
          "SELECT length(data) FROM \(quoted(shadow)) WHERE nodeno = 1")?.integer ?? 0
      try connection.execute("DELETE FROM \(quoted(shadow))")
      try connection.run(
        "INSERT INTO \(quoted(shadow)) (nodeno, data) VALUES (1, zeroblob(?))", [.integer(size)])
    default: try connection.execute("DELETE FROM \(quoted(shadow))")
    }
  }
}

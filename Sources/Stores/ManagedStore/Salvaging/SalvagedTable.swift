import SQLite
import Salvage
import StoreTables

/// A table of the database that is made, and what was put into it.
final class SalvagedTable {
  let name: String
  /// The columns, in the order of the records.
  let columns: [DatabaseTables.Column]
  /// The column that is the row's key itself; `nil` for a table without one.
  let keyColumn: Int?
  /// The Z_ENT that its rows have; empty for a table that is no entity's.
  let numbers: Set<Int64>
  /// What its records look like.
  let shape: RowShape
  /// The page that its tree began at; 0 where that is not known.
  let root: Int

  /// Rows that were put in.
  private(set) var rows = 0
  /// Rows of them that were found by looking, not by the tree, or whose page nothing vouches for.
  private(set) var guessed = 0
  /// Rows that the table's constraints refuse, and that had to be left out.
  private(set) var refused: [Int64] = []
  /// Values that are lost of rows that were put in: keys and columns, as far as they are listed.
  private(set) var cut: [(key: Int64, column: String)] = []

  private var connection: Connection
  private let encoding: FileHeader.Encoding
  private var statements: [Int: Statement] = [:]
  /// Z_OPT of the objects that were found by looking, which each save raises, by key.
  private var savesOfGuessed: [Int64: Int64] = [:]
  private static let mostListed = 10_000
  /// Of more, the first that was found stays.
  private static let mostCompared = 100_000

  init(
    name: String, numbers: Set<Int64>, root: Int, connection: Connection,
    encoding: FileHeader.Encoding
  ) throws {
    self.name = name
    self.numbers = numbers
    self.root = root
    self.connection = connection
    self.encoding = encoding
    (columns, keyColumn) = try Self.columns(of: name, connection)
    shape = RowShape(of: name, columns, keyColumn: keyColumn, numbers: numbers)
  }

  /// The columns of a table, and which of them is the row's key.
  static func columns(
    of name: String, _ connection: Connection
  ) throws -> (columns: [DatabaseTables.Column], key: Int?) {
    let info = try connection.rows("PRAGMA table_info(\(quoted(name)))")
    let columns = info.compactMap { row -> DatabaseTables.Column? in
      guard row.count >= 6, let name = row[1].text else { return nil }
      return .init(name: name, type: row[2].text ?? "", isPrimaryKey: row[5].integer != 0)
    }
    let keys = columns.indices.filter { columns[$0].isPrimaryKey }
    let key =
      keys.count == 1 && columns[keys[0]].type.uppercased() == "INTEGER" ? keys[0] : nil
    return (columns, key)
  }

  /// Makes the table anew, of its columns alone: rows of different times may have the same unique values, and lack
  /// values that are mandatory. It is left as it is where its columns are others than Core Data's.
  func dropConstraints() throws {
    let info = try connection.rows("PRAGMA table_xinfo(\(quoted(name)))")
    guard let keyColumn, info.count == columns.count,
      columns.allSatisfy({ $0.type.allSatisfy { $0.isASCII && $0.isLetter } }),
      !shape.columns.contains(.any),
      info.allSatisfy({ $0[4].text.map { "'+-0123456789".contains($0.prefix(1)) } ?? true })
    else { return }
    let definitions = columns.indices.map { index in
      let defaults = info[index][4].text.map { " DEFAULT (\($0))" } ?? ""
      return quoted(columns[index].name)
        + (index == keyColumn ? " INTEGER PRIMARY KEY" : " \(columns[index].type)\(defaults)")
    }
    try connection.execute("DROP TABLE \(quoted(name))")
    try connection.run("CREATE TABLE \(quoted(name)) (\(definitions.joined(separator: ", ")))")
  }

  /// Goes on with another connection to the same database, which is the only one then.
  func use(_ connection: Connection) { self.connection = connection }

  /// Lets go of its statements, so that its connection can be closed.
  func pause() { statements = [:] }

  /// Counts rows that came with their pages.
  func add(copied count: Int) { rows += count }

  /// Whether a record could be a row: no more columns than the table, of kinds that they hold.
  func fits(_ record: borrowing Record) -> Bool { shape.fits(record) }

  /// Puts a row in, unless one with its key is there; of two that were found by looking, the one that was
  /// saved more often stays.
  func insert(
    _ key: Int64, _ record: borrowing Record, _ certainty: RowScan.Certainty = .certain
  ) throws {
    let saves = certainty == .guessed && !numbers.isEmpty ? record.integer(2) : nil
    if let saves, let other = savesOfGuessed[key] {
      guard saves > other else { return }
      try connection.run("DELETE FROM \(quoted(name)) WHERE rowid = ?", [.integer(key)])
      rows -= 1
      guessed -= 1
    }
    let count = min(record.count, columns.count)
    let statement = try statement(count)
    statement.reset()
    var place = 0
    if keyColumn == nil {
      try statement.bind(.integer(key), at: 0)
      place = 1
    }
    for index in 0..<count {
      if index == keyColumn {
        try statement.bind(.integer(key), at: place + index)
      } else {
        try bind(record, index, key, to: statement, at: place + index)
      }
    }
    try statement.step()
    if connection.changes > 0 {
      rows += 1
      if certainty != .certain { guessed += 1 }
      if let saves, savesOfGuessed.count < Self.mostCompared { savesOfGuessed[key] = saves }
    } else if certainty != .guessed, refused.count < Self.mostListed {
      refused.append(key)
    }
  }

  /// Puts a link of two keys in whose page may be of another state of the store. Its own key shows nothing: states
  /// number their links differently. Where another link has it, the link gets a key that is free.
  ///
  /// - Returns: the key that it has, or that the same link has.
  func insertLink(_ key: Int64, _ record: borrowing Record) throws -> Int64 {
    let pair = columns.prefix(2).map { quoted($0.name) }.joined(separator: ", ")
    let other = try connection.cached("SELECT \(pair) FROM \(quoted(name)) WHERE rowid = ?")
      .firstRow([.integer(key)])
    guard !other.isEmpty else {
      try insert(key, record, .guessed)
      return key
    }
    guard other.map(\.integer) != [record.integer(0), record.integer(1)],
      let last = try connection.cached("SELECT max(rowid) FROM \(quoted(name))").firstRow([])
        .first?.integer, last < .max
    else { return key }
    try insert(last + 1, record, .guessed)
    return last + 1
  }

  private func bind(
    _ record: borrowing Record, _ index: Int, _ key: Int64, to statement: Statement, at place: Int
  ) throws {
    // An app may keep other bytes as text in a table of its own.
    let isGarbled = encoding == .utf8 && !numbers.isEmpty && record.isGarbled(index)
    guard record.isPresent(index), !isGarbled else {
      if cut.count < Self.mostListed { cut.append((key, columns[index].name)) }
      return try statement.bind(.null, at: place)
    }
    switch record.kind(index) {
    case .integer: try statement.bind(.integer(record.integer(index) ?? 0), at: place)
    case .text where encoding != .utf8:
      let text = record.content(index).map { encoding.text($0) } ?? ""
      try statement.bind(.text(text), at: place)
    case .text, .blob:
      guard let bytes = record.content(index) else { fallthrough }
      try statement.bind(bytes, isText: record.kind(index) == .text, at: place)
    case .null, .real:
      let value: Value =
        if case .real(let number)? = record.value(index) { .real(number) } else { .null }
      try statement.bind(value, at: place)
    }
  }

  /// Columns that a short row has not take their defaults, as SQLite has it.
  private func statement(_ count: Int) throws -> Statement {
    if let known = statements[count] { return known }
    let names = (keyColumn == nil ? ["rowid"] : []) + columns.prefix(count).map { quoted($0.name) }
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let made = try connection.prepare(
      "INSERT OR IGNORE INTO \(quoted(name)) (\(names.joined(separator: ", "))) VALUES (\(marks))")
    statements[count] = made
    return made
  }
}

extension RowShape {
  /// The shape of a table by its columns.
  init(
    of table: String, _ columns: [DatabaseTables.Column], keyColumn: Int?, numbers: Set<Int64> = []
  ) {
    self.init(
      columns: columns.enumerated().map { index, column in
        // A tombstone has the value as the object's own column had it.
        index == keyColumn
          ? .key : Tombstones.isColumn(column.name, of: table) ? .any : .init(declared: column.type)
      }, numbers: numbers)
  }
}

extension RecordValue {
  /// The same as SQLite takes it.
  package func value(_ encoding: FileHeader.Encoding) -> Value {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let bytes): .text(encoding.text(bytes))
    case .blob(let bytes): .blob(bytes)
    }
  }
}

/// Which trees of a database without a schema are whose, determined by what is in them.
struct TreeNames {
  private static let rowsOfTree = 16

  /// The tables whose trees are determined by their first rows, with the roots of these.
  ///
  /// A tree whose rows do not all look alike is not among them. Where the page that leads to all of a table is lost,
  /// each page below it is the root of a tree.
  ///
  /// - Parameter known: roots that the schema names.
  static func tables(
    of source: SalvageSource, among tables: [SalvagedTable], besides known: Set<Int>
  ) throws -> [String: [Int]] {
    var placing = RowPlacing(tables: tables)
    var seen: [Int: Int] = [:]
    var doubtful: Set<Int> = []
    var scan = RowScan(source.image, source.trees)
    try scan.rows(
      where: { role, root in
        role == .leaf && root > 1 && !known.contains(root) && !doubtful.contains(root)
          && seen[root, default: 0] < rowsOfTree
      }
    ) { row, record in
      seen[row.root, default: 0] += 1
      let table = placing.table(for: record, in: row.root)
      if table?.fits(record) != true || table?.keyColumn == nil { doubtful.insert(row.root) }
    }
    let told = placing.trees.filter { !doubtful.contains($0.key) }
    return Dictionary(grouping: told.keys) { told[$0]?.name ?? "" }.mapValues { $0.sorted() }
  }

  /// The indexes whose trees are determined by entries that are right of the rows that are there.
  static func indexes(
    of source: SalvageSource, besides copied: [Bool], in connection: Connection
  ) throws -> [String: Int] {
    let trees = try IndexTree.all(in: source.image, besides: copied)
    var roots: [String: [Int]] = [:]
    var names: [Int: Int] = [:]
    // One that leaves rows out would have to be distinguished from one that does not.
    let rows = try connection.rows(
      """
      SELECT m.name, m.tbl_name FROM sqlite_master m JOIN pragma_index_list(m.tbl_name) l
      ON l.name = m.name WHERE m.type = 'index' AND m.sql IS NOT NULL AND l.partial = 0
      """)
    for row in rows where row.count == 2 {
      guard let name = row[0].text, let table = row[1].text,
        let columns = try columns(of: name, connection)
      else { continue }
      let list = columns.map(quoted).joined(separator: ", ")
      let query = try connection.prepare("SELECT \(list) FROM \(quoted(table)) WHERE rowid = ?")
      for tree in trees where try tree.entries.allSatisfy({ try isRight($0, query) }) {
        roots[name, default: []].append(tree.root)
        names[tree.root, default: 0] += 1
      }
    }
    return roots.compactMapValues { $0.count == 1 && names[$0[0]] == 1 ? $0[0] : nil }
  }

  /// The columns of an index; `nil` where it is over more than columns.
  private static func columns(of index: String, _ connection: Connection) throws -> [String]? {
    var columns: [String] = []
    for row in try connection.rows("PRAGMA index_xinfo(\(quoted(index)))") where row.count >= 6 {
      guard row[5].integer == 1 else { continue }
      guard let name = row[2].text, row[1].integer ?? -1 >= 0 else { return nil }
      columns.append(name)
    }
    return columns.isEmpty ? nil : columns
  }

  /// Whether the row that an entry names has the entry's values.
  private static func isRight(_ entry: [RecordValue], _ query: Statement) throws -> Bool {
    guard case .integer(let key)? = entry.last else { return false }
    query.reset()
    try query.bind(.integer(key), at: 0)
    guard try query.step() else { return false }
    let values = query.row()
    return entry.count == values.count + 1 && zip(entry, values).allSatisfy(isEqual)
  }

  private static func isEqual(_ stored: RecordValue, _ value: Value) -> Bool {
    switch (stored, value) {
    case (.null, .null): true
    case (.integer(let first), .integer(let second)): first == second
    // A whole number in a column of reals is kept as an integer.
    case (.integer(let first), .real(let second)): Double(first) == second
    case (.real(let first), .real(let second)): first == second
    case (.text(let bytes), .text(let text)): text.utf8.elementsEqual(bytes)
    case (.blob(let first), .blob(let second)): first == second
    default: false
    }
  }
}

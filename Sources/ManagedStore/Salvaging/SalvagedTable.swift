import ManagedModel
import SQLite
import Salvage

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

  private let connection: Connection
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
    let info = try connection.rows("PRAGMA table_info(\(quoted(name)))")
    let columns = info.compactMap { row -> DatabaseTables.Column? in
      guard row.count >= 6, let name = row[1].text else { return nil }
      return .init(name: name, type: row[2].text ?? "", isPrimaryKey: row[5].integer != 0)
    }
    self.columns = columns
    let keys = columns.indices.filter { columns[$0].isPrimaryKey }
    let keyColumn =
      keys.count == 1 && columns[keys[0]].type.uppercased() == "INTEGER" ? keys[0] : nil
    self.keyColumn = keyColumn
    shape = RowShape(
      columns: columns.enumerated().map { index, column in
        // A tombstone has the value as the object's own column had it.
        index == keyColumn
          ? .key : Tombstones.isColumn(column.name, of: name) ? .any : .init(declared: column.type)
      }, numbers: numbers)
  }

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

  private func bind(
    _ record: borrowing Record, _ index: Int, _ key: Int64, to statement: Statement, at place: Int
  ) throws {
    guard record.isPresent(index) else {
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

extension RecordValue {
  /// The same as SQLite takes it.
  func value(_ encoding: FileHeader.Encoding) -> Value {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let bytes): .text(encoding.text(bytes))
    case .blob(let bytes): .blob(bytes)
    }
  }
}

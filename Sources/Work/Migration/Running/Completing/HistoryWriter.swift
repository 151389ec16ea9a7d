import ManagedModel
import ManagedStore
import SQLite

/// Adds transactions to the persistent history of a copy of a store, as a save leaves them (store-format-2 §7).
///
/// Rows of history have no Z_OPT: Core Data leaves it NULL in all three tables.
package struct HistoryWriter {
  /// A row of ACHANGE.
  package struct Change {
    /// What became of the object.
    package var kind: HistoryChange.Kind
    /// Z_ENT of the object.
    package var number: Int64
    /// Z_PK of the object.
    package var key: Int64
    /// Of an update which columns it wrote; `nil` for others.
    package var bitmap: [UInt8]?
    /// Of a deletion the values that history keeps, by their places.
    package var tombstones: [Value] = []

    /// A change of one object.
    package init(_ kind: HistoryChange.Kind, number: Int64, key: Int64) {
      (self.kind, self.number, self.key) = (kind, number, key)
    }
  }

  /// SQL of an object's version, Z_OPT, after one more save; it starts again after the last whole number there is,
  /// where a sum would no longer be one.
  package static let raisedVersion =
    "CASE WHEN Z_OPT < \(Int64.max) THEN Z_OPT + 1 ELSE 1 END"

  private let connection: Connection
  private let columns: Set<String>
  private let changeColumns: Set<String>
  private let keepsTexts: Bool

  /// What a transaction names as the process and its bundle.
  private static let process = "strata"

  /// - Parameter connection: has the copy as `main`.
  /// - Returns: `nil` where the store keeps no history.
  package init?(_ store: Store, connection: Connection) {
    guard store.hasHistory else { return nil }
    self.connection = connection
    columns = store.database.columns(of: "ATRANSACTION")
    changeColumns = store.database.columns(of: "ACHANGE")
    keepsTexts = store.database.contains("ATRANSACTIONSTRING")
  }

  /// How many values of a deleted object there is room for.
  package var tombstoneCount: Int { Tombstones.count(in: changeColumns) }

  /// Adds a transaction of now without changes.
  ///
  /// - Returns: its number.
  package func addTransaction(author: String) throws -> Int64 {
    let numbers = try ["TRANSACTION", "TRANSACTIONSTRING"].map(reservedNumber)
    let key = try nextKey(of: "ATRANSACTION", number: numbers[0])
    var values: [(column: String, value: Value)] = [
      ("Z_PK", .integer(key)), ("Z_ENT", .integer(numbers[0])),
      ("ZTIMESTAMP", .real(CoreDataDate.now)),
    ]
    // The newer form keeps each text once; the columns for the text itself are NULL then.
    for (name, text) in [
      ("AUTHOR", author), ("BUNDLEID", Self.process), ("PROCESSID", Self.process),
    ] {
      if columns.contains("Z\(name)TS"), keepsTexts {
        values.append(("Z\(name)TS", .integer(try self.key(of: text, number: numbers[1]))))
      } else {
        values.append(("Z\(name)", .text(text)))
      }
    }
    values.removeAll { !columns.contains($0.column) }
    try insert(into: "ATRANSACTION", values.map(\.column)).run(values.map(\.value))
    return key
  }

  /// Adds what a transaction changed.
  ///
  /// - Parameter body: called with how to add a change.
  package func addChanges(
    of transaction: Int64, _ body: (_ add: (Change) throws -> Void) throws -> Void
  ) throws {
    let table = "ACHANGE"
    let number = try reservedNumber("CHANGE")
    let keys = PrimaryKeys(connection)
    var last = try keys.last(number, in: table)
    let tombstones = (0..<tombstoneCount).map(Tombstones.column)
    let hasBitmap = changeColumns.contains("ZCOLUMNS")
    let names =
      ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"]
      + (hasBitmap ? ["ZCOLUMNS"] : []) + tombstones
    let statement = try insert(into: table, names)
    try body { change in
      last = try PrimaryKeys.next(after: last, of: table)
      var values: [Value] = [
        .integer(last), .integer(number), .integer(change.kind.rawValue), .integer(change.number),
        .integer(change.key), .integer(transaction),
      ]
      if hasBitmap { values.append(change.bitmap.map { .blob($0) } ?? .null) }
      let kept = change.tombstones.prefix(tombstones.count)
      values += kept + [Value](repeating: .null, count: tombstones.count - kept.count)
      try statement.run(values)
    }
    try keys.raise(number, to: last)
  }

  private func insert(into table: String, _ columns: [String]) throws -> Statement {
    try connection.prepare(
      """
      INSERT INTO main.\(table) (\(columns.joined(separator: ", ")))
      VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
      """)
  }

  /// The number of an entity of history's own: 16001 to 16003, as all stores have them that list these.
  private func reservedNumber(_ entity: String) throws -> Int64 {
    let listed = try connection.value(
      "SELECT Z_ENT FROM main.Z_PRIMARYKEY WHERE Z_NAME = ? AND Z_ENT >= ?",
      [.text(entity), .integer(EntityNumbering.firstReserved)])
    return listed?.integer
      ?? (entity == "CHANGE" ? 16001 : entity == "TRANSACTION" ? 16002 : 16003)
  }

  /// A key that no row of the table ever had, which is noted in Z_PRIMARYKEY where the entity is listed.
  private func nextKey(of table: String, number: Int64) throws -> Int64 {
    let keys = PrimaryKeys(connection)
    let key = try PrimaryKeys.next(after: keys.last(number, in: table), of: table)
    try keys.raise(number, to: key)
    return key
  }

  /// The key of a text, which is added where no transaction has it yet.
  private func key(of text: String, number: Int64) throws -> Int64 {
    let table = "ATRANSACTIONSTRING"
    let known = try connection.value(
      "SELECT Z_PK FROM main.\(table) WHERE ZNAME = ?", [.text(text)])
    if let key = known?.integer { return key }
    let key = try nextKey(of: table, number: number)
    try connection.run(
      "INSERT INTO main.\(table) (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)",
      [.integer(key), .integer(number), .text(text)])
    return key
  }
}

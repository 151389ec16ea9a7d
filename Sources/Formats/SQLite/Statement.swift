import CSQLite

/// A compiled statement, and while it runs, the row it stands on.
package final class Statement {
  private let handle: OpaquePointer

  /// SQLITE_TRANSIENT is a cast inside a macro: SQLite copies the bytes before bind returns.
  static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }
  package var columnCount: Int { Int(sqlite3_column_count(handle)) }
  /// The largest number of a parameter.
  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  /// Makes the statement ready to run again; bound values stay.
  package func reset() { sqlite3_reset(handle) }

  /// Makes the statement ready to run again with other values: all parameters are NULL.
  package func clear() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Binds values to the parameters in order; parameters without one are NULL.
  package func bind(_ values: [Value]) throws {
    clear()
    for (offset, value) in values.enumerated() { try bind(value, at: offset) }
  }

  /// Binds one value; parameters count from 0.
  package func bind(_ value: Value, at offset: Int) throws {
    let index = Int32(clamping: offset + 1)
    let result: Int32
    switch value {
    case .null: result = sqlite3_bind_null(handle, index)
    case .integer(let number): result = sqlite3_bind_int64(handle, index, number)
    case .real(let number): result = sqlite3_bind_double(handle, index, number)
    case .text(let text):
      result = text.withCString {
        sqlite3_bind_text64(
          handle, index, $0, UInt64(text.utf8.count), Self.transient, UInt8(SQLITE_UTF8))
      }
    case .blob(let bytes):
      result = bytes.withUnsafeBytes {
        // A null pointer would bind NULL; an empty blob is a value.
        $0.isEmpty
          ? sqlite3_bind_zeroblob(handle, index, 0)
          : sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), Self.transient)
      }
    }
    guard result == SQLITE_OK else { throw failure(result) }
  }

  /// Binds bytes as a text or a blob without a String in between; SQLite copies them.
  ///
  /// - Parameter isText: whether they are UTF-8, of which nothing is checked.
  package func bind(_ bytes: UnsafeRawBufferPointer, isText: Bool, at offset: Int) throws {
    // Of no bytes, a null pointer would bind NULL.
    guard !bytes.isEmpty else { return try bind(isText ? .text("") : .blob([]), at: offset) }
    let index = Int32(clamping: offset + 1)
    let size = UInt64(bytes.count)
    let result =
      if isText {
        bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text64(
            handle, index, $0.baseAddress, size, Self.transient, UInt8(SQLITE_UTF8))
        }
      } else {
        sqlite3_bind_blob64(handle, index, bytes.baseAddress, size, Self.transient)
      }
    guard result == SQLITE_OK else { throw failure(result) }
  }

  private func failure(_ result: Int32) -> SQLiteError {
    // The handle outlives its connection until the last statement is finalized (close_v2).
    let message = sqlite3_errmsg(sqlite3_db_handle(handle)).map { String(cString: $0) } ?? ""
    return SQLiteError(extendedCode: result, message: message, sql: sql)
  }

  /// Goes to the next row; false after the last.
  @discardableResult
  package func step() throws -> Bool {
    let result = sqlite3_step(handle)
    switch result {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let error = failure(result)
      sqlite3_reset(handle)
      throw error
    }
  }

  /// The value in a column of the current row; columns count from 0.
  package func value(at column: Int) -> Value {
    let index = Int32(clamping: column)
    switch sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
    case SQLITE_TEXT: return .text(text(at: column))
    case SQLITE_BLOB: return .blob(bytes(at: column))
    default: return .null
    }
  }

  /// Whether a column of the current row is NULL; columns count from 0.
  package func isNull(at column: Int) -> Bool {
    sqlite3_column_type(handle, Int32(clamping: column)) == SQLITE_NULL
  }

  /// The column as a whole number, 0 for NULL.
  package func integer(at column: Int) -> Int64 {
    sqlite3_column_int64(handle, Int32(clamping: column))
  }

  /// The column as text; bytes that are no UTF-8 become replacement characters.
  package func text(at column: Int) -> String {
    let index = Int32(clamping: column)
    guard let start = sqlite3_column_text(handle, index) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, index))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The column's bytes as stored.
  package func bytes(at column: Int) -> [UInt8] {
    let index = Int32(clamping: column)
    guard let start = sqlite3_column_blob(handle, index) else { return [] }
    return [UInt8](
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index))))
  }

  /// The bytes of a text that is no UTF-8; `nil` where `text`, as decoded from it, is all there is.
  package func brokenText(at column: Int, decodedAs text: String) -> [UInt8]? {
    // Whatever is broken became U+FFFD, whose first byte is rare in text that is whole.
    guard text.utf8.contains(0xEF) else { return nil }
    let bytes = bytes(at: column)
    return text.utf8.elementsEqual(bytes) ? nil : bytes
  }

  /// All columns of the current row.
  package func row() -> [Value] { row(0..<columnCount) }

  /// Some columns of the current row, behind what is there.
  package func row(_ columns: Range<Int>, behind head: [Value] = []) -> [Value] {
    var values = head
    values.reserveCapacity(head.count + columns.count)
    for column in columns { values.append(value(at: column)) }
    return values
  }
}

extension Statement {
  /// Runs the statement with these values, to its end.
  package func run(_ values: [Value]) throws {
    try bind(values)
    while try step() {}
  }

  /// The same with as many of the values as the statement has parameters.
  package func run(first values: [Value]) throws {
    try run(parameterCount < values.count ? Array(values[..<parameterCount]) : values)
  }

  /// All rows that the statement answers; for few.
  package func rows(_ values: [Value]) throws -> [[Value]] {
    try bind(values)
    var rows: [[Value]] = []
    while try step() { rows.append(row()) }
    return rows
  }

  /// The first row that the statement answers; empty if there is none.
  package func firstRow(_ values: [Value]) throws -> [Value] {
    try bind(values)
    defer { reset() }
    return try step() ? row() : []
  }
}

/// What a column of a row holds, in SQLite's five storage classes.
package enum Value: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// The number as an integer, where it is one.
  package var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .real(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The number as a Double.
  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }

  /// The text; `nil` for a number or bytes.
  package var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The bytes; `nil` for text, whose bytes they are not.
  package var blob: [UInt8]? {
    if case .blob(let value) = self { value } else { nil }
  }
}

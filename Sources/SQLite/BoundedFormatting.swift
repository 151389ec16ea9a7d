import CSQLite

/// SQLite's `printf` and `format`, with the widths and precisions that they are given limited.
///
/// SQLite counts to the precision of a `%c` even when the text is too long already: two billion steps of
/// one step of its virtual machine, in which it asks nobody whether to stop. The functions do what
/// SQLite's do, in a database of their own, once their arguments were looked at.
final class BoundedFormatting {
  private let name: String
  private var database: OpaquePointer?
  /// The call with as many arguments.
  private var statements: [Int32: OpaquePointer] = [:]

  private init(_ name: String) { self.name = name }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(database)
  }

  /// Puts them in the place of SQLite's own, for statements and for indexes of the schema.
  static func define(on handle: OpaquePointer?) {
    for name in ["printf", "format"]
    where name == "printf" || sqlite3_libversion_number() >= 3_038_000 {
      sqlite3_create_function_v2(
        handle, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
        // SQLite owns the object and gives it back through the last closure, also when this call fails.
        Unmanaged.passRetained(BoundedFormatting(name)).toOpaque(),
        { context, count, values in
          guard let object = sqlite3_user_data(context) else { return }
          Unmanaged<BoundedFormatting>.fromOpaque(object).takeUnretainedValue().call(
            context, count, values)
        }, nil, nil,
        { object in
          if let object { Unmanaged<BoundedFormatting>.fromOpaque(object).release() }
        })
    }
  }

  private func call(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let values, count > 0 else { return sqlite3_result_null(context) }
    let limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)
    guard isShort(values, count, limit: Int64(limit)) else {
      return sqlite3_result_error_toobig(context)
    }
    guard let statement = statement(count) else { return sqlite3_result_error_nomem(context) }
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, limit)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    var result = SQLITE_OK
    for place in 0..<count where result == SQLITE_OK {
      result = sqlite3_bind_value(statement, place + 1, values[Int(place)])
    }
    if result == SQLITE_OK { result = sqlite3_step(statement) }
    switch result {
    case SQLITE_ROW: sqlite3_result_value(context, sqlite3_column_value(statement, 0))
    case SQLITE_TOOBIG: sqlite3_result_error_toobig(context)
    case SQLITE_NOMEM: sqlite3_result_error_nomem(context)
    default: sqlite3_result_error(context, sqlite3_errmsg(database), -1)
    }
  }

  private func statement(_ count: Int32) -> OpaquePointer? {
    if let known = statements[count] { return known }
    if database == nil { sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE, nil) }
    let places = Array(repeating: "?", count: Int(count)).joined(separator: ", ")
    var statement: OpaquePointer?
    sqlite3_prepare_v2(database, "SELECT \(name)(\(places))", -1, &statement, nil)
    statements[count] = statement
    return statement
  }

  /// Whether no width and no precision of the format is longer than `limit`, be it written out or
  /// given by an argument.
  private func isShort(
    _ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int32, limit: Int64
  ) -> Bool {
    guard let start = sqlite3_value_text(values[0]) else { return true }
    let format = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[0])))
    var next = 1
    var index = 0
    // A number of digits as SQLite reads it, or an argument cut to 32 bits as SQLite cuts it.
    func length() -> Int64 {
      if index < format.count, format[index] == UInt8(ascii: "*") {
        index += 1
        defer { next += 1 }
        guard next < count else { return 0 }
        let number = Int32(truncatingIfNeeded: sqlite3_value_int64(values[next]))
        return abs(Int64(number))
      }
      var number: UInt32 = 0
      while index < format.count, case 0x30...0x39 = format[index] {
        number = number &* 10 &+ UInt32(format[index] - 0x30)
        index += 1
      }
      return Int64(number & 0x7FFF_FFFF)
    }
    while index < format.count {
      index += 1
      guard format[index - 1] == UInt8(ascii: "%") else { continue }
      while index < format.count, "-+ #!0,".utf8.contains(format[index]) { index += 1 }
      guard length() <= limit else { return false }
      if index < format.count, format[index] == UInt8(ascii: ".") {
        index += 1
        guard length() <= limit else { return false }
      }
      while index < format.count, format[index] == UInt8(ascii: "l") { index += 1 }
      guard index < format.count else { return true }
      if format[index] != UInt8(ascii: "%"), format[index] != UInt8(ascii: "n") { next += 1 }
      index += 1
    }
    return true
  }
}

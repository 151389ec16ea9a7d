import CSQLite

extension Connection {
  /// Defines an SQL function of any number of arguments that returns NULL.
  ///
  /// Core Data's triggers for derived attributes call functions that only Core Data registers;
  /// without stand-ins, writing to such a table fails with "no such function".
  ///
  /// - Parameter isDeterministic: whether an index may call it.
  package func defineNullFunction(_ name: String, isDeterministic: Bool = false) throws {
    // The only functions of this program that a store's schema calls, and the only ones that it may, also
    // where the schema is not trusted.
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
    let result = sqlite3_create_function_v2(
      handle, name, -1, flags, nil,
      { context, _, _ in sqlite3_result_null(context) }, nil,
      nil, nil)
    guard result == SQLITE_OK else { throw error(code: result, sql: nil) }
  }

  /// What a test looks at.
  package enum Tested: Sendable {
    case text
    case blob
  }

  /// Defines an SQL function of one argument that says whether bytes are as they should be: 1 or 0,
  /// and NULL for a value of any other kind.
  ///
  /// It is given the bytes where they are, those of a text as they stand in the database if that is of
  /// UTF-8; they are good until it returns.
  package func defineTest(
    _ name: String, of kind: Tested, _ body: @escaping (UnsafeRawBufferPointer) -> Bool
  ) throws {
    let type = kind == .text ? SQLITE_TEXT : SQLITE_BLOB
    let result = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      Unmanaged.passRetained(Box<BytesTest>(BytesTest(type: type, body: body))).toOpaque(),
      { context, _, values in
        guard let box = sqlite3_user_data(context), let value = values?[0] else {
          return sqlite3_result_null(context)
        }
        let test = Box<BytesTest>.content(box)
        guard sqlite3_value_type(value) == test.type else { return sqlite3_result_null(context) }
        // The bytes first: asking for them can change the count. No bytes have no place.
        let start = sqlite3_value_blob(value)
        let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
        let isGiven = test.body(UnsafeRawBufferPointer(start: start, count: count))
        sqlite3_result_int(context, isGiven ? 1 : 0)
      }, nil, nil,
      { box in if let box { Unmanaged<Box<BytesTest>>.fromOpaque(box).release() } })
    guard result == SQLITE_OK else { throw error(code: result, sql: nil) }
  }

  /// Defines an SQL function: the same arguments must always give the same value.
  ///
  /// It may be called once a row, from whatever thread steps a statement of this connection. What it
  /// throws ends the statement, with the error's description as SQLite's message.
  package func defineFunction(
    _ name: String, arguments: Int32, _ body: @escaping ([Value]) throws -> Value
  ) throws {
    let result = sqlite3_create_function_v2(
      handle, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      // SQLite owns the box and gives it back through the last closure, also when this call fails.
      Unmanaged.passRetained(Box<SQLFunction>(body)).toOpaque(),
      { context, count, values in
        guard let box = sqlite3_user_data(context) else { return sqlite3_result_null(context) }
        let function = Box<SQLFunction>.content(box)
        let arguments = (0..<Int(count)).map { Value(argument: values?[$0]) }
        do {
          try function(arguments).result(in: context)
        } catch {
          sqlite3_result_error(context, "\(error)", -1)
        }
      }, nil, nil,
      { box in if let box { Unmanaged<Box<SQLFunction>>.fromOpaque(box).release() } })
    guard result == SQLITE_OK else { throw error(code: result, sql: nil) }
  }
}

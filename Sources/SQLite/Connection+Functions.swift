import CSQLite

extension Connection {
  /// Defines an SQL function of any number of arguments that returns NULL.
  ///
  /// Core Data's triggers for derived attributes call functions that only Core Data registers;
  /// without stand-ins, writing to such a table fails with "no such function".
  ///
  /// - Parameter isDeterministic: whether an index may call it.
  package func defineNullFunction(_ name: String, isDeterministic: Bool = false) throws {
    let result = sqlite3_create_function_v2(
      handle, name, -1, SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0), nil,
      { context, _, _ in sqlite3_result_null(context) }, nil,
      nil, nil)
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

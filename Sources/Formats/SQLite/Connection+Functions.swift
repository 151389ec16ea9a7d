import CSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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
  ///
  /// - Parameter isForSchema: whether it stands for one of Core Data's that triggers of a store call; it may give
  ///   another value each time then.
  package func defineFunction(
    _ name: String, arguments: Int32, isForSchema: Bool = false,
    _ body: @escaping ([Value]) throws -> Value
  ) throws {
    let use = isForSchema ? SQLITE_INNOCUOUS : SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let result = sqlite3_create_function_v2(
      handle, name, arguments, SQLITE_UTF8 | use,
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

/// Boxes what Swift has so that C can hold a pointer to it.
final class Box<Content> {
  let content: Content
  init(_ content: Content) { self.content = content }

  /// What a pointer that C was given stands for; the box must be kept somewhere meanwhile.
  static func content(_ pointer: UnsafeMutableRawPointer) -> Content {
    Unmanaged<Box>.fromOpaque(pointer).takeUnretainedValue().content
  }
}

/// The body of an SQL function.
typealias SQLFunction = ([Value]) throws -> Value

/// What a function reads, and what it reports about it.
struct BytesTest {
  let type: Int32
  let body: (UnsafeRawBufferPointer) -> Bool
}

extension Value {
  /// An argument that SQLite hands to a function.
  init(argument: OpaquePointer?) {
    switch sqlite3_value_type(argument) {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(argument))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(argument))
    case SQLITE_TEXT:
      // The text first: asking for it can change the count.
      guard let start = sqlite3_value_text(argument) else {
        self = .null
        return
      }
      let count = Int(sqlite3_value_bytes(argument))
      self = .text(
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    case SQLITE_BLOB:
      guard let start = sqlite3_value_blob(argument) else {
        self = .blob([])
        return
      }
      self = .blob(
        [UInt8](
          UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument)))))
    default: self = .null
    }
  }

  /// Makes this the result of the function that is being called.
  func result(in context: OpaquePointer?) {
    switch self {
    case .null: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(let text):
      text.withCString {
        sqlite3_result_text64(
          context, $0, UInt64(text.utf8.count), Statement.transient, UInt8(SQLITE_UTF8))
      }
    case .blob(let bytes):
      bytes.withUnsafeBytes {
        $0.isEmpty
          ? sqlite3_result_zeroblob(context, 0)
          : sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), Statement.transient)
      }
    }
  }
}

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

/// The most bytes that one value, or one row, of a connection may have: SQLITE_LIMIT_LENGTH.
///
/// SQLite allows 1,000,000,000. Computing a value is one step of its virtual machine, during which
/// nobody is asked whether to stop: `printf('%.*c', 1000000000, 'x')` takes 20 seconds and several
/// gigabytes. The expression may come from a recipe, or from an index of the store itself.
///
/// A fixed limit would refuse a large value of a sound store. What is stored in a file is never larger
/// than the file, so the limit follows the size of what is read.
package struct ValueLimit: Sendable, Equatable {
  /// The limit in bytes.
  package let bytes: Int

  /// The limit of a connection that reads so many bytes in all.
  ///
  /// Four times as much leaves room for what is computed: text of a UTF-16 database grows by half in
  /// UTF-8, a letter becomes up to three in upper case. The rest is for values that are built from
  /// nothing; SQLite computes so many bytes in an eighth of a second.
  package init(reading bytes: Int) {
    self.bytes = min(Self.most, Self.least + 4 * min(max(0, bytes), Self.most))
  }

  /// The limit of a connection that reads almost nothing.
  static let least = 8 << 20
  /// SQLite's own limit, as it is compiled by default and by Apple.
  static let most = 1_000_000_000

  /// The bytes of a database file and of its logs; 0 if there is none.
  static func size(ofDatabaseAt path: String) -> Int {
    // Databases of their own in memory, or in a file without a name.
    guard !path.isEmpty, path != ":memory:" else { return 0 }
    return ["", "-wal", "-journal"].reduce(0) { sum, suffix in
      var status = stat()
      return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }
}

extension Connection {
  /// The most bytes that a value or row may have on this connection.
  package var valueLimit: Int {
    handle == nil ? 0 : Int(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1))
  }

  /// Limits values to what a database file can hold: that of the connection itself, and each that is
  /// attached from now on.
  package func limitValues() {
    guard !isLimited else { return }
    readPaths = [path]
    setLimit(fitLimit())
    BoundedFormatting.define(on: handle)
  }

  /// Takes into account that this connection also reads what `other` reads.
  func extendLimit(to other: Connection) {
    guard isLimited else { return }
    readBytes += other.readBytes
    readPaths += other.isLimited ? other.readPaths : [other.path]
    if other.isLive { isLive = true }
    setLimit(fitLimit())
  }

  /// Takes into account that a function returned a value that comes from none of the files, such as
  /// the content of an external data file.
  ///
  /// All such values are added up: a row may hold any number of them.
  package func extendLimit(by bytes: Int) {
    guard isLimited else { return }
    readBytes += bytes
    setLimit(fitLimit())
  }

  /// Follows a file that another program writes to.
  func followGrowth() {
    guard isLimited, isLive, handle != nil else { return }
    setLimit(fitLimit())
  }

  private func fitLimit() -> Int {
    ValueLimit(
      reading: readPaths.reduce(readBytes) { $0 + ValueLimit.size(ofDatabaseAt: $1) }
    ).bytes
  }

  /// Never less than before: a statement may be at work on a larger value.
  private func setLimit(_ bytes: Int) {
    let bytes = isLimited ? max(bytes, valueLimit) : bytes
    isLimited = true
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
  }
}

import CSQLite

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

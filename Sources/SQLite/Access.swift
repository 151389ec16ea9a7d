import CSQLite

/// What a statement wants to do, as SQLite asks before it compiles it.
package enum Access: Equatable {
  /// A SELECT, or another one within it.
  case select
  /// Reads a column; its name is empty where only rows are counted.
  case read(table: String, column: String)
  case function(String)
  /// Anything else: writing, attaching, pragmas …
  case other
}

extension Access {
  /// The question whether something is allowed.
  typealias Question = (Access) -> Bool

  /// What SQLite calls for each thing a statement would do.
  static let callback:
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
      UnsafePointer<CChar>?, UnsafePointer<CChar>?
    ) -> Int32 = { context, action, first, second, _, _ in
      // The connection keeps the box for as long as it is registered.
      guard let context else { return SQLITE_DENY }
      func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
      }
      let access: Access =
        switch action {
        case SQLITE_SELECT: .select
        case SQLITE_READ: .read(table: text(first), column: text(second))
        case SQLITE_FUNCTION: .function(text(second))
        default: .other
        }
      return Box<Question>.content(context)(access) ? SQLITE_OK : SQLITE_DENY
    }
}

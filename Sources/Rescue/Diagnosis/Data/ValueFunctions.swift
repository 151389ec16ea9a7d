import ManagedModel
import SQLite

/// SQL functions that tell whether a value can be read as what it is said to be.
enum ValueFunctions {
  /// Archives are read whole; larger ones are left.
  static let largestArchive = 8 << 20

  static func define(on connection: Connection) throws {
    // Whether bytes are UTF-8; a text is given as its bytes, since SQLite's own may be none.
    try connection.defineFunction("strata_utf8", arguments: 1) { arguments in
      guard case .blob(let bytes) = arguments.first else { return .null }
      return .integer(String(validating: bytes, as: UTF8.self) == nil ? 0 : 1)
    }
    // Whether bytes are a property list that can be read to its end, as an archive is.
    try connection.defineFunction("strata_opens", arguments: 1) { arguments in
      guard case .blob(let bytes) = arguments.first else { return .null }
      return .integer((try? PropertyList.read(bytes)) == nil ? 0 : 1)
    }
  }
}

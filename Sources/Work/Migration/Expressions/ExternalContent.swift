import Files
import ManagedStore
import Mapping
import SQLite

/// What values in external data files hold, for the SQL of a migration.
///
/// Only a file that is there and cannot be read, or is too large for a row, is an error.
enum ExternalContent {
  /// Defines what a recipe's expressions and its verification call.
  ///
  /// - Parameters:
  ///   - files: the store whose external data files are read.
  ///   - storeUUID: goes into the names of the UUIDs that `uuid()` gives.
  static func define(on connection: Connection, files: StoreFiles, storeUUID: String) throws {
    try RecipeFunctions.define(on: connection, storeUUID: storeUUID)
    let external = ExternalFolder(files)
    // SQLite owns the function, and the connection owns SQLite's handle.
    try connection.defineFunction("strata_content", arguments: 1) { [weak connection] arguments in
      try content(arguments[0], external) { connection?.extendLimit(by: $0) }
    }
    try connection.defineFunction("strata_digest", arguments: 1) { try digest($0[0], external) }
  }

  /// What an attribute that allows external storage holds: the first byte of its column shows
  /// whether the rest is the value or names a file. NULL where that is missing.
  ///
  /// - Parameter reading: called with the size of a file before it is read.
  /// - Throws: ``CoreDataError`` for a file that is there and cannot be read: that is no value's absence.
  static func content(
    _ value: Value, _ external: ExternalFolder, reading: (_ bytes: Int) -> Void = { _ in }
  ) throws -> Value {
    switch try stored(value, external) {
    case .value(let value): return value
    case .missing: return .null
    case .file(let file):
      guard file.size <= longestValue else {
        throw CoreDataError(
          .failed,
          "the external data file has \(NumberText.bytes(file.size)), and a row takes \(NumberText.bytes(longestValue)) at most",
          path: file.path,
          hint: "Keep it in its file: leave the attribute's external storage allowed.")
      }
      reading(file.size)
      return .blob(try file.read(at: 0, count: file.size))
    }
  }

  /// What distinguishes one content from another, of a file of any size: bytes as their SHA-256, all else as
  /// it is. NULL where the file is missing.
  static func digest(_ value: Value, _ external: ExternalFolder) throws -> Value {
    switch try stored(value, external) {
    case .value(.blob(let bytes)): return .text(ByteText.hex(Digest.sha256(bytes)))
    case .value(let other): return other
    case .missing: return .null
    case .file(let file): return .text(try file.sha256())
    }
  }

  /// SQLite's own limit to a value, less what it needs for the row.
  private static let longestValue = 999_000_000

  private enum Stored {
    case value(Value)
    case file(OpenFile)
    case missing
  }

  private static func stored(_ value: Value, _ external: ExternalFolder) throws -> Stored {
    guard case .blob(let bytes) = value else { return .value(value) }
    switch MarkedBytes(bytes) {
    case .row(let own): return .value(.blob(own))
    case .file(let name):
      switch external.place(of: name) {
      case .file(let file): return .file(file)
      case .missing: return .missing
      case .unreadable(let error): throw error
      }
    }
  }
}

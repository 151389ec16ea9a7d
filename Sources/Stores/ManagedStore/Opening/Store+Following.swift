import SQLite
import StoreTables

extension Store {
  /// Reads from now on what this process writes into the file: a store is else read as if its file could not change.
  ///
  /// For a private copy that is kept in step with another store. Its tables stay what they were.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  package func followWrites() throws {
    guard mended == nil else { return }
    try translating {
      let fresh = try Connection(path: files.path, mode: .readOnly)
      Self.setCache(of: fresh, kilobytes: Self.cacheSize)
      try StoreFunctions.define(on: fresh)
      connection = fresh
      trustAsInspected()
    }
  }
}

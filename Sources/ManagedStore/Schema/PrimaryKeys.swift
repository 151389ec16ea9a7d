import ManagedModel
import SQLite

/// The keys that a store gave out, as Z_PRIMARYKEY counts them (Z_MAX), and those that its rows have.
///
/// No key that was ever given out is given out again: links, history and other devices may name it.
package struct PrimaryKeys {
  private let connection: Connection
  private let schema: String

  /// - Parameter schema: which database on the connection, such as `src.`; the main one without it.
  package init(_ connection: Connection, in schema: String = "main.") {
    self.connection = connection
    self.schema = schema
  }

  /// The last key that was given out in a hierarchy; `nil` where no row says so, or it is none.
  package func given(_ number: Int64) throws -> Int64? {
    try connection.value(
      "SELECT Z_MAX FROM \(schema)Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])?.integer
  }

  /// The last key that was given out; 0 where it is none, `nil` where no row is there for it.
  package func counter(_ number: Int64) throws -> Int64? {
    try connection.value(
      "SELECT coalesce(Z_MAX, 0) FROM \(schema)Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])?
      .integer
  }

  /// The greatest key in a table; `nil` where it has no row.
  package func used(in table: String) throws -> Int64? {
    try connection.value("SELECT max(Z_PK) FROM \(schema)\(quoted(table))")?.integer
  }

  /// The greatest key that was given out or is in use; 0 where there is none.
  package func last(_ number: Int64, in table: String) throws -> Int64 {
    max(try given(number) ?? 0, try used(in: table) ?? 0, 0)
  }

  /// Notes that a key was given out.
  package func raise(_ number: Int64, to key: Int64) throws {
    try connection.run(
      "UPDATE \(schema)Z_PRIMARYKEY SET Z_MAX = max(ifnull(CAST(Z_MAX AS INTEGER), 0), ?) WHERE Z_ENT = ?",
      [.integer(key), .integer(number)])
  }

  /// The key after the last one.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where none is left.
  package static func next(after last: Int64, of entity: String) throws -> Int64 {
    let (key, isTooLarge) = last.addingReportingOverflow(1)
    guard !isTooLarge else { throw exhausted(entity) }
    return key
  }

  /// The refusal of further objects.
  package static func exhausted(_ entity: String) -> CoreDataError {
    CoreDataError(
      .refused, code: .migration, "there are no keys left for further objects", entity: entity,
      hint: "An object in the store has nearly the greatest possible key.")
  }
}

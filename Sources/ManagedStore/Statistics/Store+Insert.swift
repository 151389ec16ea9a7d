import ManagedModel
import SQLite

extension Store {
  /// Most bytes of a row that is reported as a statement.
  private static let insertLimit = 1 << 20

  /// The INSERT statement that makes an object's row as it is, under the names of SQLite.
  ///
  /// - Throws: ``CoreDataError`` where there is no such object, or its row is larger than 1 MB.
  package func insertStatement(for id: ObjectID) throws -> String {
    let table = try knownTable(of: id.entity)
    let columns = database.tables[table.table]?.map(\.name) ?? []
    return try reading {
      let sizes = columns.map { "ifnull(length(\(quoted($0))), 0)" }.joined(separator: " + ")
      let size = try connection.value(
        "SELECT \(sizes.isEmpty ? "0" : sizes) FROM \(quoted(table.table)) WHERE Z_PK = ?",
        [.integer(id.key)])
      guard let bytes = size?.integer else {
        throw CoreDataError(.usage, "there is no object \(id)", path: path)
      }
      guard bytes <= Self.insertLimit else {
        throw CoreDataError(.refused, "the row has \(bytes) bytes: too many for a statement")
      }
      let values = columns.map { "quote(\(quoted($0)))" }.joined(separator: " || ', ' || ")
      let text = try connection.value(
        "SELECT \(values) FROM \(quoted(table.table)) WHERE Z_PK = ?", [.integer(id.key)])?.text
      let names = columns.map(quoted).joined(separator: ", ")
      return "INSERT INTO \(quoted(table.table)) (\(names)) VALUES (\(text ?? ""));"
    }
  }
}

import ManagedModel
import SQLite

/// A healthy store of the same version of an app: it states what the tables of a damaged one are made of.
package struct SiblingStore: Sendable {
  /// Where it is.
  package let path: String
  /// The model in it; `nil` where there is none.
  package let model: Model?
  /// The hashes of its model's entities.
  package let versionHashes: [String: VersionHash]
  /// What its sqlite_master lists, in the order in which it was made.
  let objects: [SchemaObject]
  /// Its entities' numbers.
  let numbers: [(number: Int64, name: String)]

  /// Reads it.
  ///
  /// - Throws: ``CoreDataError`` where it cannot be read, is no store, or is damaged itself.
  package init(path: String) throws {
    let store = try Store(path: path)
    guard store.damage == nil else {
      throw CoreDataError(
        .unreadable, "the store that is to show what the tables are like is damaged itself",
        path: path, hint: "Take one that is healthy.")
    }
    self.path = path
    model = store.modelSource == .store ? store.wholeModel : nil
    versionHashes = store.metadata.versionHashes
    do {
      objects = try store.connection.rows(
        "SELECT type, name, sql FROM sqlite_master ORDER BY rowid"
      ).compactMap { row in
        guard row.count == 3, let type = row[0].text, let name = row[1].text else { return nil }
        return SchemaObject(type: type, name: name, sql: row[2].text)
      }.filter { !$0.isSQLites }
      numbers = try store.connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY").compactMap {
        guard $0.count == 2, let number = $0[0].integer, let name = $0[1].text else { return nil }
        return (number, name)
      }
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    }
  }

  /// The statements that make what it has of a kind.
  func statements(_ type: String) -> [(name: String, sql: String)] {
    objects.compactMap { object in
      object.type == type ? object.sql.map { (object.name, $0) } : nil
    }
  }
}

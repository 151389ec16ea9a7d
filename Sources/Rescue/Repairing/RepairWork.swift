import ManagedModel
import ManagedStore
import Migration
import SQLite

/// A copy of a store that is being mended, and what each step needs for it.
///
/// The copy is `main` on the connection, the list of changes `log`. Every step first notes what it is
/// going to change, by the same rows that it then changes.
struct RepairWork {
  /// The store as it was, which is only read.
  let source: Store
  let connection: Connection
  let options: RepairOptions
  /// The kinds of fault that are to be mended.
  let kinds: Set<FindingKind>
  let meter: ProgressMeter

  /// Notes a change of each row; all but the kind is SQL.
  ///
  /// - Parameter rows: FROM and WHERE.
  /// - Returns: how many there are.
  @discardableResult
  func note(
    _ kind: FindingKind, entity: String, key: String, property: String, old: String,
    new: String = "NULL", _ rows: String
  ) throws -> Int {
    try connection.execute(
      """
      INSERT INTO log.changes (kind, entity, key, property, old, new)
      SELECT \(kind.rawValue.literal), \(entity), \(key), \(property), \(old), \(new) \(rows)
      """)
    return connection.changes
  }

  /// Notes one change.
  func note(_ change: RepairChange) throws {
    func value(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    try connection.run(
      """
      INSERT INTO log.changes (kind, entity, key, property, old, new) VALUES (?, ?, ?, ?, ?, ?)
      """,
      [
        .text(change.kind), value(change.entity), change.key.map { .integer($0) } ?? .null,
        value(change.property), value(change.old), value(change.new),
      ])
  }

  /// The name of the entity of a row, as SQL.
  func entity(of row: String, else name: String) -> String {
    "coalesce((SELECT name FROM log.entities WHERE number = \(row).Z_ENT), \(name.literal))"
  }
}

extension String {
  /// The text as SQL.
  var literal: String { Value.text(self).literal }
}

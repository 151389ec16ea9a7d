import Files
import SQLite

/// The list of what was changed in a copy of a store: which properties of which objects, and which objects came or
/// went; in a private file, since there may be millions.
package final class ChangeList {
  /// What of an object was written, as the bits of history name it.
  enum Subject {
    static let attribute = "a:"
    static let toOne = "r:"
    static let toOneEntity = "e:"
    static let toOneOrder = "o:"
    static let owner = "w:"
    static let ownerOrder = "x:"
    static let toMany = "m:"
  }

  /// The name that the connection of what is changed knows it by.
  package static let schema = "listed"

  private let folder: PrivateFolder
  private let path: String
  private var reader: Connection?
  /// How many objects were changed, how many deleted, and how many came, by Z_ENT.
  package private(set) var changed: [Int64: Int] = [:]
  package private(set) var deleted: [Int64: Int] = [:]
  package private(set) var inserted: [Int64: Int] = [:]
  /// How many of the changed objects have another order key, and are else as they were.
  package private(set) var moved = 0

  /// An empty list of what is changed in a copy of a store, whose text encoding it takes on.
  package init(of store: Connection) throws {
    folder = try PrivateFolder(.disk)
    path = folder.path + "/list"
    let connection = try Connection(path: path, mode: .create, isDefensive: false)
    try connection.adoptEncoding(of: store)
    try connection.execute(
      """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      CREATE TABLE changes (number INTEGER, key INTEGER, subject TEXT, property TEXT,
        PRIMARY KEY (number, key, subject)) WITHOUT ROWID;
      CREATE TABLE deleted (number INTEGER, key INTEGER, PRIMARY KEY (number, key)) WITHOUT ROWID;
      CREATE TABLE inserted (number INTEGER, key INTEGER, PRIMARY KEY (number, key)) WITHOUT ROWID;
      """)
    connection.close()
  }

  /// Makes it known to the connection of what is changed.
  package func attach(to connection: Connection) throws {
    try connection.run("ATTACH DATABASE ? AS \(Self.schema)", [.text(path)])
    try connection.execute(
      "PRAGMA \(Self.schema).journal_mode = OFF; PRAGMA \(Self.schema).synchronous = OFF")
  }

  /// Counts what is in it, once all is.
  package func count(on connection: Connection) throws {
    func counts(_ sql: String) throws -> [Int64: Int] {
      var counts: [Int64: Int] = [:]
      for row in try connection.rows(sql) {
        guard row.count == 2, let number = row[0].integer else { continue }
        counts[number] = Int(row[1].integer ?? 0)
      }
      return counts
    }
    changed = try counts("SELECT number, count(DISTINCT key) FROM listed.changes GROUP BY 1")
    moved = try connection.number(
      """
      SELECT count(*) FROM (SELECT 1 FROM listed.changes GROUP BY number, key
      HAVING min(substr(subject, 1, 2) IN ('\(Subject.toOneOrder)', '\(Subject.ownerOrder)')))
      """)
    deleted = try counts("SELECT number, count(*) FROM listed.deleted GROUP BY 1")
    inserted = try counts("SELECT number, count(*) FROM listed.inserted GROUP BY 1")
  }

  /// Whether nothing was changed.
  package var isEmpty: Bool { changed.isEmpty && deleted.isEmpty && inserted.isEmpty }

  private func connection() throws -> Connection {
    if let reader { return reader }
    let opened = try Connection(path: path, mode: .readWrite, isDefensive: false)
    reader = opened
    return opened
  }

  /// Names of the properties that were changed of an object.
  package func properties(of number: Int64, _ key: Int64) throws -> Set<String> {
    let rows = try connection().cached(
      "SELECT property FROM changes WHERE number = ? AND key = ?"
    ).rows([.integer(number), .integer(key)])
    return Set(rows.compactMap { $0.first?.text })
  }

  /// Whether an object was deleted.
  package func tellsDeletion(of number: Int64, _ key: Int64) throws -> Bool {
    try !connection().cached("SELECT 1 FROM deleted WHERE number = ? AND key = ?")
      .firstRow([.integer(number), .integer(key)]).isEmpty
  }
}

import Files
import Migration
import SQLite
import Salvage

/// Something that a repair changed.
package struct RepairChange: Sendable, Equatable {
  /// What was wrong; ``FindingKind`` by name, or `derived` for a value that the store's own triggers
  /// recomputed because of another change.
  package var kind: String
  /// The entity of the object, or the table where it is no object's.
  package var entity: String?
  /// The object's key; `nil` where it is no object.
  package var key: Int64?
  /// The property or column; `nil` for the object as a whole.
  package var property: String?
  /// What was there; `nil` for nothing.
  package var old: String?
  /// What is there now; `nil` for nothing.
  package var new: String?
}

/// Everything that a repair changed, one by one, in a private file: there may be millions.
package final class RepairLog {
  private let folder: PrivateFolder
  private let path: String
  /// Open once the repair is done with it.
  private var reader: Connection?

  /// - Parameter store: the store that is repaired, whose text encoding the log takes on: SQLite reads databases of one
  ///   encoding only through one connection.
  init(of store: String) throws {
    folder = try PrivateFolder()
    path = folder.path + "/changes"
    // A private file of this program's own, without a journal.
    let connection = try Connection(path: path, mode: .create, isDefensive: false)
    switch FileHeader(try FileSystem.read(store, limit: FileHeader.size)).encoding {
    case .utf8: break
    case .utf16LittleEndian: try connection.execute("PRAGMA encoding = 'UTF-16le'")
    case .utf16BigEndian: try connection.execute("PRAGMA encoding = 'UTF-16be'")
    }
    try connection.execute(
      """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      CREATE TABLE changes (id INTEGER PRIMARY KEY, kind TEXT, entity TEXT, key INTEGER,
        property TEXT, old TEXT, new TEXT);
      CREATE INDEX changes_objects ON changes (entity, key);
      CREATE TABLE entities (number INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE places (owner INTEGER, key INTEGER, old INTEGER, new INTEGER);
      """)
    connection.close()
  }

  /// Makes it known as `log` to the connection of what is repaired.
  func attach(to connection: Connection, _ entities: [Int64: String]) throws {
    try connection.run("ATTACH DATABASE ? AS log", [.text(path)])
    try connection.execute("PRAGMA log.journal_mode = OFF; PRAGMA log.synchronous = OFF")
    for (number, name) in entities {
      try connection.run(
        "INSERT OR REPLACE INTO log.entities VALUES (?, ?)", [.integer(number), .text(name)])
    }
  }

  private func connection() throws -> Connection {
    if let reader { return reader }
    // It is read when the repair is done, which no request to stop undoes.
    let opened = try Connection.finishing {
      try Connection(path: path, mode: .readWrite, isDefensive: false)
    }
    try opened.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    reader = opened
    return opened
  }

  /// Notes a change that the repair found only afterwards.
  func add(_ change: RepairChange) throws {
    try connection().cached(
      "INSERT INTO changes (kind, entity, key, property, old, new) VALUES (?, ?, ?, ?, ?, ?)"
    ).run([
      .text(change.kind), Value(change.entity), change.key.map { .integer($0) } ?? .null,
      Value(change.property), Value(change.old), Value(change.new),
    ])
  }

  /// Whether a change of a property, or of the object as a whole, was noted.
  func tells(of entity: String, _ key: Int64, _ property: String) throws -> Bool {
    try !connection().cached(
      """
      SELECT 1 FROM changes WHERE entity = ? AND key = ? AND (property = ? OR property IS NULL)
      LIMIT 1
      """
    ).firstRow([.text(entity), .integer(key), .text(property)]).isEmpty
  }

  /// Whether a change of an object as a whole was noted.
  func tellsOfObject(_ entity: String, _ key: Int64) throws -> Bool {
    try !connection().cached(
      "SELECT 1 FROM changes WHERE entity = ? AND key = ? AND property IS NULL LIMIT 1"
    ).firstRow([.text(entity), .integer(key)]).isEmpty
  }

  /// Takes changes of a kind out that were not made after all.
  func forget(_ kind: FindingKind) throws {
    try connection().run("DELETE FROM changes WHERE kind = ?", [.text(kind.rawValue)])
  }

  /// Whether nothing was changed.
  func isEmpty() throws -> Bool {
    try connection().value("SELECT 1 FROM changes LIMIT 1") == nil
  }

  /// The changes by kind, with the first few of each.
  func kinds() throws -> [RepairReceipt.Kind] {
    let counts = try counts()
    let order = FindingKind.allCases.map(\.rawValue) + ["derived"]
    return try order.compactMap { name in
      guard let count = counts[name] else { return nil }
      var first: [RepairChange] = []
      try forEach(of: name, limit: 5) { first.append($0) }
      return RepairReceipt.Kind(name: name, count: count, first: first)
    }
  }

  /// How many changes there are of each kind, by its name.
  private func counts() throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for row in try connection().rows("SELECT kind, count(*) FROM changes GROUP BY 1") {
      guard row.count == 2, let kind = row[0].text else { continue }
      counts[kind] = Int(row[1].integer ?? 0)
    }
    return counts
  }

  /// The changes in the order in which they were made, one at a time.
  ///
  /// - Parameters:
  ///   - kind: only those of that kind.
  ///   - limit: at most so many.
  package func forEach(
    of kind: String? = nil, limit: Int? = nil, _ body: (RepairChange) throws -> Void
  ) throws {
    let statement = try connection().prepare(
      """
      SELECT kind, entity, key, property, old, new FROM changes
      WHERE ?1 IS NULL OR kind = ?1 ORDER BY id LIMIT ?2
      """)
    try statement.bind([Value(kind), .integer(Int64(limit ?? -1))])
    while try statement.step() {
      let row = statement.row()
      try body(
        RepairChange(
          kind: row[0].text ?? "", entity: row[1].text, key: row[2].integer,
          property: row[3].text, old: row[4].text, new: row[5].text))
    }
  }
}

extension Value {
  /// A text, or NULL.
  fileprivate init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

/// What a repair did.
package struct RepairReceipt: Sendable {
  /// Changes of one kind.
  package struct Kind: Sendable, Equatable {
    /// ``FindingKind`` by name, or `derived`.
    package var name: String
    /// How many changes.
    package var count: Int
    /// The first few.
    package var first: [RepairChange]
  }

  /// The store that was repaired, as it was given.
  package var storePath: String
  /// Where the result is: the store itself, or the output; `nil` where nothing was put in place.
  package var resultPath: String?
  /// The faults that were to be mended.
  package var faults: [Finding]
  /// What was changed, by kind.
  package var kinds: [Kind] = []
  /// Errors and warnings that are there afterwards.
  package var left: [Finding] = []
  /// What was compared and found right.
  package var verified: [MigrationReceipt.Verified] = []
  /// The store's identity.
  package var uuid: String = ""
  /// The old store, kept beside the new one.
  package var backupPath: String?
  /// The folder into which files were moved that no object names.
  package var orphanFolder: String?
  /// SHA-256 of the result's file and of the backup's, in hexadecimal.
  package var checksums: (result: String?, backup: String?) = (nil, nil)
  /// What a person should know, as sentences.
  package var notes: [String] = []
  /// Seconds in all.
  package var seconds = 0.0
  /// Seconds of them spent on verification.
  package var verificationSeconds = 0.0
  /// Size of the result in bytes.
  package var bytes = 0

  /// How many changes in all.
  package var count: Int { kinds.reduce(0) { $0 + $1.count } }

  /// Whether anything was mended, or would be.
  package var isDone: Bool { count > 0 }
}

/// A repair, with all its changes one by one.
package struct Repaired {
  /// What was done.
  package let receipt: RepairReceipt
  /// Every change; `nil` where there was nothing to mend.
  package let log: RepairLog?
}

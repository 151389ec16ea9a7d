import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport

/// What other programs, an app's own SQL and old faults leave in stores.
enum StoreOddity: String, Sendable {
  case ownColumn, ownTable, ownIndex, joinWithoutObject, joinWithNull, danglingToOne
  case emptyMandatory, emptiedMandatoryToOne, textInNumber, fractionInInteger, bytesInText
  case unknownEntity, missingTable, missingKeyRow, oneSided
  case wrongKind, noPosition, leftover, missingColumn, wideText, frames

  static let usual: [StoreOddity] = [
    .ownColumn, .ownTable, .ownIndex, .joinWithoutObject, .joinWithNull, .danglingToOne,
    .emptyMandatory, .emptiedMandatoryToOne, .textInNumber, .fractionInInteger, .bytesInText,
    .unknownEntity, .missingTable, .missingKeyRow, .oneSided,
  ]
  static let rare: [StoreOddity] = [
    .wrongKind, .noPosition, .leftover, .missingColumn, .wideText, .frames,
  ]

  /// Those after which nothing may be said of the objects: a plan refuses such a store.
  var breaksStore: Bool {
    [.unknownEntity, .missingTable, .missingKeyRow, .missingColumn].contains(self)
  }

  /// Changes a store.
  ///
  /// - Returns: what was done, as SQL; `nil` where the store has nothing it can be done to.
  func apply(to path: String, using generator: inout SeededGenerator) throws -> String? {
    let store = try Store(path: path)
    guard let sql = sql(for: store, using: &generator) else { return nil }
    store.connection.close()
    if self == .wideText || self == .frames {
      let copy = path + ".copy"
      if self == .wideText {
        try Connection.transcode(path, to: copy, sql)
        try FileSystem.rename(copy, to: path)
      } else {
        try Self.leaveFrames(path, copy, sql)
      }
      return "\(rawValue): \(sql)"
    }
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    try connection.execute(sql)
    // What touched nothing left nothing.
    guard sql.hasPrefix("UPDATE") == false || connection.changes > 0 else { return nil }
    return "\(rawValue): \(sql)"
  }

  private func sql(for store: Store, using generator: inout SeededGenerator) -> String? {
    let tables = store.entityTables.filter {
      store.model.entity(named: $0.entity)?.isAbstract == false
    }
    guard let table = generator.pick(tables) else { return nil }
    let name = quoted(table.table)
    let rows = "Z_ENT = \(table.entityID) AND Z_PK % 2 = \(generator.pick([0, 1]) ?? 0)"
    func column(_ isMeant: (Attribute) -> Bool) -> String? {
      generator.pick(
        table.attributes.filter { isMeant($0.attribute) && $0.attribute.name != "zMark" }
      )
      .map { quoted($0.column) }
    }
    func set(_ value: String, where isMeant: (Attribute) -> Bool) -> String? {
      column(isMeant).map { "UPDATE OR IGNORE \(name) SET \($0) = \(value) WHERE \(rows)" }
    }
    let model = store.model
    switch self {
    case .wrongKind:
      let columns = table.relationships.compactMap { entry -> (String, String, Int64)? in
        let destination = entry.relationship.destination
        let others = store.entityTables.filter {
          $0.table == store.table(of: destination)?.table
            && !model.isKind($0.entity, of: destination)
        }
        guard let column = entry.storage?.toOneColumn, let other = generator.pick(others) else {
          return nil
        }
        return (quoted(column), quoted(other.table), other.entityID)
      }
      return generator.pick(columns).map { column, other, number in
        """
        UPDATE OR IGNORE \(name) SET \(column) = (SELECT max(Z_PK) FROM \(other) WHERE Z_ENT = \(number))
        WHERE \(rows) AND EXISTS (SELECT 1 FROM \(other) WHERE Z_ENT = \(number))
        """
      }
    case .noPosition:
      let places = store.entityTables.flatMap(\.relationships).compactMap { entry in
        entry.storage.flatMap { storage in storage.position.map { (storage.table, $0) } }
      }
      return generator.pick(places).map { table, column in
        "UPDATE \(quoted(table)) SET \(quoted(column)) = NULL WHERE rowid % 2 = 0"
      }
    case .leftover:
      let own = Set(table.attributes.map(\.column))
      let others = store.entityTables.filter { $0.table == table.table }.flatMap(\.attributes)
        .filter { !own.contains($0.column) && $0.attribute.name != "zMark" }
      return generator.pick(others).map {
        "UPDATE OR IGNORE \(name) SET \(quoted($0.column)) = 7 WHERE \(rows)"
      }
    case .missingColumn:
      // SQLite drops no column that an index is over.
      let users = try? store.connection.rows(
        "SELECT sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL")
      let used = (users ?? []).compactMap(\.first?.text).joined()
      return column { _ in true }.flatMap {
        used.contains($0.dropFirst().dropLast()) ? nil : "ALTER TABLE \(name) DROP COLUMN \($0)"
      }
    case .wideText: return generator.pick(TextEncodingTests.encodings)
    case .frames:
      return "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1; UPDATE \(name) SET Z_OPT = Z_OPT + 1"
    case .ownColumn:
      guard store.database.tables.values.allSatisfy({ !$0.contains { $0.name == "MINE" } }) else {
        return nil
      }
      return """
        ALTER TABLE \(name) ADD COLUMN MINE TEXT; UPDATE \(name) SET MINE = 'x' WHERE Z_PK % 2 = 0
        """
    case .ownTable:
      guard !store.database.contains("OWN") else { return nil }
      return """
        CREATE TABLE OWN (id INTEGER PRIMARY KEY, t TEXT); INSERT INTO OWN VALUES (1, 'a');
        CREATE VIEW SEEN AS SELECT * FROM OWN; CREATE TABLE KEYED (a TEXT PRIMARY KEY, b) WITHOUT ROWID;
        INSERT INTO KEYED VALUES ('k', 1)
        """
    case .ownIndex:
      return column { $0.type == .string }.map {
        "CREATE INDEX IF NOT EXISTS own_index ON \(name) (\($0))"
      }
    case .joinWithoutObject: return join(store, "88888", using: &generator)
    case .joinWithNull: return join(store, "NULL", using: &generator)
    case .danglingToOne:
      return generator.pick(table.relationships.compactMap { $0.storage?.toOneColumn }).map {
        "UPDATE OR IGNORE \(name) SET \(quoted($0)) = 77777 WHERE \(rows)"
      }
    case .emptyMandatory: return set("NULL") { !$0.isOptional }
    case .emptiedMandatoryToOne:
      let columns = table.relationships.filter { !$0.relationship.isOptional }
      return generator.pick(columns.compactMap { $0.storage?.toOneColumn }).map {
        "UPDATE OR IGNORE \(name) SET \(quoted($0)) = NULL WHERE \(rows)"
      }
    case .textInNumber: return set("'many'") { $0.type == .integer32 || $0.type == .double }
    case .fractionInInteger: return set("1.5") { $0.type == .integer16 || $0.type == .integer64 }
    case .bytesInText: return set("x'00FF'") { $0.type == .string }
    case .unknownEntity: return "UPDATE OR IGNORE \(name) SET Z_ENT = 15000 WHERE \(rows)"
    case .missingTable: return "DROP TABLE \(name)"
    case .missingKeyRow: return "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = '\(table.entity)'"
    case .oneSided:
      let sides = table.relationships.filter { entry in
        !entry.relationship.isToMany
          && entry.relationship.inverse.flatMap {
            store.model.relationship(named: $0, of: entry.relationship.destination)
          }?.isToMany == false
      }
      return generator.pick(sides.compactMap { $0.storage?.toOneColumn }).map {
        "UPDATE OR IGNORE \(name) SET \(quoted($0)) = NULL WHERE \(rows)"
      }
    }
  }

  /// Runs a statement of which only the -wal knows, as an app that was killed leaves it.
  private static func leaveFrames(_ path: String, _ copy: String, _ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \(sql)")
    for suffix in ["", "-wal"] { try FileSystem.copyOver(path + suffix, to: copy + suffix) }
    connection.close()
    for suffix in ["", "-wal"] { try FileSystem.rename(copy + suffix, to: path + suffix) }
    FileSystem.remove(path + "-shm")
  }

  /// A row in a join table of which an end is nothing.
  private func join(
    _ store: Store, _ end: String, using generator: inout SeededGenerator
  ) -> String? {
    let joins = store.entityTables.flatMap(\.relationships).compactMap(\.storage).filter {
      $0.kind == .join || $0.kind == .reflexive
    }
    guard let join = generator.pick(joins) else { return nil }
    let columns = [join.owner, join.destination].map(quoted)
    let isOwner = generator.chance(50)
    return """
      INSERT OR IGNORE INTO \(quoted(join.table)) (\(columns[0]), \(columns[1]))
      VALUES (\(isOwner ? "1, \(end)" : "\(end), 1"))
      """
  }
}

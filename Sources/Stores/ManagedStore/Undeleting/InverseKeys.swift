import ManagedModel
import SQLite
import Salvage
import StoreTables

/// Determines keys of rows that lost theirs by the other side of a one-to-one, which still names them.
///
/// A row that names another, and that other names a key which no row has: it is that row's own. The key is
/// inferred, and said to be.
struct InverseKeys {
  /// A one-to-one: rows of one table name those of another, which name them.
  private struct Pair {
    /// The table whose rows lack keys, and the column in which they name the other's.
    var place: Int
    var column: String
    /// The other table, and the column in which it names them.
    var other: Int
    var otherColumn: String
    var otherIndex: Int
    /// What keys the other table's rows name that no row has, by their own.
    var named: [Int64: Int64] = [:]
    /// All such keys, whether the row that names one has its own or not.
    var allNamed: Set<Int64> = []
  }

  private let tables: [SalvagedTable]
  private var pairs: [Pair] = []
  private static let most = 200_000

  /// - Parameter keyless: tables that rows without a key were found of, by place.
  init(_ schema: StoreSchema, _ tables: [SalvagedTable], keyless: Set<Int>) {
    self.tables = tables
    for place in keyless.sorted() {
      guard let table = schema.table(named: tables[place].name) else { continue }
      for column in table.columns {
        guard case .toOne(let entity, let name) = column.content,
          let relationship = schema.model.relationship(named: name, of: entity),
          let back = schema.otherSide(of: relationship),
          let other = tables.firstIndex(where: { $0.name == back.table }),
          let index = tables[other].columns.firstIndex(where: { $0.name == back.destination }),
          tables[place].columns.contains(where: { $0.name == column.name })
        else { continue }
        pairs.append(
          Pair(
            place: place, column: column.name, other: other, otherColumn: back.destination,
            otherIndex: index))
      }
    }
  }

  /// Takes a row of the store.
  ///
  /// - Parameter live: for each table the keys of the rows that are there.
  mutating func add(_ record: borrowing Record, _ place: Int, key: Int64, live: [KeySet]) {
    for number in pairs.indices where pairs[number].other == place {
      guard let named = record.integer(pairs[number].otherIndex) else { continue }
      take(number, key, named, live)
    }
  }

  private mutating func take(_ number: Int, _ key: Int64, _ named: Int64, _ live: [KeySet]) {
    guard named > 0, !live[pairs[number].place].contains(named),
      pairs[number].named.count < Self.most
    else { return }
    pairs[number].named[key] = named
    pairs[number].allNamed.insert(named)
  }

  /// Gives the keys that are reported, each with the row that it is of.
  ///
  /// - Parameter possible: the keys that rows without one can have had, by table and row, as far as anything limits
  ///   them.
  mutating func keys(
    _ connection: Connection, live: [KeySet], possible: [[Int64: [Int64]]],
    _ body: (_ place: Int, _ pk: Int64, _ key: Int64) throws -> Void
  ) throws {
    for number in pairs.indices {
      let pair = pairs[number]
      // Rows of the other table that were deleted, too.
      for row in try connection.rows(
        """
        SELECT r.key, t.\(quoted(pair.otherColumn)) FROM found.row r \
        JOIN \(quoted(tables[pair.other].name)) t ON t.Z_PK = r.pk \
        WHERE r.place = ? AND (r.state IS NULL OR r.state = 0)
        """, [.integer(Int64(pair.other))])
      {
        guard row.count == 2, let named = row[1].integer else { continue }
        if let key = row[0].integer {
          take(number, key, named, live)
        } else if pairs[number].allNamed.count < Self.most {
          pairs[number].allNamed.insert(named)
        }
      }
      var proposed: [Int64: [Int64]] = [:]
      for row in try connection.rows(
        """
        SELECT r.pk, t.\(quoted(pair.column)) FROM found.row r \
        JOIN \(quoted(tables[pair.place].name)) t ON t.Z_PK = r.pk \
        WHERE r.place = ?1 AND r.key IS NULL AND r.state IS NULL
        """, [.integer(Int64(pair.place))])
      {
        guard row.count == 2, let pk = row[0].integer, let other = row[1].integer,
          let key = pairs[number].named[other]
        else { continue }
        proposed[key, default: []].append(pk)
      }
      for (key, rows) in proposed where rows.count == 1 { try body(pair.place, rows[0], key) }
    }
    for place in Set(pairs.map(\.place)).sorted() {
      try eliminate(place, connection, possible[place]) { try body(place, $0, $1) }
    }
  }

  /// Gives each row the one key that is left to it: of those that it can have had, others have some, and some are
  /// named by objects that it does not name.
  private func eliminate(
    _ place: Int, _ connection: Connection, _ possible: [Int64: [Int64]],
    _ body: (_ pk: Int64, _ key: Int64) throws -> Void
  ) throws {
    let own = pairs.filter { $0.place == place }
    let columns = own.map { ", t.\(quoted($0.column))" }.joined()
    let rows = try connection.rows(
      """
      SELECT r.pk\(columns) FROM found.row r JOIN \(quoted(tables[place].name)) t ON t.Z_PK = r.pk \
      WHERE r.place = ? AND r.key IS NULL AND r.state IS NULL LIMIT \(Self.mostEliminated + 1)
      """, [.integer(Int64(place))])
    // A row that can have any key can have each.
    guard rows.count <= Self.mostEliminated,
      rows.allSatisfy({ $0[0].integer.map { possible[$0] != nil } ?? false })
    else { return }
    let found = try connection.rows(
      "SELECT DISTINCT key FROM found.row WHERE place = ? AND key IS NOT NULL AND (state IS NULL OR state = 0)",
      [.integer(Int64(place))])
    let taken = Set(found.compactMap { $0.first?.integer })
    var claims: [Int64: [Int64]] = [:]
    var isOnly: Set<Int64> = []
    for row in rows {
      guard let pk = row[0].integer else { continue }
      let left = (possible[pk] ?? []).filter { key in
        !taken.contains(key)
          && own.enumerated().allSatisfy { index, pair in
            let named = row[index + 1].integer.flatMap { pair.named[$0] }
            return named.map { $0 == key } ?? !pair.allNamed.contains(key)
          }
      }
      for key in left { claims[key, default: []].append(pk) }
      if left.count == 1 { isOnly.insert(pk) }
    }
    for (key, rows) in claims.sorted(by: { $0.key < $1.key })
    where rows.count == 1 && isOnly.contains(rows[0]) {
      try body(rows[0], key)
    }
  }

  private static let mostEliminated = 1000
}

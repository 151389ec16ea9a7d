import ManagedModel
import SQLite
import Salvage

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
  }

  /// Gives the keys that are reported, each with the row that it is of.
  mutating func keys(
    _ connection: Connection, live: [KeySet],
    _ body: (_ place: Int, _ pk: Int64, _ key: Int64) throws -> Void
  ) throws {
    for number in pairs.indices {
      let pair = pairs[number]
      // Rows of the other table that were deleted, too.
      for row in try connection.rows(
        """
        SELECT r.key, t.\(quoted(pair.otherColumn)) FROM found.row r \
        JOIN \(quoted(tables[pair.other].name)) t ON t.Z_PK = r.pk \
        WHERE r.place = ? AND r.key IS NOT NULL AND (r.state IS NULL OR r.state = 0)
        """, [.integer(Int64(pair.other))])
      {
        guard row.count == 2, let key = row[0].integer, let named = row[1].integer else { continue }
        take(number, key, named, live)
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
  }
}

import ManagedModel
import SQLite
import Salvage
import StoreTables

extension SalvagedCopy {
  var joins: [String: StoreSchema.JoinTable] {
    Dictionary((schema?.joins ?? []).map { ($0.name, $0) }) { first, _ in first }
  }

  /// Join tables whose tree is not known.
  func joinCandidates() -> [JoinPlacing.Candidate] {
    guard let schema else { return [] }
    let greatest = Dictionary(
      ((try? connection.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY")) ?? []).compactMap { row in
        row.count == 2
          ? row[0].integer.flatMap { entity in row[1].integer.map { (entity, $0) } } : nil
      }
    ) { first, _ in first }
    let tables = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    return schema.joins.compactMap { join in
      // One whose tree lacks pages may have lost those that reference the rest; and where pages of two stores are
      // mixed, the list of tables may be the other one's.
      guard let table = tables[join.name],
        table.root == 0 || source.trees.doubt == .all
          || source.trees.holes.contains(where: { $0.root == table.root })
      else { return nil }
      // A migration in place may have left the columns the other way round.
      let isTurned = table.columns.first?.name == join.second && !join.isReflexive
      let entities = [join.entity, join.inverseEntity]
      let sides = (isTurned ? entities.reversed() : entities).compactMap { entity in
        schema.table(of: entity).map { side in
          let numbers = Set(schema.model.subtree(of: entity).compactMap { schema.numbers[$0] })
          return JoinPlacing.Side(
            table: side.name, numbers: numbers,
            greatest: greatest[schema.numbers[side.root] ?? 0] ?? .max,
            isWholeTable: numbers == tables[side.name]?.numbers)
        }
      }
      return sides.count == 2 ? .init(table: table, sides: sides) : nil
    }
  }

  /// The first links of tables of which some are there, by table and key.
  func linksOfTrees(_ tables: [SalvagedTable]) throws -> [String: [Int64: [Int64]]] {
    var result: [String: [Int64: [Int64]]] = [:]
    for table in tables where table.rows > 0 {
      let pair = table.columns.prefix(2).map { quoted($0.name) }.joined(separator: ", ")
      let rows = try connection.rows(
        "SELECT rowid, \(pair) FROM \(quoted(table.name)) ORDER BY rowid LIMIT \(JoinPlacing.sampleSize)"
      )
      for row in rows {
        let numbers = row.compactMap(\.integer)
        guard numbers.count == 3 else { continue }
        result[table.name, default: [:]][numbers[0]] = Array(numbers.dropFirst())
      }
    }
    return result
  }

  /// The table that links are kept in of which nothing shows whose they are. It is none of Core Data's, which
  /// leaves it alone.
  package static let undecidedLinks = "STRATA_UNDECIDED_LINKS"

  /// Keeps the rows of keys alone that could be links of several relationships, with the names of these.
  func keepLinks(
    besides groups: [Int: SalvagedTable], _ known: [Int: SalvagedTable], _ joining: JoinPlacing
  ) throws {
    try connection.execute(
      "CREATE TABLE \(Self.undecidedLinks) (PAGE INTEGER, TREE INTEGER, FIRST INTEGER, SECOND INTEGER, FIRST_ORDER INTEGER, SECOND_ORDER INTEGER, TABLES VARCHAR)"
    )
    let insert = try connection.prepare(
      "INSERT INTO \(Self.undecidedLinks) VALUES (?, ?, ?, ?, ?, ?, ?)")
    var scan = RowScan(source.image, source.trees)
    try scan.rows(where: { Self.isFound($0, $1, besides: known) }, isCancelled: isCancelled) {
      row, record in
      let row = standing(row, record, in: known)
      let group = JoinPlacing.group(of: row)
      guard known[row.root] == nil, groups[group] == nil, joining.isWaiting(record) else { return }
      insert.reset()
      try insert.bind(.integer(Int64(row.page)), at: 0)
      try insert.bind(row.root > 0 ? .integer(Int64(row.root)) : .null, at: 1)
      for column in 0..<4 {
        try insert.bind(record.integer(column).map { .integer($0) } ?? .null, at: 2 + column)
      }
      try insert.bind(.text(joining.possible(for: group).joined(separator: " ")), at: 6)
      try insert.step()
    }
  }

  /// A row as one of its page alone, unless it fits the table of its tree: where pages of two stores are mixed, what leads
  /// to a page may have another table there.
  func standing(
    _ row: RowScan.Row, _ record: borrowing Record, in known: [Int: SalvagedTable]
  ) -> RowScan.Row {
    guard source.trees.doubt == .all else { return row }
    if let table = known[row.root], table.fits(record) { return row }
    var row = row
    row.root = 0
    return row
  }

  /// Whether a page's rows were found besides the tables that the schema names.
  static func isFound(
    _ role: TreeMap.Role, _ root: Int, besides named: [Int: SalvagedTable]
  ) -> Bool {
    root != 1
      && (role == .broken || role == .adopted || role == .leaf && named[root] == nil)
  }
}

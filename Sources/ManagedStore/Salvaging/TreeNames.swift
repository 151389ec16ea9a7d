import ManagedModel
import SQLite
import Salvage

/// Which trees of a database without a schema are whose, determined by what is in them.
struct TreeNames {
  private static let rowsOfTree = 16

  /// The tables whose trees are determined by their first rows, with the roots of these.
  ///
  /// One whose rows do not all look alike, and one that two trees may be, is not among them.
  ///
  /// - Parameter known: roots that the schema names.
  static func tables(
    of source: SalvageSource, among tables: [SalvagedTable], besides known: Set<Int>
  ) throws -> [String: Int] {
    var placing = RowPlacing(tables: tables)
    var seen: [Int: Int] = [:]
    var doubtful: Set<Int> = []
    var scan = RowScan(source.image, source.trees)
    try scan.rows(
      where: { role, root in
        role == .leaf && root > 1 && !known.contains(root) && !doubtful.contains(root)
          && seen[root, default: 0] < rowsOfTree
      }
    ) { row, record in
      seen[row.root, default: 0] += 1
      let table = placing.table(for: record, in: row.root)
      if table?.fits(record) != true || table?.keyColumn == nil { doubtful.insert(row.root) }
    }
    let told = placing.trees.filter { !doubtful.contains($0.key) }
    return Dictionary(grouping: told.keys) { told[$0]?.name ?? "" }
      .compactMapValues { $0.count == 1 ? $0[0] : nil }
  }

  /// The indexes whose trees are determined by entries that are right of the rows that are there.
  static func indexes(
    of source: SalvageSource, besides copied: [Bool], in connection: Connection
  ) throws -> [String: Int] {
    let trees = try IndexTree.all(in: source.image, besides: copied)
    var roots: [String: [Int]] = [:]
    var names: [Int: Int] = [:]
    // One that leaves rows out would have to be distinguished from one that does not.
    let rows = try connection.rows(
      """
      SELECT m.name, m.tbl_name FROM sqlite_master m JOIN pragma_index_list(m.tbl_name) l
      ON l.name = m.name WHERE m.type = 'index' AND m.sql IS NOT NULL AND l.partial = 0
      """)
    for row in rows where row.count == 2 {
      guard let name = row[0].text, let table = row[1].text,
        let columns = try columns(of: name, connection)
      else { continue }
      let list = columns.map(quoted).joined(separator: ", ")
      let query = try connection.prepare("SELECT \(list) FROM \(quoted(table)) WHERE rowid = ?")
      for tree in trees where try tree.entries.allSatisfy({ try isRight($0, query) }) {
        roots[name, default: []].append(tree.root)
        names[tree.root, default: 0] += 1
      }
    }
    return roots.compactMapValues { $0.count == 1 && names[$0[0]] == 1 ? $0[0] : nil }
  }

  /// The columns of an index; `nil` where it is over more than columns.
  private static func columns(of index: String, _ connection: Connection) throws -> [String]? {
    var columns: [String] = []
    for row in try connection.rows("PRAGMA index_xinfo(\(quoted(index)))") where row.count >= 6 {
      guard row[5].integer == 1 else { continue }
      guard let name = row[2].text, row[1].integer ?? -1 >= 0 else { return nil }
      columns.append(name)
    }
    return columns.isEmpty ? nil : columns
  }

  /// Whether the row that an entry names has the entry's values.
  private static func isRight(_ entry: [RecordValue], _ query: Statement) throws -> Bool {
    guard case .integer(let key)? = entry.last else { return false }
    query.reset()
    try query.bind(.integer(key), at: 0)
    guard try query.step() else { return false }
    let values = query.row()
    return entry.count == values.count + 1 && zip(entry, values).allSatisfy(isEqual)
  }

  private static func isEqual(_ stored: RecordValue, _ value: Value) -> Bool {
    switch (stored, value) {
    case (.null, .null): true
    case (.integer(let first), .integer(let second)): first == second
    // A whole number in a column of reals is kept as an integer.
    case (.integer(let first), .real(let second)): Double(first) == second
    case (.real(let first), .real(let second)): first == second
    case (.text(let bytes), .text(let text)): text.utf8.elementsEqual(bytes)
    case (.blob(let first), .blob(let second)): first == second
    default: false
    }
  }
}

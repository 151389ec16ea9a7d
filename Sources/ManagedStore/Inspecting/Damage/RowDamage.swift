import ManagedModel
import SQLite
import Salvage

/// What of the rows of a damaged file is not as it should be, and is read by SQLite without a word.
///
/// Pages are looked at by themselves: whose they are, in which order their keys stand, whether a row ends where
/// it says. Indexes are asked for keys that no page of their table has.
package struct RowDamage: Sendable, Equatable {
  /// Rows of which a part stands on pages that are another's, or that are gone: their keys, by table.
  package var cut: [String: [Int64]] = [:]
  /// How many rows were found on pages that no tree references, by table.
  package var adopted: [String: Int] = [:]
  /// Places on pages that should be rows, and are not.
  package var unreadable = 0
  /// Rows that stand where another table's should.
  package var misplaced = 0
  /// Pages that stand where their tree has other keys.
  package var outOfPlace = 0
  /// Keys that an index holds and that no page of its table has, by table.
  package var missing: [String: [Int64]] = [:]
  /// Keys of rows of which an index has other values, by table: one of the two is older, or damaged.
  package var doubtful: [String: [Int64]] = [:]

  private static let mostListed = 10_000

  /// Whether SQLite reads other rows than the pages have.
  var isReadWrong: Bool {
    !cut.isEmpty || !adopted.isEmpty || unreadable > 0 || misplaced > 0 || outOfPlace > 0
  }
  /// Whether nothing was found.
  package var isEmpty: Bool { !isReadWrong && missing.isEmpty }

  /// Nothing.
  init() {}

  /// Looks at a file that SQLite found damaged.
  ///
  /// - Parameter source: its pages; `nil` where they cannot be read by themselves.
  /// - Throws: ``SQLiteError`` where it was interrupted.
  init(_ source: SalvageSource?, _ connection: Connection) throws {
    if let source { try? look(at: source) }
    try askIndexes(connection)
  }

  private mutating func look(at source: SalvageSource) throws {
    let names = Dictionary(
      source.objects.filter { $0.object.type == "table" && $0.root > 1 }.map {
        ($0.root, $0.object.name)
      }
    ) { first, _ in first }
    let columns = try source.columnCounts()
    var scan = RowScan(source.image, source.trees)
    var (cut, adopted, misplaced) = ([String: [Int64]](), [String: Int](), 0)
    try scan.rows(where: SalvageSource.holdsRows) { row, record in
      let name = names[row.root] ?? ""
      if let count = columns[name], record.count > count {
        misplaced += 1
        return
      }
      if row.certainty == .guessed { adopted[name, default: 0] += 1 }
      if !record.isWhole, cut[name, default: []].count < Self.mostListed {
        cut[name, default: []].append(row.key)
      }
    }
    (self.cut, self.adopted, self.misplaced) = (cut, adopted, misplaced)
    unreadable = scan.unreadable
    outOfPlace = source.trees.outOfPlace.count
  }

  private mutating func askIndexes(_ connection: Connection) throws {
    let rows =
      (try? connection.rows(
        """
        SELECT m.name, l.name FROM sqlite_master m JOIN pragma_index_list(m.name) l \
        WHERE m.type = 'table' AND m.rootpage > 0 AND l.partial = 0
        """)) ?? []
    for row in rows where row.count == 2 {
      guard let table = row[0].text, let index = row[1].text else { continue }
      func add(_ sql: String, to list: inout [String: [Int64]]) throws {
        let keys = try connection.rows("\(sql) LIMIT \(Self.mostListed)").compactMap {
          $0.first?.integer
        }
        guard !keys.isEmpty else { return }
        list[table] = Set(list[table] ?? []).union(keys).sorted()
      }
      do {
        let columns = try connection.rows("PRAGMA index_info(\(quoted(index)))").map {
          $0.last?.text
        }
        let own = columns.compactMap { $0.map(quoted) }
        let values = own.enumerated().map { ", \($1) v\($0)" }.joined()
        let entries =
          "(SELECT rowid k\(values) FROM \(quoted(table)) INDEXED BY \(quoted(index)) WHERE ifnull(rowid, 1) IS NOT NULL)"
        try add(
          "SELECT k FROM \(entries) WHERE k NOT IN (SELECT rowid FROM \(quoted(table)) NOT INDEXED)",
          to: &missing)
        // One over an expression is not compared.
        guard !own.isEmpty, own.count == columns.count else { continue }
        let differs = own.enumerated().map { "t.\($1) IS NOT v\($0)" }.joined(separator: " OR ")
        try add(
          "SELECT k FROM \(entries) JOIN \(quoted(table)) t NOT INDEXED ON t.rowid = k WHERE \(differs)",
          to: &doubtful)
      } catch let error as SQLiteError {
        if error.isInterrupted { throw error }
        // An index that cannot be read proves nothing.
      }
    }
  }
}

extension RowDamage {
  /// What a person should know of it, as sentences.
  ///
  /// - Parameter tables: entities by their tables.
  func sentences(_ tables: [EntityTable]) -> [String] {
    func what(_ count: Int, _ table: String) -> String {
      let own = tables.filter { $0.table == table }
      guard let root = own.first(where: \.isWholeTable) ?? own.first else {
        return
          "\(NumberText.counted(count, "row")) of \(table.isEmpty ? "an unknown table" : "the table \(table)")"
      }
      return
        "\(NumberText.counted(count, "object")) of \(root.entity)\(root.numbers.count > 1 ? " or its subentities" : "")"
    }
    func keys(_ keys: [Int64]) -> String {
      keys.prefix(5).map { "p\($0)" }.joined(separator: ", ") + (keys.count > 5 ? " …" : "")
    }
    func more(_ keys: [Int64]) -> String { keys.count < Self.mostListed ? "" : " or more" }
    var result = cut.sorted { $0.key < $1.key }.map { table, own in
      "\(what(own.count, table))\(more(own)) \(own.count == 1 ? "is" : "are") damaged: a part is on pages that belong to others, or that are missing (\(keys(own)))."
    }
    result += missing.sorted { $0.key < $1.key }.map { table, own in
      "\(what(own.count, table))\(more(own)) \(own.count == 1 ? "is" : "are") in an index and on no page of the table (\(keys(own)))."
    }
    result += adopted.sorted { $0.key < $1.key }.map { table, count in
      "\(what(count, table)) \(count == 1 ? "is" : "are") on pages that no b-tree of the table references."
    }
    if unreadable > 0 {
      result.append(
        "\(NumberText.counted(unreadable, "place on a page holds", plural: "places on pages hold")) no row that can be read."
      )
    }
    if outOfPlace > 0 {
      result.append(
        "\(NumberText.counted(outOfPlace, "page")) \(outOfPlace == 1 ? "is" : "are") where the table has other keys: what should be there is lost."
      )
    }
    if misplaced > 0 {
      result.append(
        "\(NumberText.counted(misplaced, "row is", plural: "rows are")) where another table's should be."
      )
    }
    return result
  }
}

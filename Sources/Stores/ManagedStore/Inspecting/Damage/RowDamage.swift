import ManagedModel
import SQLite
import Salvage
import StoreTables

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
  /// Keys that an index holds and that are no row's, by table: no object can have them, or another index has the
  /// keys of all rows and no other.
  package var strays: [String: [Int64]] = [:]
  /// Keys of rows of which an index has other values, by table: one of the two is older, or damaged.
  package var doubtful: [String: [Int64]] = [:]

  /// How many rows are on pages whose cells, freed blocks and fragments do not fill them, by table.
  package var unbalanced: [String: Int] = [:]

  private static let mostListed = 10_000

  /// Whether SQLite reads other rows than the pages have.
  var isReadWrong: Bool {
    !cut.isEmpty || !adopted.isEmpty || unreadable > 0 || misplaced > 0 || outOfPlace > 0
  }
  /// Whether nothing was found.
  package var isEmpty: Bool { !isReadWrong && missing.isEmpty && unbalanced.isEmpty }

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
    for (root, count) in scan.unbalanced { unbalanced[names[root] ?? "", default: 0] += count }
    outOfPlace = source.trees.outOfPlace.count
  }

  private mutating func askIndexes(_ connection: Connection) throws {
    let rows =
      (try? connection.rows(
        """
        SELECT m.name, l.name FROM sqlite_master m JOIN pragma_index_list(m.name) l \
        WHERE m.type = 'table' AND m.rootpage > 0 AND l.partial = 0
        """)) ?? []
    let indexes = rows.compactMap { row in
      row.count == 2
        ? row[0].text.flatMap { table in row[1].text.map { (table: table, name: $0) } } : nil
    }
    for (table, indexes) in Dictionary(grouping: indexes, by: \.table) {
      var (lost, differing, strays) = (Set<Int64>(), Set<Int64>(), Set<Int64>())
      for index in indexes {
        do {
          let entries = try Entries(of: index.name, on: table, connection)
          let strangers = try entries.strangers()
          let orphans = try entries.orphans(among: strangers)
          lost.formUnion(orphans)
          strays.formUnion(strangers.subtracting(orphans))
          differing.formUnion(try entries.others())
        } catch let error as SQLiteError {
          if error.isInterrupted { throw error }
          // An index that cannot be read proves nothing.
        }
      }
      // Rows that are lost are in every index: where one has the keys of all rows, and no other, the rest is wrong.
      if !lost.isEmpty,
        try indexes.contains(where: { try Entries.areAll(of: $0.name, on: table, connection) })
      {
        strays.formUnion(lost)
        lost = []
      }
      if !strays.isEmpty { self.strays[table] = strays.sorted() }
      if !lost.isEmpty { missing[table] = lost.sorted() }
      if !differing.isEmpty { doubtful[table] = differing.sorted() }
    }
  }

  /// What an index has of the rows of its table.
  private struct Entries {
    private let connection: Connection
    private let table: String
    /// Its columns; `nil` where it is over an expression, and values are not compared.
    private let columns: [String]?
    /// SQL of the keys `k` and the values.
    private let all: String

    init(of name: String, on table: String, _ connection: Connection) throws {
      self.connection = connection
      self.table = quoted(table)
      let listed = try connection.rows("PRAGMA index_info(\(quoted(name)))").map { $0.last?.text }
      let own = listed.compactMap { $0.map(quoted) }
      columns = own.isEmpty || own.count < listed.count ? nil : own
      let values = own.enumerated().map { ", \($1) v\($0)" }.joined()
      all =
        "(SELECT rowid k\(values) FROM \(self.table) INDEXED BY \(quoted(name)) WHERE ifnull(rowid, 1) IS NOT NULL)"
    }

    private func keys(_ sql: String) throws -> Set<Int64> {
      Set(try connection.rows("\(sql) LIMIT \(mostListed)").compactMap { $0.first?.integer })
    }

    /// Keys that no row has.
    func strangers() throws -> Set<Int64> {
      try keys("SELECT k FROM \(all) WHERE k NOT IN (SELECT rowid FROM \(table) NOT INDEXED)")
    }

    /// Keys of rows that may be lost. No object ever had one below 1; a row of an app's own table may.
    func orphans(among found: Set<Int64>) throws -> Set<Int64> {
      guard found.contains(where: { $0 < 1 }),
        try connection.rows("PRAGMA table_info(\(table))").contains(where: {
          $0.count > 1 && $0[1] == .text("Z_PK")
        })
      else { return found }
      return found.filter { $0 > 0 }
    }

    /// Keys of rows that have other values. Where another entry has such a key with the row's own, this one is wrong.
    func others() throws -> Set<Int64> {
      guard let columns else { return [] }
      let differs = columns.enumerated().map { "t.\($1) IS NOT v\($0)" }.joined(separator: " OR ")
      let found = try keys(
        "SELECT k FROM \(all) JOIN \(table) t NOT INDEXED ON t.rowid = k WHERE \(differs)")
      guard !found.isEmpty else { return [] }
      return found.subtracting(
        try keys("SELECT k FROM \(all) GROUP BY k HAVING count(*) > 1"))
    }

    /// Whether an index has the key of each row once, and no other.
    static func areAll(
      of name: String, on table: String, _ connection: Connection
    ) throws -> Bool {
      do {
        let entries = try Entries(of: name, on: table, connection)
        guard try entries.strangers().isEmpty else { return false }
        let count = try connection.rows("SELECT count(*), count(DISTINCT k) FROM \(entries.all)")
        let rows = try connection.value("SELECT count(*) FROM \(entries.table) NOT INDEXED")
        return count.first.map { $0.allSatisfy { $0 == rows } } ?? false
      } catch let error as SQLiteError {
        if error.isInterrupted { throw error }
        return false
      }
    }
  }
}

extension RowDamage {
  /// What a person should know of it, as sentences.
  ///
  /// - Parameter tables: entities by their tables.
  func sentences(_ tables: [EntityTable]) -> [String] {
    sentences(tables, ofStrays: false)
  }

  /// The same of keys that only an index has: the index is wrong, and the rows are as they were.
  func straySentences(_ tables: [EntityTable]) -> [String] {
    sentences(tables, ofStrays: true)
  }

  private func sentences(_ tables: [EntityTable], ofStrays: Bool) -> [String] {
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
    if ofStrays {
      return strays.sorted { $0.key < $1.key }.map { table, own in
        let entity = tables.first { $0.table == table && $0.isWholeTable }?.entity ?? table
        return
          "\(NumberText.counted(own.count, "key")) in an index of \(entity) \(own.count == 1 ? "is" : "are") no row's (\(keys(own))): the index is wrong, as another index or the keys show."
      }
    }
    var result = cut.sorted { $0.key < $1.key }.map { table, own in
      "\(what(own.count, table))\(more(own)) \(own.count == 1 ? "is" : "are") damaged: a part is on pages that belong to others, or that are missing (\(keys(own)))."
    }
    result += missing.sorted { $0.key < $1.key }.map { table, own in
      "\(what(own.count, table))\(more(own)) \(own.count == 1 ? "is" : "are") in an index, but on no page of the table (\(keys(own)))."
    }
    result += adopted.sorted { $0.key < $1.key }.map { table, count in
      "\(what(count, table)) \(count == 1 ? "is" : "are") on pages that no b-tree of the table references, or that have no header."
    }
    result += unbalanced.sorted { $0.key < $1.key }.map { table, count in
      "\(what(count, table)) \(count == 1 ? "is" : "are") on pages whose free space is wrong: such a page may mix two states, and so may the values of its rows."
    }
    if unreadable > 0 {
      result.append(
        "\(NumberText.counted(unreadable, "place on a page holds", plural: "places on pages hold")) no row that can be read."
      )
    }
    if outOfPlace > 0 {
      result.append(
        "\(NumberText.counted(outOfPlace, "page")) \(outOfPlace == 1 ? "is" : "are") in a place where the table has other keys: the rows that belong there are lost."
      )
    }
    if misplaced > 0 {
      result.append(
        "\(NumberText.counted(misplaced, "row is in a place", plural: "rows are in places")) of another table."
      )
    }
    return result
  }
}

import Salvage

/// Assigns each readable row to its table: by the tree that its page belongs to, else by what
/// it holds.
struct RowTables {
  /// A row's table.
  enum Place {
    /// The one that it stands in, or whose it is by what it holds.
    case table(SalvagedTable)
    /// Another than the one that it stands in: its page, or its cell, is in another's place.
    case other(SalvagedTable)
    /// None, though it stands where a table's rows do.
    case none
    /// None any more: it was deleted, and stands in room that is not in use.
    case deleted
    /// The table is unknown.
    case unknown
  }

  /// The tables of the trees that are known, by their roots.
  let named: [Int: SalvagedTable]
  /// Reports pages that belong to no known tree.
  private(set) var placing: RowPlacing
  /// What is known of a tree, asked for each of its rows.
  private final class Tree {
    let table: SalvagedTable
    /// Whether its table was inferred from rows.
    let isTold: Bool
    let owner: RowOwner?

    init(_ table: SalvagedTable, isTold: Bool, owner: RowOwner?) {
      (self.table, self.isTold, self.owner) = (table, isTold, owner)
    }
  }

  private let standing: [Int: Tree]
  /// The tree of the page that was asked for last: rows come page after page.
  private var latest: (page: Int, tree: Tree?)?
  private let byNumber: [Int64: SalvagedTable]
  private let trees: TreeMap
  private let encoding: FileHeader.Encoding
  /// Of trees with a leaf whose header is gone, the keys in such leaves that an index of the table still has; where no
  /// index can be read, those of rows that are not part of freed room.
  private let living: [Int: Set<Int64>]

  init(of copy: SalvagedCopy) throws {
    named = copy.byRoot
    let owners = try copy.owners()
    var byNumber: [Int64: SalvagedTable] = [:]
    for table in copy.all { for number in table.numbers { byNumber[number] = table } }
    self.byNumber = byNumber
    let told = Set(copy.trees.told.keys)
    standing = copy.byRoot.mapValues {
      Tree($0, isTold: told.contains($0.name), owner: owners[$0.name])
    }
    trees = copy.source.trees
    encoding = copy.source.image.header.encoding
    living = try Self.living(in: copy.source, copy.byRoot)
    let joins = copy.joins
    // Trees whose table was inferred are no proof for other trees.
    placing = RowPlacing(
      tables: copy.all.filter { joins[$0.name] == nil },
      trees: copy.byRoot.filter { told.contains($0.value.name) })
  }

  private static func living(
    in source: SalvageSource, _ tables: [Int: SalvagedTable]
  ) throws -> [Int: Set<Int64>] {
    guard source.trees.roles.contains(.broken) else { return [:] }
    var (keys, pages): ([Int: Set<Int64>], [Int: Set<Int>]) = ([:], [:])
    var scan = RowScan(source.image, source.trees)
    try scan.rows(where: { role, root in role == .broken && tables[root] != nil }) { row, _ in
      keys[row.root, default: []].insert(row.key)
      pages[row.root, default: []].insert(row.page)
    }
    var living: [Int: Set<Int64>] = [:]
    for (root, keys) in keys {
      guard let table = tables[root] else { continue }
      living[root] = try source.keys(among: keys, ofIndexesOn: table.name)
      guard living[root] == nil else { continue }
      for page in pages[root] ?? [] {
        living[root, default: []].formUnion(
          try source.trees.standingKeys(ofHeaderless: page))
      }
    }
    return living
  }

  /// Whether a row is on a leaf that a known tree references.
  mutating func stands(_ row: RowScan.Row) -> Bool { tree(of: row) != nil }

  private mutating func tree(of row: RowScan.Row) -> Tree? {
    if let latest, latest.page == row.page { return latest.tree }
    let tree = trees.role(of: row.page) == .leaf ? standing[row.root] : nil
    latest = (row.page, tree)
    return tree
  }

  /// The table of a row.
  mutating func place(_ row: RowScan.Row, _ record: borrowing Record) -> Place {
    if let tree = tree(of: row) { place(record, in: tree) } else { placeFound(row, record) }
  }

  /// The table of a row on a leaf that a known tree references.
  private mutating func place(_ record: borrowing Record, in tree: Tree) -> Place {
    let table = tree.table
    if trees.doubt == .all, !table.fits(record), let other = placing.table(for: record, in: 0) {
      return .other(other)
    }
    // Of a cell without one column nothing is a row.
    guard record.count > 0, !tree.isTold || table.fits(record) else { return .none }
    guard
      tree.owner?.isOwn(record.count, record.integer(1)) != false
        // Nobody gave the object its entity.
        || record.kind(1) == .null && record.count == table.columns.count && table.fits(record)
    else {
      guard let other = record.integer(1).flatMap({ byNumber[$0] }), other.fits(record) else {
        return .none
      }
      return .other(other)
    }
    return .table(table)
  }

  /// The table of a row on any other page.
  private mutating func placeFound(_ row: RowScan.Row, _ record: borrowing Record) -> Place {
    var (owner, root) = (named[row.root] ?? placing.trees[row.root], row.root)
    // Where pages of two stores are mixed, what leads to a page may have another table there.
    if trees.doubt == .all, owner?.fits(record) == false { (owner, root) = (nil, 0) }
    guard let table = owner ?? placing.table(for: record, in: root) else { return .unknown }
    guard table.fits(record) else { return .none }
    // A page without its list of cells has rows in room that is not in use, too.
    if trees.role(of: row.page) == .broken {
      if living[row.root]?.contains(row.key) == false { return .deleted }
      if ValueDoubts.areAny(in: record, encoding) { return .none }
    }
    return .table(table)
  }
}

/// Determines which table a row belongs to whose tree does not reference it.
struct RowPlacing {
  let tables: [SalvagedTable]
  /// Those whose rows may begin with a value: links are many, and none of them is a row of the others.
  private let unkeyed: [SalvagedTable]
  /// The tables of the trees that were determined, by their roots.
  private(set) var trees: [Int: SalvagedTable] = [:]

  /// Whether the trees that were determined stand in the order of the tables' names.
  ///
  /// A table has one tree: where its first page is without the pages that it references, each of its leaves
  /// seems to be one, and none of them says where the table begins.
  func isInOrder(_ names: [String]) -> Bool {
    let roots = Dictionary(grouping: trees.keys) { trees[$0]?.name ?? "" }
      .compactMap { name, roots in roots.count == 1 ? roots.first.map { ($0, name) } : nil }
    let places = roots.sorted { $0.0 < $1.0 }.compactMap { names.firstIndex(of: $0.1) }
    return places == places.sorted()
  }

  /// - Parameter trees: the tables of trees that are known, by their roots.
  init(tables: [SalvagedTable], trees: [Int: SalvagedTable] = [:]) {
    self.tables = tables
    self.trees = trees
    unkeyed = tables.filter { $0.keyColumn != 0 }
  }

  /// The table that a row fits: the one that has its Z_ENT, else the only one of its shape.
  ///
  /// - Parameter root: the tree that the row's page is of, whose rows are all of one table; 0 where
  ///   it is not known.
  mutating func table(for record: borrowing Record, in root: Int) -> SalvagedTable? {
    if let table = trees[root] { return table }
    var fitting: [SalvagedTable] = []
    let possible = record.count > 0 && record.kind(0) != .null ? unkeyed : tables
    for table in possible where table.fits(record) { fitting.append(table) }
    // An entity's number says more than a shape.
    let entities = fitting.filter { !$0.numbers.isEmpty }
    let same = entities.isEmpty ? fitting.filter { $0.columns.count == record.count } : entities
    guard same.count == 1, let table = same.first else { return nil }
    if root > 0 { trees[root] = table }
    return table
  }
}

/// How rows of a table differ from those of others, where a page may stand in another's place.
struct RowOwner {
  /// How many columns the table has.
  let columns: Int
  /// The Z_ENT of its rows; empty for a table that is no entity's. They are few, and asked for with each row.
  let numbers: [Int64]
  /// The Z_ENT of rows of other tables.
  let others: Set<Int64>

  /// Whether a row can be the table's: with no more values than columns, and not of another's entity. A Z_ENT
  /// that no table has is an error of the row, and not of its page, where the row has a value for each column;
  /// else it is a row of a table without a Z_ENT, such as a join table.
  ///
  /// - Parameter number: the Z_ENT; `nil` where there is no number in its place.
  func isOwn(_ count: Int, _ number: Int64?) -> Bool {
    guard count <= columns else { return false }
    guard !numbers.isEmpty, let number, !numbers.contains(number) else {
      return numbers.isEmpty || number != nil
    }
    return count == columns && !others.contains(number)
  }
}

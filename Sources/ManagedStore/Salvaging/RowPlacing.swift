import Salvage

/// Tells which table a row belongs to whose tree does not lead to it.
struct RowPlacing {
  let tables: [SalvagedTable]
  /// The tables of the trees that were told, by their roots.
  private(set) var trees: [Int: SalvagedTable] = [:]

  /// Whether the trees that were told stand in the order of the tables' names.
  ///
  /// A table has one tree: where its first page is without the pages that it leads to, each of its leaves
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
  }

  /// The table that a row fits: the one that has its Z_ENT, else the only one of its shape.
  ///
  /// - Parameter root: the tree that the row's page is of, whose rows are all of one table; 0 where
  ///   it is not known.
  mutating func table(for record: borrowing Record, in root: Int) -> SalvagedTable? {
    if let table = trees[root] { return table }
    var fitting: [SalvagedTable] = []
    for table in tables where table.fits(record) { fitting.append(table) }
    // An entity's number says more than a shape.
    let entities = fitting.filter { !$0.numbers.isEmpty }
    let same = entities.isEmpty ? fitting.filter { $0.columns.count == record.count } : entities
    guard same.count == 1, let table = same.first else { return nil }
    if root > 0 { trees[root] = table }
    return table
  }
}

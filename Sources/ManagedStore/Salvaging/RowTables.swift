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
    /// The table is unknown.
    case unknown
  }

  /// The tables of the trees that are known, by their roots.
  let named: [Int: SalvagedTable]
  /// Reports pages that belong to no known tree.
  private(set) var placing: RowPlacing
  private let owners: [String: RowOwner]
  private let byNumber: [Int64: SalvagedTable]
  /// Trees whose table was inferred from rows; they are no proof for other trees.
  private let told: Set<String>
  private let trees: TreeMap
  private let encoding: FileHeader.Encoding

  init(of copy: SalvagedCopy) throws {
    named = copy.byRoot
    owners = try copy.owners()
    var byNumber: [Int64: SalvagedTable] = [:]
    for table in copy.all { for number in table.numbers { byNumber[number] = table } }
    self.byNumber = byNumber
    let told = Set(copy.trees.told.keys)
    self.told = told
    trees = copy.source.trees
    encoding = copy.source.image.header.encoding
    let joins = copy.joins
    placing = RowPlacing(
      tables: copy.all.filter { joins[$0.name] == nil },
      trees: copy.byRoot.filter { told.contains($0.value.name) })
  }

  /// The table of a row on a leaf that a known tree leads to.
  func place(_ row: RowScan.Row, _ record: borrowing Record) -> Place {
    guard let table = named[row.root] else { return .unknown }
    // Of a cell without one column nothing is a row.
    guard record.count > 0, !told.contains(table.name) || table.fits(record) else { return .none }
    guard
      owners[table.name]?.isOwn(record.count, record.integer(1)) != false
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
  mutating func placeFound(_ row: RowScan.Row, _ record: borrowing Record) -> Place {
    guard let table = named[row.root] ?? placing.table(for: record, in: row.root) else {
      return .unknown
    }
    guard table.fits(record) else { return .none }
    // A page without its list of cells has rows in room that is not in use, too.
    if trees.role(of: row.page) == .broken, ValueDoubts.areAny(in: record, encoding) {
      return .none
    }
    return .table(table)
  }
}

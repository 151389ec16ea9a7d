import Salvage

extension SalvagedCopy {
  /// A page that rows were read from.
  package struct PageOrigin: Sendable, Equatable {
    /// Their table.
    package var table: String
    /// The page, from 1.
    package var page: Int
    /// The frame of the -wal that it stands in, from 0; `nil` for the main file.
    package var frame: Int?
    /// The rows' keys, from the least to the greatest.
    package var keys: ClosedRange<Int64>
    /// How many rows there are.
    package var rows: Int
    /// Whether the table's tree leads to it; else it was found by looking.
    package var isCertain: Bool
  }

  /// Tells of every page that rows were read from, in the order of pages: so where each object is from.
  package func origins(_ body: (PageOrigin) throws -> Void) throws {
    var current: PageOrigin?
    var numbers: [Int64: String] = [:]
    for table in all { for number in table.numbers { numbers[number] = table.name } }
    var scan = RowScan(source.image, source.trees)
    try scan.rows(
      where: { role, root in
        root != 1 && (role == .leaf || role == .adopted || role == .broken)
      }, isCancelled: isCancelled
    ) { row, record in
      guard let table = byRoot[row.root]?.name ?? record.integer(1).flatMap({ numbers[$0] }) else {
        return
      }
      if var page = current, page.page == row.page, page.table == table {
        page.keys = min(page.keys.lowerBound, row.key)...max(page.keys.upperBound, row.key)
        page.rows += 1
        current = page
        return
      }
      if let current { try body(current) }
      let frame: Int? = if case .frame(let frame) = row.origin { frame } else { nil }
      current = PageOrigin(
        table: table, page: row.page, frame: frame, keys: row.key...row.key, rows: 1,
        isCertain: row.certainty == .certain)
    }
    if let current { try body(current) }
  }
}

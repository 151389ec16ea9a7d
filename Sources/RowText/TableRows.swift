import ManagedStore
import Terminal

/// Rows as aligned columns for a person.
struct TableRows: RowWriter {
  let heading: (String) -> String
  let out: ([UInt8]) throws -> Void
  var table = TextTable([], fitting: [])

  mutating func begin(_ page: RowPage) throws {
    let header = ["key"] + page.columns.map(\.name)
    table = TextTable(
      [.right] + page.columns.map { $0.isNumber ? .right : .left },
      fitting: [header] + page.rows.map { cells($0, page.columns) }, limit: 40)
    try out(Array((heading(table.line(header)) + "\n").utf8))
  }

  func write(_ page: RowPage) throws {
    let lines = page.rows.map { table.line(cells($0, page.columns)) + "\n" }
    try out(Array(lines.joined().utf8))
  }

  func end() {}

  private func cells(_ row: RowPage.Row, _ columns: [RowColumn]) -> [String] {
    [String(row.id.key)]
      + zip(row.values, columns).map { CellText.broken($0, in: $1) ?? CellText.table($0) }
  }
}

extension RowColumn {
  /// Whether its values are numbers, which stand at the right.
  var isNumber: Bool {
    if case .attribute(let type) = kind { type.isNumber } else { false }
  }
}

import ManagedStore
import Terminal

/// Rows as RFC 4180 has them: commas, quotes where needed, CR LF.
///
/// Text is kept to the last character unless it goes to a terminal.
struct CSVRows: RowWriter {
  let isExact: Bool
  let out: ([UInt8]) throws -> Void

  func begin(_ page: RowPage) throws {
    try out(Array(line(["entity", "key"] + page.columns.map(\.name)).utf8))
  }

  func write(_ page: RowPage) throws {
    let lines = page.rows.map {
      line([$0.id.entity, String($0.id.key)] + $0.values.map(CellText.line))
    }
    try out(Array(lines.joined().utf8))
  }

  func end() {}

  private func line(_ cells: [String]) -> String {
    cells.map { cell in
      let safe =
        isExact
        ? cell
        : cell.split(separator: "\n", omittingEmptySubsequences: false)
          .map { Sanitize.text(String($0)) }.joined(separator: "\n")
      let isPlain = !safe.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
      return isPlain
        ? safe
        : "\""
          + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
          + "\""
    }.joined(separator: ",") + "\r\n"
  }
}

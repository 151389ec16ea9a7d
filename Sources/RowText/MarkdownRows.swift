import ManagedStore
import Terminal

/// Rows as a table of Markdown, for an issue or a pull request.
///
/// A cell is one line, so that what ends a line becomes `<br>`; other text is kept unless it goes to
/// a terminal.
struct MarkdownRows: RowWriter {
  let isExact: Bool
  let out: ([UInt8]) throws -> Void

  func begin(_ page: RowPage) throws {
    let rules = ["--:"] + page.columns.map { $0.isNumber ? "--:" : "---" }
    let head = line(["key"] + page.columns.map(\.name))
    try out(Array((head + "| " + rules.joined(separator: " | ") + " |\n").utf8))
  }

  func write(_ page: RowPage) throws {
    let lines = page.rows.map { row in
      line([String(row.id.key)] + row.values.map(CellText.line))
    }
    try out(Array(lines.joined().utf8))
  }

  func end() {}

  /// `| a | b |`, with what would end a cell or begin a tag escaped.
  private func line(_ cells: [String]) -> String {
    "| "
      + cells.map { cell in
        cell.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
          .map { Self.escaped(isExact ? String($0) : Sanitize.text(String($0))) }
          .joined(separator: "<br>")
      }.joined(separator: " | ") + " |\n"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if "\\|`*_<[".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }
}

import ManagedStore
import Terminal

/// Rows as a table of Markdown, for an issue or a pull request.
struct MarkdownRows: RowWriter {
  private let out: ([UInt8]) throws -> Void

  init(_ out: @escaping ([UInt8]) throws -> Void) { self.out = out }

  func begin(_ page: RowPage) throws {
    let rules = ["--:"] + page.columns.map { $0.isNumber ? "--:" : "---" }
    let head = Self.line(["key"] + page.columns.map(\.name))
    try out(Array((head + Self.line(rules, isRule: true)).utf8))
  }

  func write(_ page: RowPage) throws {
    let lines = page.rows.map { row in
      Self.line([String(row.id.key)] + row.values.map(CellText.csv))
    }
    try out(Array(lines.joined().utf8))
  }

  func end() {}

  /// `| a | b |`, with what would end a cell or begin a tag escaped.
  static func line(_ cells: [String], isRule: Bool = false) -> String {
    guard !isRule else { return "| " + cells.joined(separator: " | ") + " |\n" }
    return "| "
      + cells.map { cell in
        cell.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
          .map { escaped(Sanitize.text($0)) }.joined(separator: "<br>")
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

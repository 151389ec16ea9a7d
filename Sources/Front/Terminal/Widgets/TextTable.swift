/// Columns of text aligned by the cells they take on a terminal.
package struct TextTable {
  /// On which side of a column its cells stand.
  package enum Alignment: Sendable { case left, right }

  /// Cells that each column takes.
  package let widths: [Int]
  private let alignments: [Alignment]
  private static let gap = "  "

  /// - Parameter rows: rows to take the widths from: all, or those of a first page.
  package init(_ alignments: [Alignment], fitting rows: [[String]], limit: Int = 60) {
    self.alignments = alignments
    widths = alignments.indices.map { column in
      min(
        limit,
        rows.map { column < $0.count ? TextWidth.of($0[column], upTo: limit) : 0 }.max() ?? 0)
    }
  }

  /// How many of the first columns a line of so many cells has room for; at least one.
  package func columns(within width: Int) -> Int {
    var used = 0
    let count = widths.prefix { column in
      used += column + (used == 0 ? 0 : Self.gap.count)
      return used <= width
    }.count
    return max(1, count)
  }

  /// One line, safe for a terminal; longer text is cut with an ellipsis.
  package func line(_ cells: [String]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() where index < widths.count {
      let text = Sanitize.text(cell, limit: widths[index])
      let space = String(repeating: " ", count: max(0, widths[index] - TextWidth.of(text)))
      line += index == 0 ? "" : Self.gap
      if alignments[index] == .right {
        line += space + text
      } else {
        line += index == cells.count - 1 ? text : text + space
      }
    }
    return line
  }

  /// A whole small table.
  package static func text(_ alignments: [Alignment], _ rows: [[String]], limit: Int = 60) -> String
  {
    let table = TextTable(alignments, fitting: rows, limit: limit)
    return rows.map { table.line($0) + "\n" }.joined()
  }
}

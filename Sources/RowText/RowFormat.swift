import ManagedStore

/// The forms in which rows leave the program: printed by `strata rows`, written by an export.
package enum RowFormat: String, CaseIterable {
  /// By the words that name them.
  case table, json, ndjson, csv, markdown

  /// Writes pages of rows through `out`.
  ///
  /// - Parameters:
  ///   - isExact: whether CSV and Markdown keep text as it is, for a file or another program; else
  ///     what could steer a terminal is replaced.
  ///   - heading: what the line of a table's column names is to look like.
  package func writer(
    isExact: Bool = false, heading: @escaping (String) -> String = { $0 },
    _ out: @escaping ([UInt8]) throws -> Void
  ) -> any RowWriter {
    switch self {
    case .table: TableRows(heading: heading, out: out)
    case .json: JSONRows(isArray: true, out: out)
    case .ndjson: JSONRows(isArray: false, out: out)
    case .csv: CSVRows(isExact: isExact, out: out)
    case .markdown: MarkdownRows(isExact: isExact, out: out)
    }
  }
}

/// Writes pages of rows in one format.
package protocol RowWriter {
  /// Takes the first page, before any is written: its columns, and rows to judge widths by.
  mutating func begin(_ page: RowPage) throws
  /// Writes a page, the first one too.
  mutating func write(_ page: RowPage) throws
  /// Writes what comes after the last page.
  mutating func end() throws
}

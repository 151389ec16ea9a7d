import Salvage

/// What of a database is compared with the one that it came from, while it is checked.
package struct SourceComparison: Sendable {
  /// How a table is compared.
  package struct Table: Sendable {
    /// The first pages of its tree, in the source and here.
    package var roots: (source: Int, result: Int)
    /// What its rows must be; `nil` where that is not told row by row.
    package var rows: RowComparison.Question?

    package init(roots: (source: Int, result: Int), rows: RowComparison.Question?) {
      self.roots = roots
      self.rows = rows
    }
  }

  /// What was found of a table.
  package enum Answer: Sendable, Equatable {
    /// All pages of its rows are the source's, byte for byte.
    case pages
    /// All rows are what was asked for, stored alike; how many of each kind there are.
    case rows([Int])
  }

  /// Where the source is, all of it in its main file.
  package var path: String
  package var tables: [String: Table]

  package init(path: String, tables: [String: Table]) {
    self.path = path
    self.tables = tables
  }
}

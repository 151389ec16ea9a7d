import ManagedModel
import SQLite

/// The bytes of a column whose attribute may be kept in files of their own: a mark, and behind it the
/// value itself or the name of its file, which ends with a NUL.
package enum MarkedBytes: Sendable, Equatable {
  /// In the row; bytes that have no mark are as they are.
  case row([UInt8])
  /// In a file of that name in the folder of external data.
  case file(name: String)

  private static let inRow: UInt8 = 1
  /// The first byte of a column that names a file.
  static let fileMark: UInt8 = 2
  /// As many bytes of a column as a file's name takes, with the mark.
  static let mostOfName = 257

  /// Takes apart what a column holds, or the first few hundred bytes of it.
  package init(_ column: [UInt8]) {
    switch column.first {
    case Self.inRow: self = .row(Array(column.dropFirst()))
    case Self.fileMark:
      self = .file(
        name: String(decoding: column.dropFirst().prefix { $0 != 0 }.prefix(256), as: UTF8.self))
    default: self = .row(column)
    }
  }

  /// What the column holds.
  package var column: [UInt8] {
    switch self {
    case .row(let bytes): [Self.inRow] + bytes
    case .file(let name): [Self.fileMark] + Array(name.utf8) + [0]
    }
  }

  /// True of a column that names a file.
  package static func isFile(_ column: String) -> String { "substr(\(column), 1, 1) = x'02'" }

  /// As much of a column as a file's name takes.
  package static func reference(_ column: String) -> String {
    "substr(\(column), 1, \(mostOfName))"
  }
}

/// SQL of what an attribute's column holds.
extension EntityTable.AttributeColumn {
  /// The column in a row of that alias.
  package func place(in row: String) -> String { "\(row).\(quoted(column))" }

  /// The value wherever it is kept; where it may be in a file, the connection needs
  /// `strata_content`.
  package func content(in row: String) -> String { attribute.content(of: place(in: row)) }

  /// FROM and WHERE of the entity's own rows whose value is in a file.
  package func rowsInFiles(of table: EntityTable) -> String {
    let conditions = [table.ownRows(), MarkedBytes.isFile(quoted(column))].compactMap { $0 }
    return "FROM \(quoted(table.table)) WHERE \(conditions.joined(separator: " AND "))"
  }
}

extension Attribute {
  /// The value that a column of the attribute holds, wherever it is kept.
  package func content(of column: String) -> String {
    allowsExternalBinaryDataStorage ? "strata_content(\(column))" : column
  }

  /// What the attribute's column holds for a value.
  package func stored(_ value: String) -> String {
    allowsExternalBinaryDataStorage ? "strata_inline(\(value))" : value
  }

  /// What the attribute's column holds for the column of another: a value that begins to allow a
  /// file is marked, one that ceases to is taken in. A column of Double or Float keeps whole numbers as
  /// SQLite's real numbers, with no more digits than these have.
  package func stored(_ column: String, of former: Attribute?) -> String {
    if type == .double || type == .float, former?.type == .integer64 || former?.type == .decimal {
      return "CAST(\(column) AS REAL)"
    }
    let wasMarked = former?.allowsExternalBinaryDataStorage ?? false
    guard wasMarked != allowsExternalBinaryDataStorage else { return column }
    return former?.content(of: stored(column)) ?? stored(column)
  }
}

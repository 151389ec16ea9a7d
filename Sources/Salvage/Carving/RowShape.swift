/// What rows of a table look like in the file: how many values they have, and of what kinds.
package struct RowShape: Sendable, Equatable {
  /// What a column's values can be.
  package enum Column: Sendable, Equatable {
    /// The row's key, of which the record holds nothing.
    case key
    case integer
    case number
    case text
    case blob
    case any

    /// By the type that the table declares, as Core Data writes it.
    package init(declared type: String) {
      self =
        switch type.uppercased() {
        case "INTEGER": .integer
        case "TIMESTAMP", "FLOAT", "DECIMAL": .number
        case "BLOB": .blob
        case let type where type.hasPrefix("VARCHAR"): .text
        default: .any
        }
    }

    /// Whether a value of that kind can be one; any can be null.
    func holds(_ kind: Record.Kind) -> Bool {
      if kind == .null { return true }
      return switch self {
      case .key: false
      case .integer: kind == .integer
      case .number: kind == .real || kind == .integer
      case .text: kind == .text
      case .blob: kind == .blob
      case .any: true
      }
    }
  }

  /// The columns, in the order of the records.
  package let columns: [Column]
  /// The Z_ENT that its rows have, as their second value; empty for a table that is no entity's.
  package let numbers: Set<Int64>

  /// Columns that name objects: what they hold is above 0.
  package var references: Set<Int> = []

  /// The shape of a table.
  package init(columns: [Column], numbers: Set<Int64>) {
    self.columns = columns
    self.numbers = numbers
  }

  /// Whether a record could be a row: no more columns than the table, of kinds that they hold.
  package func fits(_ record: borrowing Record) -> Bool {
    guard record.count <= columns.count, record.count > 0 else { return false }
    if !numbers.isEmpty {
      guard record.count >= 3, let number = record.integer(1), numbers.contains(number) else {
        return false
      }
    }
    for index in 0..<record.count where !columns[index].holds(record.kind(index)) { return false }
    return true
  }

  /// Whether what a row names can be: looked at where little else vouches for a row.
  func namesObjects(_ record: borrowing Record) -> Bool {
    references.allSatisfy { record.integer($0).map { $0 > 0 } ?? true }
  }
}

/// What a column of a row holds, in SQLite's five storage classes.
package enum Value: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// The number as an integer, where it is one.
  package var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .real(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The text; `nil` for a number or bytes.
  package var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The bytes; `nil` for text, whose bytes they are not.
  package var blob: [UInt8]? {
    if case .blob(let value) = self { value } else { nil }
  }
}

import ManagedModel
import SQLite

extension Value {
  /// The value as an SQL literal.
  package var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): number == .min ? "(-9223372036854775807 - 1)" : String(number)
    case .real(let number): Self.literal(number)
    case .text(let text): Self.literal(text)
    case .blob(let bytes): "x'" + ByteText.hex(bytes) + "'"
    }
  }

  private static func literal(_ number: Double) -> String {
    if number.isNaN { return "NULL" }
    if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
    return number.description
  }

  private static func literal(_ text: String) -> String {
    // A NUL would end the statement's text for SQLite. Bytes cast to text would be read in the
    // database's encoding.
    if text.utf8.contains(0) {
      let parts = text.unicodeScalars.split(separator: "\0", omittingEmptySubsequences: false)
      return "(" + parts.map { literal(String($0)) }.joined(separator: " || char(0) || ") + ")"
    }
    return "'"
      + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
      + "'"
  }
}

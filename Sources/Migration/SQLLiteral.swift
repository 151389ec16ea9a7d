import ManagedModel
import ManagedStore
import SQLite

extension AttributeValue {
  /// The value as an SQL literal of the storage class Core Data gives it in that type's column.
  func sqlLiteral(for attribute: Attribute) -> String {
    let plain = literal
    guard attribute.allowsExternalBinaryDataStorage, case .bytes(let bytes) = self else {
      return plain
    }
    return Self.hex(MarkedBytes.row(bytes).column)
  }

  /// The value as an SQL literal, without the mark of external storage.
  var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): number == .min ? "(-9223372036854775807 - 1)" : String(number)
    case .boolean(let flag): flag ? "1" : "0"
    case .double(let number), .date(let number): Self.real(number)
    case .decimal(let digits):
      digits.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) } && !digits.isEmpty
        ? "CAST('\(digits)' AS DECIMAL)" : "NULL"
    case .string(let text), .uri(let text): Self.quote(text)
    case .bytes(let bytes), .uuid(let bytes): Self.hex(bytes)
    }
  }

  private static func real(_ number: Double) -> String {
    if number.isNaN { return "NULL" }
    if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
    return number.description
  }

  private static func quote(_ text: String) -> String {
    // A NUL would end the statement's text for SQLite. Bytes cast to text would be read in the
    // database's encoding.
    if text.utf8.contains(0) {
      let parts = text.unicodeScalars.split(separator: "\0", omittingEmptySubsequences: false)
      return "(" + parts.map { quote(String($0)) }.joined(separator: " || char(0) || ") + ")"
    }
    return "'"
      + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
      + "'"
  }

  private static func hex(_ bytes: [UInt8]) -> String { "x'" + ByteText.hex(bytes) + "'" }
}

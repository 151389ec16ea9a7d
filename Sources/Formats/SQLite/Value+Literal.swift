import Values

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

  /// The value of a literal of SQL that a person wrote: NULL, a whole number, or one text in single quotes;
  /// `nil` for all else.
  package init?(literal text: String) {
    if text == "NULL" {
      self = .null
    } else if let number = Int64(text) {
      self = .integer(number)
    } else {
      guard text.utf8.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") else { return nil }
      let parts = text.dropFirst().dropLast().split(
        separator: "''", omittingEmptySubsequences: false)
      guard parts.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "'")) }) else { return nil }
      self = .text(parts.joined(separator: "'"))
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

import ManagedModel
import ManagedStore
import SQLite

extension AttributeValue {
  /// Whether rows that take it have nothing.
  var isNothing: Bool {
    if case .decimal = self { literal == Value.null.literal } else { self == .null }
  }

  /// The value as Core Data stores it in that attribute's column.
  func constant(for attribute: Attribute) -> ColumnValue {
    switch self {
    case .null: return .constant(.null)
    case .integer(let number): return .constant(.integer(number))
    case .boolean(let flag): return .constant(.integer(flag ? 1 : 0))
    case .double(let number), .date(let number): return .constant(.real(number))
    case .string(let text), .uri(let text): return .constant(.text(text))
    case .bytes(let bytes) where attribute.allowsExternalBinaryDataStorage:
      return .constant(.blob(MarkedBytes.row(bytes).column))
    case .bytes(let bytes), .uuid(let bytes): return .constant(.blob(bytes))
    case .decimal: return isNothing ? .constant(.null) : .lookup(literal, reading: [])
    }
  }

  /// The value as an SQL literal, without the mark of external storage.
  var literal: String {
    switch self {
    case .null: Value.null.literal
    case .integer(let number): Value.integer(number).literal
    case .boolean(let flag): flag ? "1" : "0"
    case .double(let number), .date(let number): Value.real(number).literal
    case .decimal(let digits):
      digits.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) } && !digits.isEmpty
        ? "CAST('\(digits)' AS DECIMAL)" : "NULL"
    case .string(let text), .uri(let text): Value.text(text).literal
    case .bytes(let bytes), .uuid(let bytes): Value.blob(bytes).literal
    }
  }
}

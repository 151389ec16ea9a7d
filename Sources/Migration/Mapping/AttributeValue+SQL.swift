import ManagedModel
import ManagedStore
import SQLite

extension AttributeValue {
  /// The value as an SQL literal of the storage class Core Data gives it in that type's column.
  func sqlLiteral(for attribute: Attribute) -> String {
    guard attribute.allowsExternalBinaryDataStorage, case .bytes(let bytes) = self else {
      return literal
    }
    return Value.blob(MarkedBytes.row(bytes).column).literal
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

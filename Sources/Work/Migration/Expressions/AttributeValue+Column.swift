import ManagedModel
import ManagedStore
import Mapping
import SQLite

extension AttributeValue {
  /// The value as Core Data stores it in that attribute's column.
  func constant(for attribute: Attribute) -> ColumnValue {
    if case .bytes(let bytes) = self, attribute.allowsExternalBinaryDataStorage {
      return .constant(.blob(MarkedBytes.row(bytes).column))
    }
    if let stored { return .constant(stored) }
    return isNothing ? .constant(.null) : .lookup(literal, reading: [])
  }
}

import SQLite
import Salvage

extension RecordValue {
  /// The same as SQLite takes it.
  func value(_ encoding: FileHeader.Encoding) -> Value {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let bytes): .text(encoding.text(bytes))
    case .blob(let bytes): .blob(bytes)
    }
  }
}

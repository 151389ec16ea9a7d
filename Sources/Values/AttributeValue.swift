/// A value of an attribute: a default in a model, or what a row of a store holds.
public enum AttributeValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case boolean(Bool)
  /// Double and Float attributes.
  case double(Double)
  /// The digits as text, since binary floating point would change them.
  case decimal(String)
  case string(String)
  /// Seconds since 2001-01-01 00:00:00 UTC, as Core Data stores them; may be infinite or NaN.
  case date(Double)
  case bytes([UInt8])
  /// Sixteen bytes.
  case uuid([UInt8])
  case uri(String)
}

extension AttributeValue {
  /// The text of a String or URI attribute; `nil` for anything else.
  public var text: String? {
    switch self {
    case .string(let text), .uri(let text): text
    default: nil
    }
  }

  /// The value as a line for people: dates by ISO 8601, bytes by their number, nothing for null.
  package var line: String {
    switch self {
    case .null: ""
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .double(let number): number.description
    case .decimal(let text), .string(let text), .uri(let text): text
    case .date(let seconds): CoreDataDate.text(seconds)
    case .bytes(let bytes): "\(bytes.count) bytes"
    case .uuid(let bytes): UUIDText.text(bytes)
    }
  }
}

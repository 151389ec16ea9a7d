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

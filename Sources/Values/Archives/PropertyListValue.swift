/// A value of a property list: store metadata, VersionInfo.plist, a keyed archive before its
/// references are followed.
public enum PropertyListValue: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case data([UInt8])
  case string(String)
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])
  /// A reference of a keyed archive to another of its objects.
  case uid(Int)
}

extension PropertyListValue {
  /// The value under that key; `nil` when there is none or this is no dictionary.
  public subscript(key: String) -> PropertyListValue? { dictionary?[key] }

  /// The text; `nil` when this is none.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The truth value; whole numbers count too, as NSNumber makes no difference.
  public var boolean: Bool? {
    switch self {
    case .boolean(let value): value
    case .integer(let value): value != 0
    default: nil
    }
  }

  /// A whole number; booleans count as 0 and 1, as NSNumber makes no difference.
  public var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .boolean(let value): value ? 1 : 0
    case .real(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The bytes; `nil` when these are none.
  public var data: [UInt8]? {
    if case .data(let value) = self { value } else { nil }
  }

  /// The elements; `nil` when this is no array.
  public var array: [PropertyListValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The entries; `nil` when this is no dictionary.
  public var dictionary: [String: PropertyListValue]? {
    if case .dictionary(let value) = self { value } else { nil }
  }
}

import ManagedModel

/// What a column of a type may hold besides NULL.
extension AttributeType {
  /// SQLite's storage classes, by the names of `typeof`; `nil` for a type without a column.
  package var storageClasses: [String]? {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: ["integer"]
    case .double, .float, .date, .decimal: ["integer", "real"]
    case .string, .uri: ["text"]
    case .uuid, .binary, .transformable: ["blob"]
    default: nil
    }
  }

  /// The values of an integer type; `nil` where SQLite's own are no more.
  package var wholeNumbers: ClosedRange<Int64>? {
    switch self {
    case .boolean: 0...1
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }
}

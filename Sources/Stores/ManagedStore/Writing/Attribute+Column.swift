import ManagedModel
import SQLite
import StoreTables

extension Attribute {
  /// A value as the attribute's column holds it.
  ///
  /// - Parameter isRanged: whether an integer must be in the range of its type.
  /// - Throws: ``CoreDataError`` of kind usage for a value of another type.
  package func column(
    of value: AttributeValue, in entity: String, isRanged: Bool = true
  ) throws -> Value {
    switch (type, value) {
    case (_, .null): return .null
    case (.integer16, .integer(let number)) where !isRanged || Int16(exactly: number) != nil,
      (.integer32, .integer(let number)) where !isRanged || Int32(exactly: number) != nil,
      (.integer64, .integer(let number)):
      return .integer(number)
    case (.boolean, .boolean(let flag)): return .integer(flag ? 1 : 0)
    case (.double, .double(let number)), (.float, .double(let number)): return .real(number)
    case (.double, .integer(let number)), (.float, .integer(let number)):
      return .real(Double(number))
    // The column's numeric affinity turns the digits into a number.
    case (.decimal, .decimal(let digits)): return .text(digits)
    case (.decimal, .integer(let number)): return .integer(number)
    case (.string, .string(let text)), (.uri, .uri(let text)), (.uri, .string(let text)):
      return .text(text)
    case (.date, .date(let seconds)): return .real(seconds)
    case (.uuid, .uuid(let bytes)) where bytes.count == 16: return .blob(bytes)
    case (.binary, .bytes(let bytes)), (.transformable, .bytes(let bytes)):
      return .blob(
        allowsExternalBinaryDataStorage ? MarkedBytes.row(bytes).column : bytes)
    default:
      throw CoreDataError(
        .usage, "the value does not fit the type \(type.name)", entity: entity,
        property: self.name)
    }
  }
}

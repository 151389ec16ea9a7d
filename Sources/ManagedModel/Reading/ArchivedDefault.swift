/// Default values of attributes as archives keep them.
enum ArchivedDefault {
  /// The value as the attribute's type has it; `nil` when it does not fit.
  static func value(_ value: ArchivedValue, as type: AttributeType) -> AttributeValue? {
    switch type {
    case .boolean:
      switch value {
      case .real(let number): return .boolean(number != 0)
      case .decimal(let digits): return .boolean(Double(digits) != 0)
      default: return value.boolean.map { .boolean($0) }
      }
    case .integer16, .integer32, .integer64:
      switch value {
      case .real(let number):
        return Int64(exactly: number.rounded(.towardZero)).map { .integer($0) }
      case .decimal(let digits): return Int64(digits).map { .integer($0) }
      default: return value.integer.map { .integer($0) }
      }
    case .double, .float:
      switch value {
      case .real(let number): return .double(number)
      case .decimal(let digits): return Double(digits).map { .double($0) }
      default: return value.integer.map { .double(Double($0)) }
      }
    case .decimal:
      switch value {
      case .decimal(let digits): return .decimal(digits)
      case .real(let number): return .decimal(String(number))
      default: return value.integer.map { .decimal(String($0)) }
      }
    case .string: return value.string.map { .string($0) }
    case .date:
      switch value {
      case .date(let seconds), .real(let seconds): return .date(seconds)
      default: return nil
      }
    case .binary:
      if case .data(let bytes) = value { return .bytes(bytes) }
      return nil
    case .uuid:
      if case .uuid(let bytes) = value { return .uuid(bytes) }
      return nil
    case .uri:
      if case .url(let text) = value { return .uri(text) }
      return nil
    case .undefined, .transformable, .objectID, .composite:
      return nil
    }
  }
}

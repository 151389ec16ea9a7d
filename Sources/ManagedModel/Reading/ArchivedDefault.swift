/// Default values of attributes as archives keep them.
enum ArchivedDefault {
  /// The value as the attribute's type has it; `nil` when it does not fit.
  static func value(_ value: ArchivedValue, as type: AttributeType) -> AttributeValue? {
    switch (type, value) {
    case (.boolean, .real(let number)): .boolean(number != 0)
    case (.boolean, .decimal(let digits)): .boolean(Double(digits) != 0)
    case (.boolean, _): value.boolean.map { .boolean($0) }
    case (.integer16, .real(let number)), (.integer32, .real(let number)),
      (.integer64, .real(let number)):
      Int64(exactly: number.rounded(.towardZero)).map { .integer($0) }
    case (.integer16, .decimal(let digits)), (.integer32, .decimal(let digits)),
      (.integer64, .decimal(let digits)):
      Int64(digits).map { .integer($0) }
    case (.integer16, _), (.integer32, _), (.integer64, _): value.integer.map { .integer($0) }
    case (.double, .real(let number)), (.float, .real(let number)): .double(number)
    case (.double, .decimal(let digits)), (.float, .decimal(let digits)):
      Double(digits).map { .double($0) }
    case (.double, _), (.float, _): value.integer.map { .double(Double($0)) }
    case (.decimal, .decimal(let digits)): .decimal(digits)
    case (.decimal, .real(let number)): .decimal(String(number))
    case (.decimal, _): value.integer.map { .decimal(String($0)) }
    case (.string, _): value.string.map { .string($0) }
    case (.date, .date(let seconds)), (.date, .real(let seconds)): .date(seconds)
    case (.binary, .data(let bytes)): .bytes(bytes)
    case (.uuid, .uuid(let bytes)): .uuid(bytes)
    case (.uri, .url(let text)): .uri(text)
    default: nil
    }
  }
}

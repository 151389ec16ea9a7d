/// Default values as a model's XML writes them.
package enum DefaultValueText {
  /// The value that the text stands for; `nil` when it does not fit the type.
  ///
  /// Xcode's compiler is lenient: a Boolean may be 0 or 1, and an Integer NO or YES, which is what
  /// is left when the type of an attribute was changed.
  package static func value(_ text: String, as type: AttributeType) -> AttributeValue? {
    switch type {
    case .string: return .string(text)
    case .boolean:
      switch text.uppercased() {
      case "YES", "TRUE", "1": return .boolean(true)
      case "NO", "FALSE", "0": return .boolean(false)
      default: return Double(text).map { .boolean($0 != 0) }
      }
    case .integer16, .integer32, .integer64:
      if text == "YES" { return .integer(1) }
      if text == "NO" { return .integer(0) }
      if let value = Int64(text) { return .integer(value) }
      return Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map { .integer($0) }
    case .double, .float:
      if text == "YES" { return .double(1) }
      if text == "NO" { return .double(0) }
      return Double(text).map { .double($0) }
    case .decimal:
      guard let (words, exponent, isNegative) = DecimalText.words(text) else { return nil }
      return .decimal(
        DecimalText.text(
          words: words.map { UInt32($0) }, exponent: exponent, isNegative: isNegative))
    case .date: return Double(text).map { .date($0) }
    case .uuid: return UUIDText.bytes(text).map { .uuid($0) }
    case .uri: return text.isEmpty ? nil : .uri(text)
    case .binary: return ByteText.bytes(base64: text).map { .bytes($0) }
    case .undefined, .transformable, .objectID, .composite: return nil
    }
  }

  /// The text of a value, which reads back equal; `nil` for null.
  package static func text(_ value: AttributeValue) -> String? {
    switch value {
    case .null: nil
    case .integer(let value): String(value)
    case .boolean(let value): value ? "YES" : "NO"
    case .double(let value), .date(let value): number(value)
    case .decimal(let digits): digits
    case .string(let text), .uri(let text): text
    case .bytes(let bytes): ByteText.base64(bytes)
    case .uuid(let bytes): UUIDText.text(bytes)
    }
  }

  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value), whole != 0 || value.sign == .plus { return String(whole) }
    return String(value)
  }
}

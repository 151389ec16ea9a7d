extension KeyedArchiveWriter {
  /// Archives a value of an attribute as the Foundation class it is in memory.
  package mutating func add(attributeValue: AttributeValue) -> PropertyListValue {
    switch attributeValue {
    case .null: Self.null
    case .integer(let value): add(.integer(value))
    case .boolean(let value): add(.boolean(value))
    case .double(let value): add(.real(value))
    case .decimal(let digits): add(decimal: digits)
    case .string(let text): string(text)
    case .date(let seconds): add(class: ["NSDate", "NSObject"], ["NS.time": .real(seconds)])
    case .bytes(let bytes): add(.data(bytes))
    case .uuid(let bytes): add(class: ["NSUUID", "NSObject"], ["NS.uuidbytes": .data(bytes)])
    case .uri(let text):
      add(class: ["NSURL", "NSObject"], ["NS.base": Self.null, "NS.relative": string(text)])
    }
  }

  /// NSDecimalNumber: eight words of mantissa, little end first; without words it is zero, or with
  /// the sign set not a number.
  private mutating func add(decimal digits: String) -> PropertyListValue {
    let (words, exponent, isNegative) =
      DecimalText.words(digits) ?? ([UInt16](repeating: 0, count: 8), 0, true)
    var mantissa: [UInt8] = []
    for word in words { mantissa += [UInt8(word & 0xFF), UInt8(word >> 8)] }
    let length = (words.lastIndex { $0 != 0 } ?? -1) + 1
    return add(
      class: ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
      [
        "NS.mantissa": .data(mantissa), "NS.exponent": .integer(Int64(exponent)),
        "NS.length": .integer(Int64(length)), "NS.negative": .boolean(isNegative),
        "NS.compact": .boolean(false), "NS.mantissa.bo": .integer(1),
      ])
  }
}

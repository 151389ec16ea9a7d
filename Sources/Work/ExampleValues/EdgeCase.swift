import ManagedModel

/// What the first objects of each entity have where edge cases are asked for.
package enum EdgeCase: Int, Sendable, CaseIterable {
  /// No value where none must be.
  case absent
  /// Empty texts and data, zero.
  case empty
  /// The smallest and the largest that the type and the rules take.
  case least, most
  /// Emoji, letters of many parts, and scripts that run from right to left.
  case script
  /// A text of ten megabytes.
  case huge
  /// Dates and numbers without end, and those that are none.
  case infinite, notANumber

  /// UTF-8 bytes of the huge text.
  static let hugeText = 10_000_000
  /// Objects of a chain in a hierarchy.
  package static let chain = 1000

  static let scripts = [
    "👩🏽‍👩🏽‍👧🏽‍👦🏽 🇳🇿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 ❤️‍🔥", "שלום עולם (12) abc", "مرحبا بالعالم ١٢٣ abc",
    "e\u{301}a\u{308}o\u{31B}\u{323} Å = Å",
    "क्षत्रिय ไทย 한글 한글", "\u{2067}right\u{2069} \u{200F}left\u{200E} \u{202E}turned\u{202C}",
    "'; DROP TABLE \"ZNOTE\"; -- \\ % _ \t\r\n", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \u{FEFF}\u{200B}\u{FFFD} ﷽",
  ]

  /// The value of an attribute in such an object; `nil` where it is like any other.
  func value(
    of attribute: Attribute, within limits: ValueLimits, isHuge: Bool, number: Int
  ) -> AttributeValue? {
    if self == .absent { return attribute.isOptional ? .null : nil }
    guard limits.choices == nil else { return nil }
    switch attribute.type {
    case .string: return text(limits, isHuge: isHuge, number: number)
    case .integer16, .integer32, .integer64: return whole(attribute, limits)
    case .double, .float, .date, .decimal: return real(attribute, limits)
    case .boolean: return self == .least ? .boolean(false) : self == .most ? .boolean(true) : nil
    case .binary: return self == .empty ? .bytes([]) : nil
    case .uri:
      return self == .script
        ? .uri("https://example.org/%F0%9F%8C%B1/m%C3%BCller?q=a%20b#top") : nil
    case .uuid:
      let byte: UInt8? = self == .least ? 0 : self == .most ? 0xFF : nil
      return byte.map { .uuid([UInt8](repeating: $0, count: 16)) }
    default: return nil
    }
  }

  private func text(_ limits: ValueLimits, isHuge: Bool, number: Int) -> AttributeValue? {
    guard limits.patterns.isEmpty, limits.prefix.isEmpty, limits.suffix.isEmpty,
      limits.infix.isEmpty
    else { return nil }
    let made: String
    switch self {
    case .empty:
      guard limits.shortest == 0 else { return nil }
      made = ""
    case .script: made = Self.scripts[number % Self.scripts.count]
    case .huge:
      guard isHuge, limits.longest == nil else { return nil }
      let piece = "Ten megabytes of text: zehn Megabyte, 十メガバイト. "
      made = String(repeating: piece, count: Self.hugeText / piece.utf8.count + 1)
    case .most:
      guard let longest = limits.longest, longest < 1 << 16 else { return nil }
      made = String(repeating: "M", count: longest)
    case .least:
      guard limits.shortest > 0 else { return .string(" ") }
      made = String(repeating: "i", count: limits.shortest)
    default: return nil
    }
    let fitted = FittedText.fit(made, limits)
    return limits.excluded.contains(.string(fitted)) ? nil : .string(fitted)
  }

  private func whole(_ attribute: Attribute, _ limits: ValueLimits) -> AttributeValue? {
    let all = attribute.type.wholeNumbers ?? Int64.min...Int64.max
    let low = limits.least.flatMap { Int64(exactly: $0.rounded(.up)) } ?? all.lowerBound
    let high = limits.most.flatMap { Int64(exactly: $0.rounded(.down)) } ?? all.upperBound
    let value: Int64
    switch self {
    case .least: value = max(low, all.lowerBound)
    case .most: value = min(high, all.upperBound)
    case .empty:
      guard low <= 0, high >= 0 else { return nil }
      value = 0
    default: return nil
    }
    return limits.excluded.contains(.integer(value)) ? nil : .integer(value)
  }

  private func real(_ attribute: Attribute, _ limits: ValueLimits) -> AttributeValue? {
    let isDate = attribute.type == .date
    let isDecimal = attribute.type == .decimal
    let isBounded = limits.least != nil || limits.most != nil
    // The years 1 and 9999, and what else a column of numbers holds.
    let all: ClosedRange<Double> =
      isDate
      ? -63_113_904_000...252_423_993_599
      : attribute.type == .float
        ? -Double(Float.greatestFiniteMagnitude)...Double(Float.greatestFiniteMagnitude)
        : -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    let value: Double
    switch self {
    case .least: value = limits.least ?? (isDecimal ? -1e38 : all.lowerBound)
    case .most: value = limits.most ?? (isDecimal ? 1e38 : all.upperBound)
    case .empty:
      guard limits.least ?? 0 <= 0, limits.most ?? 0 >= 0 else { return nil }
      value = 0
    case .script:
      guard !isBounded, !isDate, !isDecimal else { return nil }
      value =
        attribute.type == .float
        ? Double(Float.leastNonzeroMagnitude) : Double.leastNonzeroMagnitude
    case .infinite:
      guard !isBounded, !isDecimal else { return nil }
      value = .infinity
    case .notANumber:
      guard !isBounded, !isDecimal else { return nil }
      // SQLite keeps a NaN as NULL, and Core Data with it.
      if attribute.isOptional { return .null }
      value = -.infinity
    default: return nil
    }
    if isDecimal { return .decimal(DecimalText.plain(of: value)) }
    return isDate ? .date(value) : .double(value)
  }
}

extension DecimalText {
  /// A number of up to 38 digits as decimal digits.
  fileprivate static func plain(of value: Double) -> String {
    if abs(value) == 1e38 { return (value < 0 ? "-" : "") + String(repeating: "9", count: 38) }
    return Int64(exactly: value).map { String($0) } ?? value.description
  }
}

/// Texts of a length that rules ask for.
enum FittedText {
  /// The text cut or filled up to the length that is asked for, with what it must begin with, end in
  /// and have in it.
  static func fit(_ text: String, _ limits: ValueLimits, mark: String = "") -> String {
    var text = text
    if !limits.prefix.isEmpty, !text.hasPrefix(limits.prefix) { text = limits.prefix + text }
    let tail = mark + (limits.infix.isEmpty ? "" : limits.infix) + limits.suffix
    guard !tail.isEmpty || limits.shortest > 0 || limits.longest != nil else { return text }
    let tailLength = tail.utf16.count
    if let longest = limits.longest {
      let room = max(0, longest - tailLength)
      if text.utf16.count > room { text = cut(text, to: room) }
    }
    var length = text.utf16.count + tailLength
    while length < limits.shortest, length < 1 << 20 {
      text += "x"
      length += 1
    }
    return text + tail
  }

  /// As many whole characters as are so long.
  private static func cut(_ text: String, to units: Int) -> String {
    var (result, length) = ("", 0)
    for character in text {
      length += character.utf16.count
      if length > units { break }
      result.append(character)
    }
    return result
  }
}

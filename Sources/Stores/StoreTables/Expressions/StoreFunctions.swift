import Files
import ManagedModel
import SQLite

/// The SQL functions that filters, derived values and the expressions of mappings call, where
/// SQLite's own differ from Foundation's: one table, defined on every connection that computes.
package enum StoreFunctions {
  /// A function: the same arguments always give the same value.
  private struct Definition {
    var name: String
    var arguments: Int32
    var body: ([Value]) -> Value
  }

  /// Defines them all.
  package static func define(on connection: Connection) throws {
    let matching = TextMatching()
    for function in text + numbers + [
      // Whether the whole text matches a pattern.
      Definition(name: "strata_matches", arguments: 3) { matching.matches($0) }
    ] {
      try connection.defineFunction(
        function.name, arguments: function.arguments, function.body)
    }
  }

  private static var text: [Definition] {
    [
      // Text as `[c]` and `[d]` compare it.
      Definition(name: "strata_fold", arguments: 2) { arguments in
        guard let text = text(arguments[0]), let flags = arguments[1].integer else { return .null }
        return .text(
          FoldedText.fold(
            text, ignoringCase: flags & TextMatching.ignoringCase != 0,
            ignoringMarks: flags & TextMatching.ignoringMarks != 0))
      },
      // Length of text as NSString counts it, in UTF-16 units; of data, in bytes.
      Definition(name: "strata_length", arguments: 1) { arguments in
        switch arguments[0] {
        case .text(let text): .integer(Int64(text.utf16.count))
        case .blob(let bytes): .integer(Int64(bytes.count))
        default: .null
        }
      },
      // Text in upper, lower or capital letters, in any script, without regard to a locale.
      Definition(name: "strata_case", arguments: 2) { arguments in
        guard let text = text(arguments[0]) else { return .null }
        switch arguments[1].text {
        case "upper": return .text(text.uppercased())
        case "lower": return .text(text.lowercased())
        default: return .text(capitalized(text))
        }
      },
      Definition(name: "strata_substring", arguments: 3) { arguments in
        guard let text = arguments[0].text, let from = arguments[1].integer else { return .null }
        return .text(part(of: text, from: from, to: arguments[2].integer))
      },
      // A number as NSNumber prints it.
      Definition(name: "strata_text", arguments: 1) { arguments in
        switch arguments[0] {
        case .integer(let number): .text(String(number))
        case .real(let number): .text(numberText(number))
        case .text: arguments[0]
        default: .null
        }
      },
      Definition(name: "strata_uuid", arguments: 1) { arguments in
        guard let bytes = arguments[0].blob, bytes.count == 16 else { return .null }
        return .text(UUIDText.text(bytes))
      },
      // The last transaction of a store that a token of history names.
      Definition(name: "strata_history_token", arguments: 2) { arguments in
        guard let token = arguments[0].blob, let uuid = arguments[1].text else { return .null }
        return transaction(inToken: token, of: uuid).map { .integer($0) } ?? .null
      },
      // Text as its bytes in UTF-8, whatever the database keeps it in.
      Definition(name: "strata_bytes", arguments: 1) { arguments in
        switch arguments[0] {
        case .null, .blob: arguments[0]
        default: text(arguments[0]).map { .blob(Array($0.utf8)) } ?? .null
        }
      },
    ]
  }

  private static var numbers: [Definition] {
    [
      // -1, 0 or 1, by decimal digits.
      Definition(name: "strata_compare", arguments: 2) { arguments in
        guard let left = digits(arguments[0]), let right = digits(arguments[1]) else {
          return .null
        }
        return .integer(Int64(left.compared(to: right)))
      },
      Definition(name: "strata_math", arguments: 2) { arguments in
        guard let name = arguments[0].text, let number = arguments[1].number,
          let result = computed(name, number)
        else { return .null }
        return .real(result)
      },
      Definition(name: "strata_power", arguments: 2) { arguments in
        guard let base = arguments[0].number, let exponent = arguments[1].number else {
          return .null
        }
        return .real(power(base, exponent))
      },
      Definition(name: "strata_decimal", arguments: 1) { arguments in
        guard case .real(let number) = arguments[0] else { return arguments[0] }
        return decimal(number)
      },
    ]
  }

  /// NSNumber prints a whole number without a point.
  package static func numberText(_ number: Double) -> String {
    Int64(exactly: number).map { String($0) } ?? number.description
  }

  static func text(_ value: Value) -> String? {
    switch value {
    case .text(let text): text
    case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .null: nil
    }
  }

  /// The last transaction of a store that a history token names; `nil` where the bytes are no token.
  ///
  /// The token is a keyed archive whose dictionary has the last transaction by the store's UUID.
  private static func transaction(inToken bytes: [UInt8], of uuid: String) -> Int64? {
    guard let archive = try? KeyedArchive(bytes) else { return nil }
    let key = "NSPersistentHistoryTokenDictionary"
    let root = archive.root.value
    let entries =
      root.object?[key].entries
      ?? root.entries.first { $0.key == key }?.value.value.entries ?? root.entries
    return entries.first { $0.key.uppercased() == uuid.uppercased() }?.value.value.integer
  }

  private static func digits(_ value: Value) -> DecimalDigits? {
    switch value {
    case .integer(let number): DecimalDigits(String(number))
    case .real(let number): DecimalDigits(decimalDigits(of: number))
    case .text(let text): DecimalDigits(text)
    default: nil
    }
  }

  /// Indexes count UTF-16 units, as NSString does; one beyond the end counts as the end.
  private static func part(of text: String, from: Int64, to end: Int64?) -> String {
    let units = text.utf16
    let count = Int64(units.count)
    let start = min(max(from, 0), count)
    let stop = min(max(end ?? count, start), count)
    let range =
      units.index(
        units.startIndex, offsetBy: Int(start))..<units.index(
        units.startIndex, offsetBy: Int(stop))
    return String(decoding: Array(units[range]), as: UTF16.self)
  }

  private static func capitalized(_ text: String) -> String {
    var result = ""
    var startsWord = true
    for character in text {
      result += startsWord ? character.uppercased() : character.lowercased()
      startsWord = character.isWhitespace
    }
    return result
  }
}

extension StoreFunctions {
  /// Names of the functions of one number.
  package static let functionsOfNumbers: Set<String> = [
    "sqrt:", "exp:", "ln:", "log:", "floor:", "ceiling:", "trunc:",
  ]

  static func computed(_ name: String, _ number: Double) -> Double? {
    switch name {
    case "sqrt:": number.squareRoot()
    case "exp:": exp(number)
    case "ln:": log(number)
    // NSExpression's log is to the base of ten.
    case "log:": log10(number)
    case "floor:": number.rounded(.down)
    case "ceiling:": number.rounded(.up)
    case "trunc:": number.rounded(.towardZero)
    default: nil
    }
  }

  static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

  /// A sum or product of decimals as NSDecimalNumber has it: a store keeps decimals as binary
  /// numbers of fifteen safe digits, and what is beyond them is no part of the value.
  static func decimal(_ number: Double) -> Value {
    guard number.isFinite, number != 0 else { return .real(number) }
    let places = 14 - Int(log10(number.magnitude).rounded(.down))
    guard (-300...300).contains(places) else { return .real(number) }
    let scale = pow(10, Double(places.magnitude))
    let rounded =
      places >= 0 ? (number * scale).rounded() / scale : (number / scale).rounded() * scale
    return Int64(exactly: rounded).map { .integer($0) } ?? .real(rounded)
  }
}

/// Compiled patterns of a connection: a filter has a few, and each is used for every row.
final class TextMatching {
  // Bits that say how text is compared.
  static let ignoringCase: Int64 = 1
  static let ignoringMarks: Int64 = 2
  /// A `LIKE` pattern instead of a regular expression.
  static let like: Int64 = 4

  private var known: [String: TextPattern] = [:]

  /// The arguments are text, pattern and bits.
  func matches(_ arguments: [Value]) -> Value {
    guard let text = StoreFunctions.text(arguments[0]), let pattern = arguments[1].text,
      let flags = arguments[2].integer, let compiled = self.pattern(pattern, flags)
    else { return .null }
    return .integer(compiled.matches(text) ? 1 : 0)
  }

  private func pattern(_ text: String, _ flags: Int64) -> TextPattern? {
    let key = "\(flags) \(text)"
    if let pattern = known[key] { return pattern }
    if known.count > 100 { known.removeAll() }
    let pattern = try? Self.pattern(text, flags)
    known[key] = pattern
    return pattern
  }

  static func pattern(_ text: String, _ flags: Int64) throws(CoreDataError) -> TextPattern {
    let ignoringCase = flags & Self.ignoringCase != 0
    let ignoringMarks = flags & Self.ignoringMarks != 0
    return flags & like != 0
      ? try TextPattern(like: text, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks)
      : try TextPattern(matching: text, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks)
  }
}

/// A decimal number as its digits, for comparing without rounding.
struct DecimalDigits {
  private let isNegative: Bool
  /// Without zeros at the front.
  private let whole: [UInt8]
  /// Without zeros at the end.
  private let fraction: [UInt8]

  /// Reads `-12.50` or `1.5e3`; `nil` for other text and for exponents beyond ±400.
  init?(_ text: String) {
    var bytes = Array(text.utf8)[...]
    let sign = bytes.first
    isNegative = sign == UInt8(ascii: "-")
    if isNegative || sign == UInt8(ascii: "+") { bytes.removeFirst() }
    var exponent = 0
    if let mark = bytes.firstIndex(where: { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) {
      guard let power = Int(String(decoding: bytes[(mark + 1)...], as: UTF8.self)),
        (-400...400).contains(power)
      else { return nil }
      exponent = power
      bytes = bytes[..<mark]
    }
    let parts = bytes.split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    var whole = parts.first.map(Array.init) ?? []
    var fraction = parts.count > 1 ? Array(parts[1]) : []
    guard (whole + fraction).allSatisfy({ (48...57).contains($0) }), !(whole + fraction).isEmpty
    else { return nil }
    while exponent > 0 {
      whole.append(fraction.isEmpty ? 48 : fraction.removeFirst())
      exponent -= 1
    }
    while exponent < 0 {
      fraction.insert(whole.popLast() ?? 48, at: 0)
      exponent += 1
    }
    while fraction.last == 48 { fraction.removeLast() }
    self.whole = Array(whole.drop { $0 == 48 })
    self.fraction = fraction
  }

  /// -1, 0 or 1.
  func compared(to other: DecimalDigits) -> Int {
    let (zero, otherZero) = (isZero, other.isZero)
    if zero && otherZero { return 0 }
    let (sign, otherSign) = (
      zero ? 0 : isNegative ? -1 : 1, otherZero ? 0 : other.isNegative ? -1 : 1
    )
    if sign != otherSign { return sign < otherSign ? -1 : 1 }
    return magnitude(comparedTo: other) * sign
  }

  private var isZero: Bool { whole.isEmpty && fraction.isEmpty }

  private func magnitude(comparedTo other: DecimalDigits) -> Int {
    if whole.count != other.whole.count { return whole.count < other.whole.count ? -1 : 1 }
    if whole != other.whole { return whole.lexicographicallyPrecedes(other.whole) ? -1 : 1 }
    if fraction == other.fraction { return 0 }
    return fraction.lexicographicallyPrecedes(other.fraction) ? -1 : 1
  }
}

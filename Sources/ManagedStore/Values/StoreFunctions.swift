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

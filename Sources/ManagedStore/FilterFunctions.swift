import ManagedModel
import SQLite

/// The SQL functions that filters and derived values call.
package enum FilterFunctions {
  /// Bits that tell how text is compared.
  enum Flag {
    static let ignoringCase: Int64 = 1
    static let ignoringMarks: Int64 = 2
    /// A `LIKE` pattern instead of a regular expression.
    static let like: Int64 = 4
  }

  /// - `strata_fold(text, flags)`: text as `[c]` and `[d]` compare it.
  /// - `strata_length(value)`: length of text as NSString counts it, in UTF-16 units; of data, in bytes.
  /// - `strata_upper(text)`: text in upper case, in any script.
  /// - `strata_matches(text, pattern, flags)`: whether the whole text matches.
  /// - `strata_compare(number, number)`: -1, 0 or 1, by decimal digits.
  package static func define(on connection: Connection) throws {
    try connection.defineFunction("strata_fold", arguments: 2) { arguments in
      guard let text = text(arguments[0]), let flags = arguments[1].integer else { return .null }
      return .text(
        FoldedText.fold(
          text, ignoringCase: flags & Flag.ignoringCase != 0,
          ignoringMarks: flags & Flag.ignoringMarks != 0))
    }
    try connection.defineFunction("strata_length", arguments: 1) { arguments in
      switch arguments[0] {
      case .text(let text): .integer(Int64(text.utf16.count))
      case .blob(let bytes): .integer(Int64(bytes.count))
      default: .null
      }
    }
    try connection.defineFunction("strata_upper", arguments: 1) { arguments in
      text(arguments[0]).map { .text($0.uppercased()) } ?? .null
    }
    let patterns = Patterns()
    try connection.defineFunction("strata_matches", arguments: 3) { arguments in
      guard let text = text(arguments[0]), let pattern = arguments[1].text,
        let flags = arguments[2].integer, let compiled = patterns.pattern(pattern, flags)
      else { return .null }
      return .integer(compiled.matches(text) ? 1 : 0)
    }
    try connection.defineFunction("strata_compare", arguments: 2) { arguments in
      guard let left = digits(arguments[0]), let right = digits(arguments[1]) else { return .null }
      return .integer(Int64(left.compared(to: right)))
    }
  }

  static func pattern(_ text: String, _ flags: Int64) throws -> TextPattern {
    let ignoringCase = flags & Flag.ignoringCase != 0
    let ignoringMarks = flags & Flag.ignoringMarks != 0
    return flags & Flag.like != 0
      ? try TextPattern(like: text, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks)
      : try TextPattern(matching: text, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks)
  }

  private static func text(_ value: Value) -> String? {
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

  /// Compiled patterns of a connection: a filter has a few, and each is used for every row.
  private final class Patterns {
    private var known: [String: TextPattern] = [:]

    func pattern(_ text: String, _ flags: Int64) -> TextPattern? {
      let key = "\(flags) \(text)"
      if let pattern = known[key] { return pattern }
      if known.count > 100 { known.removeAll() }
      let pattern = try? FilterFunctions.pattern(text, flags)
      known[key] = pattern
      return pattern
    }
  }
}

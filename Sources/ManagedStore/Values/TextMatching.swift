import ManagedModel
import SQLite

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

import ManagedModel
import ManagedStore
import SQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The SQL functions that compiled expressions call, where SQLite's own differ from Foundation's.
enum ExpressionFunctions {
  /// Defines them, and those of filters, on the connection that runs a migration.
  ///
  /// - Parameter now: the time in seconds since 2001 that `strata_now()` answers, the same to all
  ///   statements, since what is verified must equal what was written.
  static func define(on connection: Connection, now: Double = ExpressionFunctions.now) throws {
    try FilterFunctions.define(on: connection)
    try connection.defineFunction("strata_now", arguments: 0) { _ in .real(now) }
    try connection.defineFunction("strata_case", arguments: 2) { arguments in
      guard let text = arguments[0].text else { return .null }
      switch arguments[1].text {
      case "upper": return .text(text.uppercased())
      case "lower": return .text(text.lowercased())
      default: return .text(capitalized(text))
      }
    }
    try connection.defineFunction("strata_substring", arguments: 3) { arguments in
      guard let text = arguments[0].text, let from = arguments[1].integer else { return .null }
      return .text(part(of: text, from: from, to: arguments[2].integer))
    }
    try connection.defineFunction("strata_text", arguments: 1) { arguments in
      switch arguments[0] {
      case .integer(let number): .text(String(number))
      // NSNumber prints a whole number without a point.
      case .real(let number):
        .text(Int64(exactly: number).map { String($0) } ?? number.description)
      case .text: arguments[0]
      default: .null
      }
    }
    try connection.defineFunction("strata_uuid", arguments: 1) { arguments in
      guard let bytes = arguments[0].blob, bytes.count == 16 else { return .null }
      return .text(UUIDText.text(bytes))
    }
    try connection.defineFunction("strata_math", arguments: 2) { arguments in
      guard let name = arguments[0].text, let number = arguments[1].number,
        let result = computed(name, number)
      else { return .null }
      return .real(result)
    }
    try connection.defineFunction("strata_power", arguments: 2) { arguments in
      guard let base = arguments[0].number, let exponent = arguments[1].number else {
        return .null
      }
      return .real(pow(base, exponent))
    }
    try connection.defineFunction("strata_decimal", arguments: 1) { arguments in
      guard case .real(let number) = arguments[0] else { return arguments[0] }
      return decimal(number)
    }
  }

  /// This moment in seconds since 2001.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - 978_307_200
  }

  /// Names of the functions of one number.
  static let functionsOfNumbers: Set<String> = [
    "sqrt:", "exp:", "ln:", "log:", "floor:", "ceiling:", "trunc:",
  ]

  private static func computed(_ name: String, _ number: Double) -> Double? {
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

  /// A sum or product of decimals as NSDecimalNumber has it: a store keeps decimals as binary
  /// numbers of fifteen safe digits, and what is beyond them is no part of the value.
  private static func decimal(_ number: Double) -> Value {
    guard number.isFinite, number != 0 else { return .real(number) }
    let places = 14 - Int(log10(number.magnitude).rounded(.down))
    guard (-300...300).contains(places) else { return .real(number) }
    let scale = pow(10, Double(places.magnitude))
    let rounded =
      places >= 0 ? (number * scale).rounded() / scale : (number / scale).rounded() * scale
    return Int64(exactly: rounded).map { .integer($0) } ?? .real(rounded)
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

extension Value {
  /// The number as a Double.
  fileprivate var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }
}

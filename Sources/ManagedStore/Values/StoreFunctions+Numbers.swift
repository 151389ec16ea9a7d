import Files
import SQLite

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

extension Value {
  /// The number as a Double.
  var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }
}

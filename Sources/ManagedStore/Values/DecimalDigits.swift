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

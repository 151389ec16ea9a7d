/// Numbers for people.
package enum NumberText {
  /// `48,211`
  package static func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// `1 object`, `48,211 objects`
  package static func counted(
    _ number: some BinaryInteger, _ noun: String, plural: String? = nil
  ) -> String {
    grouped(number) + " " + (number == 1 ? noun : plural ?? noun + "s")
  }

  /// `412 B`, `1.2 MB`: powers of 1000, as files are reported.
  package static func bytes(_ count: Int) -> String {
    guard count >= 1000 else { return "\(count) B" }
    var value = Double(count)
    var unit = 0
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while value >= 999.5, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return (value < 9.95 ? fixed(value, digits: 1) : String(Int(value.rounded()))) + " "
      + units[unit]
  }

  /// `34 ms`, `1.7 s`, `1:05`, `2:03:04`
  package static func seconds(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e9 else { return "—" }
    if seconds < 0.95 { return "\(Int((max(0, seconds) * 1000).rounded())) ms" }
    if seconds < 60 { return fixed(max(0, seconds), digits: 1) + " s" }
    let whole = Int(seconds)
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    return hours > 0
      ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
  }

  /// A number with so many digits after the point.
  package static func fixed(_ value: Double, digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    let scale = (0..<max(0, digits)).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return sign + String(scaled) }
    let fraction = String(scaled % scale)
    return sign + "\(scaled / scale)."
      + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

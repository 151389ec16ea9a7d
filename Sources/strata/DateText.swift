/// Dates of a store as ISO 8601 in UTC.
enum DateText {
  /// `2024-03-01T12:00:00Z`, with milliseconds where there are any; the number itself where it is
  /// no date of the years 1 to 9999.
  static func iso8601(_ seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 1e12 else { return seconds.description }
    let milliseconds = Int((seconds * 1000).rounded())
    let (whole, fraction) = (floored(milliseconds, 1000), modulo(milliseconds, 1000))
    let days = floored(whole, 86_400) + 11_323
    let second = modulo(whole, 86_400)
    // Howard Hinnant's civil_from_days.
    let shifted = days + 719_468
    let era = floored(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    guard (1...9999).contains(year) else { return seconds.description }
    let date = "\(digits(year, 4))-\(digits(month))-\(digits(day))"
    let time = "\(digits(second / 3600)):\(digits(second / 60 % 60)):\(digits(second % 60))"
    return date + "T" + time + (fraction == 0 ? "" : "." + digits(fraction, 3)) + "Z"
  }

  private static func floored(_ value: Int, _ by: Int) -> Int {
    value >= 0 ? value / by : -((-value + by - 1) / by)
  }

  private static func modulo(_ value: Int, _ by: Int) -> Int { value - floored(value, by) * by }

  private static func digits(_ value: Int, _ width: Int = 2) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}

extension CoreDataDate {
  /// Seconds from 1970-01-01 to 2001-01-01, the reference date.
  package static let unixOffset = 978_307_200.0

  /// A date as ISO 8601 text in UTC, to the millisecond where there are any; dates outside the years
  /// 1 to 9999 are shown as their number.
  package static func text(_ seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 8e12 else { return "\(seconds)" }
    let milliseconds = (seconds * 1000).rounded()
    let whole = Int64((milliseconds / 1000).rounded(.down))
    let rest = Int64(milliseconds) - whole * 1000
    let unix = whole + Int64(unixOffset)
    let day = unix >= 0 ? unix / 86400 : (unix - 86399) / 86400
    let second = unix - day * 86400
    let (year, month, dayOfMonth) = civil(fromDays: day)
    guard (1...9999).contains(year) else { return "\(seconds)" }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let digits = String(year)
    let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    var text =
      "\(padded)-\(two(month))-\(two(dayOfMonth))T"
      + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
    if rest > 0 {
      let fraction = String(rest)
      text += "." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
    return text + "Z"
  }

  /// Year, month and day of a number of days since 1970-01-01, in the proleptic Gregorian calendar.
  ///
  /// Days are counted in eras of 400 years from 1 March, so that a leap day ends its year.
  package static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}

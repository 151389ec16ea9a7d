/// Dates as Core Data counts them: seconds since 2001-01-01 00:00:00 UTC.
package enum CoreDataDate {
  /// Days in the proleptic Gregorian calendar (Howard Hinnant's days_from_civil).
  package static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

extension CoreDataDate {
  /// The seconds of `2001-01-01T00:00:00Z`; `nil` for text of another form.
  package static func seconds(iso8601 text: String) -> Double? {
    var scan = Scan(text)
    guard let (year, month, day) = scan.day(), scan.skip("T"), let hour = scan.number(2),
      scan.skip(":"),
      let minute = scan.number(2), scan.skip(":"), let second = scan.number(2), scan.skip("Z"),
      scan.isAtEnd, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
      second < 61
    else { return nil }
    let days = daysSince1970(year: year, month: month, day: day) - 11_323
    return Double(days * 86_400 + hour * 3_600 + minute * 60 + second)
  }

  /// The seconds of ISO 8601 text as people write it: `2024-03-01`, with ` ` or `T` and a time to
  /// the minute, second or fraction, with `Z` or an offset such as `+02:00`; UTC without one.
  ///
  /// - Returns: `nil` for text of another form and for days that no calendar has.
  package static func seconds(written text: String) -> Double? {
    var scan = Scan(text.trimmed)
    guard let (year, month, day) = scan.day(), (1...12).contains(month),
      (1...days(in: month, of: year)).contains(day)
    else { return nil }
    var seconds = Double((daysSince1970(year: year, month: month, day: day) - 11_323) * 86_400)
    guard !scan.isAtEnd else { return seconds }
    guard scan.skip("T") || scan.skip("t") || scan.skip(" "), let hour = scan.number(2),
      scan.skip(":"), let minute = scan.number(2), hour < 24, minute < 60
    else { return nil }
    seconds += Double(hour * 3600 + minute * 60)
    if scan.skip(":") {
      guard let second = scan.number(2), second < 61 else { return nil }
      seconds += Double(second)
      if scan.skip(".") {
        guard let fraction = scan.fraction() else { return nil }
        seconds += fraction
      }
    }
    if scan.skip("Z") || scan.skip("z") { return scan.isAtEnd ? seconds : nil }
    _ = scan.skip(" ")
    if scan.isAtEnd { return seconds }
    let isWest = scan.skip("-")
    guard isWest || scan.skip("+"), let hours = scan.number(2), hours < 24 else { return nil }
    _ = scan.skip(":")
    let minutes = scan.isAtEnd ? 0 : scan.number(2)
    guard let minutes, minutes < 60, scan.isAtEnd else { return nil }
    let offset = Double(hours * 3600 + minutes * 60)
    return isWest ? seconds + offset : seconds - offset
  }

  /// That a text names a day which its month does not have, as a clause: `there is no 29 February 2019`.
  package static func missingDay(written text: String) -> String? {
    var scan = Scan(text.trimmed)
    guard let (year, month, day) = scan.day(), months.indices.contains(month - 1),
      !(1...days(in: month, of: year)).contains(day)
    else { return nil }
    return "there is no \(day) \(months[month - 1]) \(year)"
  }

  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  /// How many days a month of 1 to 12 has.
  package static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  private struct Scan {
    private var bytes: ArraySlice<UInt8>
    init(_ text: String) { bytes = Array(text.utf8)[...] }
    var isAtEnd: Bool { bytes.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard bytes.first == UInt8(ascii: character) else { return false }
      bytes.removeFirst()
      return true
    }

    mutating func number(_ digits: Int) -> Int? {
      let part = bytes.prefix(digits)
      guard part.count == digits, part.allSatisfy({ (48...57).contains($0) }) else { return nil }
      bytes.removeFirst(digits)
      return part.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    mutating func day() -> (year: Int, month: Int, day: Int)? {
      guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2)
      else { return nil }
      return (year, month, day)
    }

    mutating func fraction() -> Double? {
      let part = bytes.prefix { (48...57).contains($0) }
      bytes = bytes.dropFirst(part.count)
      return Double("0." + String(decoding: part, as: UTF8.self))
    }
  }
}

extension CoreDataDate {
  /// From the year -9999 to the end of 9999; a date outside it has no useful calendar text.
  package static let sensible: Range<Double> = -378_691_200_000..<252_423_993_600

  /// What a date beyond is, as a clause, with what a person may have meant; `nil` for any other date.
  ///
  /// Core Data keeps every number of seconds and reads it as it is.
  package static func oddity(_ seconds: Double) -> String? {
    guard seconds.isFinite, !sensible.contains(seconds) else { return nil }
    let years = (seconds.magnitude / 31_556_952).rounded()
    let count = years < 1e15 ? NumberText.grouped(Int64(years)) : "\(years)"
    var clause = "\(seconds) seconds, about \(count) years \(seconds < 0 ? "before" : "after") 2001"
    let units = [("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)]
    // From 1980 to 2100.
    let meant = units.lazy.map { ($0.0, seconds / $0.1 - unixOffset) }
      .first { (-662_688_000..<3_124_224_000).contains($0.1) }
    if let (unit, date) = meant { clause += "; as \(unit) since 1970 it would be \(text(date))" }
    return clause
  }

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

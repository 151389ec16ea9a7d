extension CoreDataDate {
  /// The seconds of `2001-01-01T00:00:00Z`; `nil` for text of another form.
  package static func seconds(iso8601 text: String) -> Double? {
    var scan = Scan(text)
    guard let year = scan.number(4), scan.skip("-"), let month = scan.number(2), scan.skip("-"),
      let day = scan.number(2), scan.skip("T"), let hour = scan.number(2), scan.skip(":"),
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
    guard let year = scan.number(4), scan.skip("-"), let month = scan.number(2), scan.skip("-"),
      let day = scan.number(2), (1...12).contains(month),
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

    mutating func fraction() -> Double? {
      let part = bytes.prefix { (48...57).contains($0) }
      bytes = bytes.dropFirst(part.count)
      return Double("0." + String(decoding: part, as: UTF8.self))
    }
  }
}

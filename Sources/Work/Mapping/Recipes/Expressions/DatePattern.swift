import ManagedModel

/// A pattern of dates as text, by which text becomes Core Data's seconds and back.
///
/// The letters are Unicode's: `yyyy` year, `MM` `M` month, `dd` `d` day, `HH` `H` hour of 24, `mm`
/// `m` minute, `ss` `s` second, `S…` fraction, `Z` offset as `+0130`, `ZZZZZ` as `+01:30` or `Z`;
/// anything in single quotes stands for itself, as does what is no letter. Only these: no names of
/// months and no era, whose meaning depends on a language. Days are of the Gregorian calendar, also
/// before it was made, in UTC unless the text shows an offset.
package struct DatePattern: Equatable {
  enum Part: Int { case year, month, day, hour, minute, second }

  enum Field: Equatable {
    case literal([UInt8])
    /// With the least number of digits: exactly four of a year, one to two or two of all else.
    case part(Part, Int)
    case fraction(Int)
    case offset(withColon: Bool)
  }

  let fields: [Field]

  /// - Throws: ``CoreDataError`` of kind usage naming the letters that are not known.
  package init(_ pattern: String) throws {
    guard pattern.utf8.count <= 200 else { throw CoreDataError(.usage, "the pattern is too long") }
    var rest = Array(pattern.utf8)[...]
    var fields: [Field] = []
    func add(literal: [UInt8]) {
      if case .literal(let before) = fields.last {
        fields[fields.count - 1] = .literal(before + literal)
      } else {
        fields.append(.literal(literal))
      }
    }
    while let byte = rest.first {
      let isLetter = (65...90).contains(byte) || (97...122).contains(byte)
      if byte == UInt8(ascii: "'") {
        rest = rest.dropFirst()
        add(literal: try Self.quoted(&rest))
      } else if isLetter {
        let count = rest.prefix { $0 == byte }.count
        rest = rest.dropFirst(count)
        fields.append(try Self.field(byte, count))
      } else {
        rest = rest.dropFirst()
        add(literal: [byte])
      }
    }
    self.fields = fields
  }

  /// Text in quotes, of which the first is gone; two quotes are one, also on their own.
  private static func quoted(_ rest: inout ArraySlice<UInt8>) throws -> [UInt8] {
    let quote = UInt8(ascii: "'")
    if rest.first == quote {
      rest = rest.dropFirst()
      return [quote]
    }
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      guard byte == quote else {
        text.append(byte)
        continue
      }
      guard rest.first == quote else { return text }
      rest = rest.dropFirst()
      text.append(quote)
    }
    throw CoreDataError(.usage, "a quote in the date pattern is not closed")
  }

  private static func field(_ letter: UInt8, _ count: Int) throws -> Field {
    switch (Character(Unicode.Scalar(letter)), count) {
    case ("y", 4): return .part(.year, 4)
    case ("M", 1...2): return .part(.month, count)
    case ("d", 1...2): return .part(.day, count)
    case ("H", 1...2): return .part(.hour, count)
    case ("m", 1...2): return .part(.minute, count)
    case ("s", 1...2): return .part(.second, count)
    case ("S", 1...9): return .fraction(count)
    case ("Z", 1...3): return .offset(withColon: false)
    case ("Z", 5): return .offset(withColon: true)
    default:
      let letters = String(repeating: String(Unicode.Scalar(letter)), count: min(count, 20))
      throw CoreDataError(
        .usage, "“\(letters)” is not supported in a date pattern",
        hint:
          "Available: yyyy MM M dd d HH H mm m ss s S Z ZZZZZ; put text that is meant literally in quotes."
      )
    }
  }

  /// Seconds since 2001-01-01 UTC; `nil` where the text is not of the pattern or names no day of the
  /// calendar.
  ///
  /// What the pattern leaves out is that of 2000-01-01 00:00:00, as with Apple's DateFormatter.
  package func seconds(_ text: String) -> Double? {
    var rest = Array(text.utf8)[...]
    var parts = [2000, 1, 1, 0, 0, 0]
    var (offset, fraction) = (0, 0.0)
    func number(_ least: Int, _ most: Int) -> Int? {
      let digits = rest.prefix(most).prefix { (48...57).contains($0) }
      guard digits.count >= least else { return nil }
      rest = rest.dropFirst(digits.count)
      return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
    for field in fields {
      switch field {
      case .literal(let bytes):
        guard rest.starts(with: bytes) else { return nil }
        rest = rest.dropFirst(bytes.count)
      case .part(let part, let digits):
        guard let read = number(digits, max(digits, 2)) else { return nil }
        parts[part.rawValue] = read
      case .fraction(let digits):
        guard let read = number(digits, digits) else { return nil }
        fraction = Double(read) / Self.powers[digits]
      case .offset(let withColon):
        guard let sign = rest.popFirst() else { return nil }
        if withColon, sign == UInt8(ascii: "Z") { continue }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hours = number(2, 2),
          hours < 24
        else { return nil }
        if withColon, rest.popFirst() != UInt8(ascii: ":") { return nil }
        guard let minutes = number(2, 2), minutes < 60 else { return nil }
        offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
      }
    }
    let (year, month, day) = (parts[0], parts[1], parts[2])
    let (hour, minute, second) = (parts[3], parts[4], parts[5])
    guard rest.isEmpty, year > 0, (1...12).contains(month),
      (1...CoreDataDate.days(in: month, of: year)).contains(day), hour < 24, minute < 60,
      second < 60
    else { return nil }
    let days = CoreDataDate.daysSince1970(year: year, month: month, day: day) - 11_323
    return Double(days * 86_400 + hour * 3_600 + minute * 60 + second - offset) + fraction
  }

  /// The text of seconds since 2001-01-01, in UTC; `nil` outside the years 1 to 9999.
  func text(_ seconds: Double) -> String? {
    guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
    // To the microsecond, below which a Double of this century knows nothing.
    let micros = Int64((seconds * 1e6).rounded()) + Int64(CoreDataDate.unixOffset) * 1_000_000
    let unix = Self.floor(micros, 1_000_000)
    let days = Self.floor(unix, 86_400)
    let second = unix - days * 86_400
    let (year, month, day) = CoreDataDate.civil(fromDays: days)
    guard (1...9999).contains(year) else { return nil }
    func padded(_ number: Int64, _ digits: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    let parts = [year, month, day, second / 3600, second / 60 % 60, second % 60]
    var text = ""
    for field in fields {
      switch field {
      case .literal(let bytes): text += String(decoding: bytes, as: UTF8.self)
      case .part(let part, let digits): text += padded(parts[part.rawValue], digits)
      case .fraction(let digits):
        let nines = padded(micros - unix * 1_000_000, 6) + "000"
        text += nines.prefix(digits)
      case .offset(let withColon): text += withColon ? "Z" : "+0000"
      }
    }
    return text
  }

  private static let powers: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

  private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    let quotient = number / divisor
    return number % divisor < 0 ? quotient - 1 : quotient
  }
}

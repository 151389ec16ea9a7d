import Files
import ManagedModel

/// Dates of a store as this machine's time zone has them.
enum LocalTime {
  /// `2024-03-01 13:00`; with a `Z` where the zone is UTC.
  static func minutes(_ seconds: Double) -> String {
    if let local = text(seconds) { return String(local.prefix(16)) }
    let date = CoreDataDate.text(seconds)
    return date.count > 16 ? "\(date.prefix(10)) \(date.dropFirst(11).prefix(5))Z" : date
  }

  /// The time of day: `14:02:11`.
  static func clock() -> String { formatted(time(nil), "%H:%M:%S")?.text ?? "" }

  /// `2024-03-01 13:00:00 +0100`; `nil` where the zone is UTC anyway, or no calendar holds the date.
  static func text(_ seconds: Double) -> String? {
    moment(seconds).flatMap { formatted($0, "%Y-%m-%d %H:%M:%S %z") }
      .flatMap { $0.offset == 0 ? nil : $0.text }
  }

  /// When a file was written: `2024-03-01 13:00`; empty where no calendar holds the date.
  static func ofFile(_ seconds: Double) -> String {
    moment(seconds).flatMap { formatted($0, "%Y-%m-%d %H:%M")?.text } ?? ""
  }

  private static func moment(_ seconds: Double) -> time_t? {
    guard seconds.isFinite, abs(seconds) < 2e11 else { return nil }
    return time_t((seconds + CoreDataDate.unixOffset).rounded(.down))
  }

  private static func formatted(_ moment: time_t, _ form: String) -> (text: String, offset: Int)? {
    var moment = moment
    var parts = tm()
    guard localtime_r(&moment, &parts) != nil else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = strftime(&buffer, buffer.count, form, &parts)
    let text = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return (text, parts.tm_gmtoff)
  }
}

import ManagedModel

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Dates of a store as this machine's time zone has them.
enum LocalTime {
  /// `2024-03-01 13:00`; with a `Z` where the zone is UTC.
  static func minutes(_ seconds: Double) -> String {
    if let local = text(seconds) { return String(local.prefix(16)) }
    let date = CoreDataDate.text(seconds)
    return date.count > 16 ? "\(date.prefix(10)) \(date.dropFirst(11).prefix(5))Z" : date
  }

  /// The time of day: `14:02:11`.
  static func clock() -> String {
    var moment = time(nil)
    var parts = tm()
    guard localtime_r(&moment, &parts) != nil else { return "" }
    var buffer = [CChar](repeating: 0, count: 16)
    let count = strftime(&buffer, buffer.count, "%H:%M:%S", &parts)
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// `2024-03-01 13:00:00 +0100`; `nil` where the zone is UTC anyway, or no calendar holds the date.
  static func text(_ seconds: Double) -> String? {
    guard seconds.isFinite, abs(seconds) < 2e11 else { return nil }
    var moment = time_t((seconds + CoreDataDate.unixOffset).rounded(.down))
    var parts = tm()
    guard localtime_r(&moment, &parts) != nil, parts.tm_gmtoff != 0 else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S %z", &parts)
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

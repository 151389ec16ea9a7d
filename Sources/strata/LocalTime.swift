import ManagedModel

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Dates of a store as this machine's time zone has them.
enum LocalTime {
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

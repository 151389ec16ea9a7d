import ManagedModel

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// When files were written, on the clock on the wall.
enum FileTime {
  /// Seconds since 2001-01-01 UTC.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - CoreDataDate.unixOffset
  }

  /// `2024-03-01 13:00`, local time.
  static func text(_ seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 2e11 else { return "" }
    var moment = time_t((seconds + CoreDataDate.unixOffset).rounded(.down))
    var parts = tm()
    guard localtime_r(&moment, &parts) != nil else { return "" }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M", &parts)
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

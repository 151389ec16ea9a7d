import Values

extension CoreDataDate {
  /// This moment, in seconds since 2001-01-01 UTC.
  package static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - unixOffset
  }
}

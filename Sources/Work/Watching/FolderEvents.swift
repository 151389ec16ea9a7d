#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Wakes at once when a file comes to a folder, or goes, where the system can say so.
struct FolderEvents: ~Copyable {
  private let descriptor: Int32

  /// How long a wait is at most, in milliseconds.
  private static let longest: Int32 = 2

  init(_ folder: String) {
    #if canImport(Glibc)
      descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      let events = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM)
      if descriptor >= 0 { inotify_add_watch(descriptor, folder, events) }
    #else
      descriptor = -1
    #endif
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Waits for the next event since the last wait, but not for long.
  func wait() {
    guard descriptor >= 0 else {
      usleep(50)
      return
    }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, Self.longest) > 0 else { return }
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
    }
  }
}

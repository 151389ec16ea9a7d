import Files

/// Wakes when something happens to files of a store, where the system can say so.
///
/// Mounts are silent, and so are other systems: whoever waits looks again after a while in any case.
final class ChangeSignal {
  private let name: [UInt8]
  private let descriptor: Int32
  private var last = ContinuousClock.now

  /// After a change comes rest: what follows at once is seen in one look.
  private static let rest = Duration.milliseconds(8)

  /// - Parameter path: the main file.
  init(path: String) {
    name = Array(FileSystem.name(of: path).utf8)
    #if canImport(Glibc)
      descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      let events = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB
      if descriptor >= 0 {
        inotify_add_watch(descriptor, FileSystem.parent(of: path) ?? ".", UInt32(events))
      }
    #else
      descriptor = -1
    #endif
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Waits for a change, or that long.
  func wait(milliseconds: Int) {
    let end = ContinuousClock.now + .milliseconds(max(0, milliseconds))
    let rested = last + Self.rest
    if rested > ContinuousClock.now { Self.sleep(until: min(rested, end)) }
    while descriptor >= 0, ContinuousClock.now < end {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = (end - .now) / .milliseconds(1)
      let count = poll(&waiting, 1, Int32(max(1, min(left, 60_000))))
      // A signal ends the wait, too.
      guard count >= 0 else { break }
      if count > 0, hasOwnEvent() { break }
    }
    if descriptor < 0 { Self.sleep(until: end) }
    last = .now
  }

  private static func sleep(until end: ContinuousClock.Instant) {
    let left = (end - .now) / .microseconds(1)
    if left > 0 { usleep(UInt32(min(left, 60_000_000))) }
  }

  /// Reads what happened; whether any of it is about the store.
  private func hasOwnEvent() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    var isOwn = false
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return isOwn }
      // Each event: four words, of which the last is the length of the name that follows.
      var place = 0
      while !isOwn, place + 16 <= count {
        let length = buffer.withUnsafeBytes {
          Int($0.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
        }
        let file = buffer[min(place + 16, count)..<min(place + 16 + length, count)]
        isOwn = file.starts(with: name)
        place += 16 + length
      }
    }
  }
}

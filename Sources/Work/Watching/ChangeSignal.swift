import Files

/// Wakes when something happens to files of a store, where the system can say so.
///
/// Mounts are silent, and so are other systems: whoever waits looks again after a while in any case.
final class ChangeSignal {
  private let path: String
  private let name: [UInt8]
  private let descriptor: Int32
  #if canImport(Darwin)
    private let folder: Int32
    /// The -wal, to which a program writes without the folder being changed.
    private var log: (identity: FileIdentity, descriptor: Int32)?
  #endif
  private var last = ContinuousClock.now

  /// After a change comes rest: what follows at once is seen in one look.
  private static let rest = Duration.milliseconds(8)

  /// - Parameter path: the main file.
  init(path: String) {
    self.path = path
    name = Array(FileSystem.name(of: path).utf8)
    let parent = FileSystem.parent(of: path) ?? "."
    #if canImport(Glibc)
      descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      let events = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB
      if descriptor >= 0 { inotify_add_watch(descriptor, parent, UInt32(events)) }
    #elseif canImport(Darwin)
      descriptor = kqueue()
      folder = open(parent, O_EVTONLY | O_CLOEXEC)
      register(folder)
    #else
      descriptor = -1
    #endif
  }

  deinit {
    #if canImport(Darwin)
      if folder >= 0 { close(folder) }
      if let log { close(log.descriptor) }
    #endif
    if descriptor >= 0 { close(descriptor) }
  }

  /// Waits for a change, or that long.
  ///
  /// - Parameter noticing: called at once for each change; `nil` where nothing needs to be done before the wait ends.
  func wait(milliseconds: Int, noticing: (() -> Void)?) {
    let end = ContinuousClock.now + .milliseconds(max(0, milliseconds))
    let rested = min(last + Self.rest, end)
    if noticing == nil, rested > .now { Self.sleep(until: rested) }
    followLog()
    var hasChanged = false
    while descriptor >= 0 {
      let now = ContinuousClock.now
      let until = hasChanged ? rested : end
      guard now < until else { break }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = (until - now) / .milliseconds(1)
      let count = poll(&waiting, 1, Int32(max(1, min(left, 60_000))))
      // A signal ends the wait, too.
      guard count >= 0 else { break }
      guard count > 0 else { continue }
      noticing?()
      if hasOwnEvent() { hasChanged = true }
    }
    if descriptor < 0 { Self.sleep(until: end) }
    last = .now
  }

  private static func sleep(until end: ContinuousClock.Instant) {
    let left = (end - .now) / .microseconds(1)
    if left > 0 { usleep(UInt32(min(left, 60_000_000))) }
  }

  #if canImport(Darwin)
    /// Asks to be woken when an open file or folder changes.
    private func register(_ file: Int32) {
      guard descriptor >= 0, file >= 0 else { return }
      let events = NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_ATTRIB
      var change = kevent(
        ident: UInt(file), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_ADD | EV_CLEAR),
        fflags: UInt32(events), data: 0, udata: nil)
      _ = kevent(descriptor, &change, 1, nil, 0, nil)
    }

    /// The main file is not opened: to close it would end locks that this process may hold on it.
    private func followLog() {
      let identity = FileIdentity(of: path + "-wal")
      guard identity != log?.identity else { return }
      if let log { close(log.descriptor) }
      log = nil
      let file = open(path + "-wal", O_EVTONLY | O_CLOEXEC | O_NOFOLLOW)
      guard let identity, file >= 0 else {
        if file >= 0 { close(file) }
        return
      }
      log = (identity, file)
      register(file)
    }

    /// Takes in what happened: the folder does not say to which file.
    private func hasOwnEvent() -> Bool {
      // The function has the name of the structure: only with all fields it is the latter.
      let empty = kevent(ident: 0, filter: 0, flags: 0, fflags: 0, data: 0, udata: nil)
      var events = Array(repeating: empty, count: 8)
      var none = timespec(tv_sec: 0, tv_nsec: 0)
      return kevent(descriptor, nil, 0, &events, Int32(events.count), &none) > 0
    }
  #else
    /// The folder says what happens to the -wal.
    private func followLog() {}

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
  #endif
}

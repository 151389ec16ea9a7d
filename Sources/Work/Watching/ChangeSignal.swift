import Files

/// Wakes when something happens to files of a store, where the system can say so.
///
/// Network mounts and other systems send no events: a wait looks again after a while in any case.
///
/// On Linux a program pays for each event with each of its writes, about a microsecond. Each file is therefore watched
/// for one event at a time, and again when the wait for it ends: a program that saves all the time pays for a few.
final class ChangeSignal {
  private let path: String
  #if canImport(Glibc)
    private let name: [UInt8]
    private let parent: String
    /// The folder, by inotify's number for it.
    private var folder: Int32 = -1
    /// Whether it is watched for every event; `nil` after an event, when everything is watched anew.
    private var watchesEveryEvent: Bool?
  #endif
  private let descriptor: Int32
  #if canImport(Darwin)
    private let folder: Int32
    /// The -wal, to which a program writes without the folder being changed.
    private var log: (identity: FileIdentity, descriptor: Int32)?
  #endif
  private var last = ContinuousClock.now

  /// After a change comes rest: what follows at once is seen in one look.
  private static let rest = Duration.milliseconds(8)
  /// How many times as long as a look the rest behind it lasts, so that looks take a quarter of a processor beside a
  /// program that saves all the time; and at most how long.
  private static let (restForEachLook, longestRest) = (3, Duration.milliseconds(100))
  /// The same where journals are noticed meanwhile: looks that have little to read do not take long.
  private static let longestNoticing = Duration.milliseconds(30)

  /// - Parameter path: the main file.
  init(path: String) {
    self.path = path
    let parent = FileSystem.parent(of: path) ?? "."
    #if canImport(Glibc)
      self.parent = parent
      name = Array(FileSystem.name(of: path).utf8)
      descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      watch(everyEvent: false)
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

  /// Waits for a change since the last wait ended, or that long.
  ///
  /// - Parameter noticing: called at once for each file that comes or goes; `nil` where nothing needs to be done before
  ///   the wait ends.
  func wait(milliseconds: Int, noticing: (() -> Void)?) {
    let start = ContinuousClock.now
    let end = start + .milliseconds(max(0, milliseconds))
    let longest = noticing == nil ? Self.longestRest : Self.longestNoticing
    let rest = max(Self.rest, min((start - last) * Self.restForEachLook, longest))
    let rested = min(start + rest, end)
    if noticing == nil { Self.sleep(until: rested) }
    #if canImport(Darwin)
      followLog()
    #else
      // Journals come and go all the time.
      if noticing != nil { watch(everyEvent: true) }
    #endif
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
    #if canImport(Glibc)
      // Before the caller looks: what happens from now on ends the next wait.
      watch(everyEvent: noticing != nil)
    #endif
    last = .now
  }

  /// Programs that write pay for one more event at most, until the next wait.
  func pause() {
    #if canImport(Glibc)
      watch(everyEvent: false)
    #endif
  }

  /// Waits without being woken.
  static func sleep(milliseconds: Int) { sleep(until: .now + .milliseconds(max(0, milliseconds))) }

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
    /// Asks to be woken by the next event of the main file, of the -wal and of the folder that they are in.
    ///
    /// - Parameter everyEvent: whether to be woken each time that a file comes to the folder, or goes.
    private func watch(everyEvent: Bool) {
      guard descriptor >= 0, everyEvent != watchesEveryEvent else { return }
      watchesEveryEvent = everyEvent
      let once = UInt32(IN_ONESHOT)
      let coming = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM)
      folder = inotify_add_watch(descriptor, parent, coming | (everyEvent ? 0 : once))
      let writing = UInt32(IN_MODIFY | IN_ATTRIB | IN_DONT_FOLLOW) | once
      for suffix in ["", "-wal"] { inotify_add_watch(descriptor, path + suffix, writing) }
    }

    /// Reads what happened; whether any of it is about the store.
    private func hasOwnEvent() -> Bool {
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      var (isOwn, isUsedUp) = (false, false)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { break }
        watchesEveryEvent = nil
        // Each event: four words, of which the first names what is watched, the second says what happened, and the last
        // is the length of the name that follows.
        var place = 0
        while place + 16 <= count {
          let (watched, mask, length) = buffer.withUnsafeBytes {
            (
              $0.loadUnaligned(fromByteOffset: place, as: Int32.self),
              $0.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self),
              Int($0.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
            )
          }
          let file = buffer[min(place + 16, count)..<min(place + 16 + length, count)]
          if mask & UInt32(IN_IGNORED) != 0 {
            isUsedUp = isUsedUp || watched == folder
          } else if watched != folder || file.starts(with: name) {
            isOwn = true
          }
          place += 16 + length
        }
      }
      // Another file of the folder came or went.
      if !isOwn, isUsedUp { watch(everyEvent: false) }
      return isOwn
    }
  #endif
}

import CNcurses

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What curses writes to: the terminal, or memory, out of which a frame goes to the terminal at once.
///
/// ncurses writes what it has at every move of the cursor: a hundred times for a screen, each of which
/// wakes the terminal, so that the two take turns until all is there.
@MainActor
final class FrameOutput {
  /// A frame that took this long was taken slowly.
  private static let patience = Duration.milliseconds(20)

  /// There is one terminal, and so one of these for as long as the program runs.
  static let standard = FrameOutput(terminal: STDOUT_FILENO)

  private let terminal: Int32
  private let now: () -> ContinuousClock.Instant

  /// What curses is to write to; `nil` for standard output.
  let file: UnsafeMutablePointer<FILE>?
  /// The same as a descriptor.
  let descriptor: Int32
  /// Where a frame is gathered; -1 where that cannot be.
  private let memory: Int32
  private var buffer: [UInt8] = []
  /// Whether the terminal was slow with the last frame. Curses writes the next itself then, and leaves
  /// the rest of it when a key comes.
  private var isSlow = false

  /// - Parameter now: what a frame's time is measured by.
  init(terminal: Int32, now: @escaping () -> ContinuousClock.Instant = { .now }) {
    self.terminal = terminal
    self.now = now
    let opened = Self.open(terminal)
    file = opened?.file
    descriptor = opened?.descriptor ?? terminal
    memory = opened?.memory ?? -1
  }

  /// `nil` where frames are not gathered.
  private static func open(
    _ terminal: Int32
  ) -> (file: UnsafeMutablePointer<FILE>, descriptor: Int32, memory: Int32)? {
    #if os(Linux)
      let memory = memfd_create("frame", 1)  // MFD_CLOEXEC
      let descriptor = memory < 0 ? -1 : fcntl(terminal, F_DUPFD_CLOEXEC, 3)
      if descriptor >= 0, let file = fdopen(descriptor, "w") { return (file, descriptor, memory) }
      if descriptor >= 0 { close(descriptor) }
      if memory >= 0 { close(memory) }
    #endif
    return nil
  }

  /// Sends what curses writes meanwhile.
  func sendFrame(_ write: () -> Void) {
    let start = now()
    defer { isSlow = now() - start > Self.patience }
    #if os(Linux)
      if memory >= 0, !isSlow, dup3(memory, descriptor, O_CLOEXEC) >= 0 {
        typeahead(-1)
        write()
        dup3(terminal, descriptor, O_CLOEXEC)
        typeahead(STDIN_FILENO)
        return sendMemory()
      }
    #endif
    write()
  }

  private func sendMemory() {
    // Both descriptors share the place.
    let count = Int(lseek(memory, 0, SEEK_CUR))
    guard count > 0, lseek(memory, 0, SEEK_SET) == 0 else { return }
    if buffer.count < count { buffer = [UInt8](repeating: 0, count: count) }
    guard pread(memory, &buffer, count, 0) == count else { return }
    buffer.withUnsafeBytes { bytes in
      var rest = bytes[..<count]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let written = systemWrite(terminal, part)
        if written > 0 {
          rest = rest.dropFirst(written)
        } else if errno == EAGAIN {
          var ready = pollfd(fd: terminal, events: Int16(POLLOUT), revents: 0)
          guard poll(&ready, 1, -1) >= 0 || errno == EINTR else { return }
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}

/// `write` by a name that no parameter hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

/// What puts the terminal back when there is no time for curses: a signal, a trap.
///
/// It is gathered while all is well into memory that stays where it is, so that the handler only
/// has to call `write`, `dup2`, `open` and `tcsetattr`, which a signal handler may.
struct EmergencyRestore {
  private var bytes: UnsafeMutablePointer<UInt8>
  private var count: Int
  private var modes: termios
  /// What curses writes to, besides standard output.
  private var output: Int32

  /// Written once before the screen starts and only read afterwards; a signal handler can wait for
  /// no lock. Atomic enough: it is a pointer, set when the memory behind it is complete.
  nonisolated(unsafe) private static var saved: UnsafeMutablePointer<EmergencyRestore>?

  /// Keeps the modes that the terminal has now and the strings of terminfo that undo ours.
  ///
  /// - Parameter output: what curses writes to.
  static func prepare(extra: [String], output: Int32) {
    var modes = termios()
    guard saved == nil, tcgetattr(STDIN_FILENO, &modes) == 0 else { return }
    let names = ["sgr0", "rmkx", "cnorm", "rmcup"]
    let text = extra.joined() + names.compactMap(Terminfo.string).joined()
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, text.utf8.count))
    for (index, byte) in text.utf8.enumerated() { (bytes + index).initialize(to: byte) }
    let place = UnsafeMutablePointer<EmergencyRestore>.allocate(capacity: 1)
    place.initialize(
      to: EmergencyRestore(bytes: bytes, count: text.utf8.count, modes: modes, output: output))
    saved = place
  }

  static func run() {
    guard let saved else { return }
    // A thread that goes on drawing must not come after this: its screens go nowhere from now on.
    let terminal = dup(STDOUT_FILENO)
    let nowhere = open("/dev/null", O_WRONLY)
    if terminal >= 0, nowhere >= 0 {
      // In this order: frames take the one for the other in between.
      dup2(nowhere, STDOUT_FILENO)
      dup2(nowhere, saved.pointee.output)
    }
    _ = write(terminal >= 0 ? terminal : STDOUT_FILENO, saved.pointee.bytes, saved.pointee.count)
    tcsetattr(STDIN_FILENO, TCSANOW, &saved.pointee.modes)
  }
}

/// Bytes as the text that an OSC 52 carries.
enum Base64 {
  static func text(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let number = (0..<3).reduce(0) { sum, index in
        sum << 8 | (index < group.count ? Int(group[start + index]) : 0)
      }
      for index in 0..<4 {
        text.append(
          index <= group.count
            ? digits[number >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

import CNcurses

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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

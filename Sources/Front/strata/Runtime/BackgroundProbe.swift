import Commands
import Files
import Terminal

/// Asks the terminal whether it is light or dark, before curses takes it.
///
/// The question is put first and the answer taken later, so that the store opens meanwhile. Until then
/// nothing is echoed; `finish` must be called.
struct BackgroundProbe {
  /// How long the first screen waits for an answer. Most terminals have it at once; that of one far
  /// away comes later, among the keys.
  private static let patience = Duration.milliseconds(8)
  /// Kinds of terminals that would show the question instead of answering it.
  private static let mute = ["dumb", "linux", "unknown", "cons", "vt", "ansi", "emacs", "eterm"]

  private let modes: termios
  private let asked = ContinuousClock.now

  /// Puts the question; `nil` where it must not be put.
  init?(term: String?) {
    guard let term, !term.isEmpty, !Self.mute.contains(where: term.hasPrefix),
      isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1
    else { return nil }
    var modes = termios()
    guard tcgetattr(STDIN_FILENO, &modes) == 0 else { return nil }
    self.modes = modes
    // ^C stays a signal.
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard tcsetattr(STDIN_FILENO, TCSANOW, &modes) == 0 else { return nil }
    Output.write(BackgroundReply.query)
  }

  /// Waits for the answer as long as it is worth it, and gives the terminal back as it was.
  func finish() -> BackgroundReply {
    var modes = modes
    defer { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
    var bytes: [UInt8] = []
    var reply = BackgroundReply(bytes)
    var buffer = [UInt8](repeating: 0, count: 1024)
    while !reply.isComplete, bytes.count < 1 << 16 {
      let left = Self.patience - (ContinuousClock.now - asked)
      let milliseconds = Int32(max(0, left.components.attoseconds / 1_000_000_000_000_000))
      var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, left > .zero ? milliseconds : 0) > 0 else { break }
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer.prefix(count)
      reply = BackgroundReply(bytes)
    }
    return reply
  }
}

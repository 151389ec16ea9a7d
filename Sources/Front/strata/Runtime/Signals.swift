import Curses
import Files

/// The end of the pipe that wakes the loop. A signal handler can wait for no lock and make no lazy
/// global: this is a plain number, written once before any handler is installed.
nonisolated(unsafe) private var wakingEnd: Int32 = -1

/// Signals, and other reasons to wake up, as bytes in a pipe that the loop polls.
///
/// There is one, for the length of the loop.
struct Signals {
  enum Event: UInt8 {
    case message = 0x4D
    case resized = 0x57
    case terminate = 0x54
    case suspend = 0x5A
  }

  /// To be polled for reading.
  let descriptor: Int32

  init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    descriptor = ends[0]
    wakingEnd = ends[1]
    Self.install(SIGWINCH) { _ in Signals.wake(.resized) }
    Self.install(SIGTSTP) { _ in Signals.wake(.suspend) }
    for number in [SIGTERM, SIGINT, SIGHUP] {
      Self.install(number) { _ in Signals.wake(.terminate) }
    }
    signal(SIGPIPE, SIG_IGN)
    // A trap leaves no way out but a terminal that still has to be restored.
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] {
      Self.install(number) { number in
        CursesScreen.emergencyRestore()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Wakes the loop; also from a signal handler.
  static func wake(_ event: Event) {
    var byte = event.rawValue
    // A full pipe wakes as well as a fuller one.
    _ = write(wakingEnd, &byte, 1)
  }

  /// What has come in since the last time.
  func take() -> Set<Event> {
    var bytes = [UInt8](repeating: 0, count: 256)
    var events: Set<Event> = []
    while true {
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return events }
      events.formUnion(bytes.prefix(count).compactMap(Event.init))
    }
  }

  /// Stops the program as ^Z does, and returns when it goes on.
  static func stopProgram() {
    signal(SIGTSTP, SIG_DFL)
    kill(0, SIGTSTP)
    install(SIGTSTP) { _ in Signals.wake(.suspend) }
  }

  /// Gives the signals back to the system.
  func close() {
    for number in [
      SIGWINCH, SIGTSTP, SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE,
    ] {
      signal(number, SIG_DFL)
    }
  }

  private static func install(
    _ number: Int32, _ handler: @escaping @Sendable @convention(c) (Int32) -> Void
  ) {
    var action = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    action.sa_flags = Int32(SA_RESTART)
    sigaction(number, &action, nil)
  }
}

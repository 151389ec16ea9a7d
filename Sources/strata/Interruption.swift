import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// ^C as a question that long work asks itself.
enum Interruption {
  private static let requested = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  private static let handler: @Sendable @convention(c) (Int32) -> Void = { _ in
    requested.store(true, ordering: .relaxed)
    signal(SIGINT, SIG_DFL)
  }

  /// Turns the first ^C during `body` into a request to stop; a second one ends the program.
  static func watching<T>(_ body: () throws -> T) rethrows -> T {
    // The first use makes the flag, which must not happen inside a signal handler.
    requested.store(false, ordering: .relaxed)
    let previous = signal(SIGINT, handler)
    defer { signal(SIGINT, previous) }
    return try body()
  }
}

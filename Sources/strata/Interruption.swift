import Files
import ManagedModel
import Synchronization

/// ^C, a hang-up or a request to end, as a question that long work asks itself.
enum Interruption {
  private static let requested = Atomic<Bool>(false)
  private static let isWatching = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  private static let handler: @Sendable @convention(c) (Int32) -> Void = { _ in
    requested.store(true, ordering: .relaxed)
  }

  /// Turns those signals during `body` into a request to stop, which leaves nothing half-done
  /// behind; a closed pipe does not end it either. Within another such body it adds nothing.
  static func watching<T>(_ body: () throws -> T) rethrows -> T {
    guard !isWatching.exchange(true, ordering: .relaxed) else { return try body() }
    defer { isWatching.store(false, ordering: .relaxed) }
    // The first use makes the flag, which must not happen inside a signal handler.
    requested.store(false, ordering: .relaxed)
    let previous = [SIGINT, SIGTERM, SIGHUP].map { ($0, signal($0, handler)) }
    let pipe = signal(SIGPIPE, SIG_IGN)
    defer {
      for (number, action) in previous { signal(number, action) }
      signal(SIGPIPE, pipe)
    }
    return try body()
  }

  /// The same for a whole command.
  static func watched(_ run: @escaping Command.Run) -> Command.Run {
    { arguments, console in try watching { try run(arguments, console) } }
  }

  /// - Throws: ``CoreDataError`` of kind cancelled where it is requested.
  static func check() throws {
    guard isRequested else { return }
    throw CoreDataError(
      .cancelled, code: .migrationCancelled, "cancelled",
      hint: "Nothing was changed: the store is as it was.")
  }
}

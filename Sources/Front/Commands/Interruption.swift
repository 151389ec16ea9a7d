import Files
import ManagedModel
import SQLite
import Synchronization

/// The end of the pipe that has private copies and unfinished outputs removed. A signal handler can wait for
/// no lock and make no lazy global: this is a plain number, written before a handler is installed.
nonisolated(unsafe) private var removalEnd: Int32 = -1

/// ^C, a hang-up or a request to end, as a question that long work asks itself.
package enum Interruption {
  private static let requested = Atomic<Bool>(false)
  private static let isWatching = Atomic<Bool>(false)
  /// Whether this process ends with the command that it runs.
  private static let endsWithCommand = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  private static let handler: @Sendable @convention(c) (Int32) -> Void = { _ in
    requested.store(true, ordering: .relaxed)
  }

  /// Turns those signals during `body` into a request to stop, which leaves nothing half-done
  /// behind; a closed pipe does not end it either. Within another such body it adds nothing.
  static func watching<T>(_ body: () throws -> T) rethrows -> T {
    guard !isWatching.exchange(true, ordering: .relaxed) else { return try body() }
    let restore = watch()
    defer {
      restore()
      isWatching.store(false, ordering: .relaxed)
    }
    return try body()
  }

  /// Begins to watch.
  ///
  /// - Returns: what restores what signals did before.
  private static func watch() -> () -> Void {
    // The first use makes the flag, which must not happen inside a signal handler.
    requested.store(false, ordering: .relaxed)
    let previous = [SIGINT, SIGTERM, SIGHUP].map { ($0, signal($0, handler)) }
    let pipe = signal(SIGPIPE, SIG_IGN)
    return {
      for (number, action) in previous { signal(number, action) }
      signal(SIGPIPE, pipe)
    }
  }

  /// The same for a whole command, within the statements of every store that it opens.
  static func watched(_ run: @escaping Command.Run) -> Command.Run {
    { arguments, console in
      try Connection.stoppingAll(when: { isRequested }) {
        try runWatched(run, arguments, console)
      }
    }
  }

  private static func runWatched(
    _ run: Command.Run, _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    guard endsWithCommand.load(ordering: .relaxed) else {
      return try watching { try run(arguments, console) }
    }
    isWatching.store(true, ordering: .relaxed)
    _ = watch()
    return try run(arguments, console)
  }

  /// Has a signal that comes after all was done, and before the process has ended, pass: it would make
  /// what was done look cancelled. To be called before a command by a process that ends with it.
  package static func watchToTheEnd() { endsWithCommand.store(true, ordering: .relaxed) }

  /// - Throws: ``CoreDataError`` of kind cancelled where it is requested.
  static func check() throws {
    guard isRequested else { return }
    throw CoreDataError(
      .cancelled, code: .migrationCancelled, "cancelled",
      hint: "The store is unchanged.")
  }
}

extension Interruption {
  private static let isRemoving = Atomic<Bool>(false)
  /// Whether a signal is about to end this process.
  private static let isEnding = Atomic<Bool>(false)

  /// Does not return where a signal is about to end this process: what fails since its copies are gone is
  /// no failure to be reported.
  package static func waitForEnd() {
    while isEnding.load(ordering: .relaxed) { pause() }
  }

  /// The same as ``removingCopies(_:)`` for a whole command, in a process that ends with it.
  package static func removingCopiesToTheEnd<T>(_ body: () throws -> T) rethrows -> T {
    guard endsWithCommand.load(ordering: .relaxed) else { return try body() }
    return try removingCopies(body)
  }

  /// Has another thread remove what is unfinished, and waits for the end there.
  private static let remover: @Sendable @convention(c) (Int32) -> Void = { number in
    // What it interrupts may be about to ask why a call failed.
    let reason = errno
    var byte = UInt8(truncatingIfNeeded: number)
    if write(removalEnd, &byte, 1) == 1 {
      isEnding.store(true, ordering: .relaxed)
      if number == SIGPIPE {
        // As without a handler: nothing comes after the write that nobody reads. The signal that ends the
        // process is this one, which is kept out during its handler.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        while true { pause() }
      }
    }
    errno = reason
  }

  /// Has whatever ends this process during `body` leave no private copy and no unfinished output behind: ^C,
  /// a hang-up, a reader of its output that went away. Within another such body it adds nothing.
  package static func removingCopies<T>(_ body: () throws -> T) rethrows -> T {
    guard !isRemoving.exchange(true, ordering: .relaxed) else { return try body() }
    defer { isRemoving.store(false, ordering: .relaxed) }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return try body() }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    removalEnd = ends[1]
    // The first use makes the flag, which must not happen inside a signal handler.
    isEnding.store(false, ordering: .relaxed)
    let reader = ends[0]
    Processors.begin {
      var number: UInt8 = 0
      let count = read(reader, &number, 1)
      close(reader)
      guard count == 1, number > 0 else { return }
      // What is being written just now may have to be removed once more.
      var tries = 0
      while ![PrivateFolder.removeOwn(), PendingOutput.removeOwn()].allSatisfy({ $0 }),
        tries < 100
      {
        tries += 1
        usleep(10_000)
      }
      TerminalPassword.restoreTerminal()
      signal(Int32(number), SIG_DFL)
      kill(getpid(), Int32(number))
    }
    let previous = [SIGINT, SIGTERM, SIGHUP, SIGPIPE].map { ($0, signal($0, remover)) }
    // What nohup or a shell has this process ignore stays ignored. SIG_IGN is the address 1.
    for (number, action) in previous where unsafeBitCast(action, to: Int.self) == 1 {
      signal(number, SIG_IGN)
    }
    defer {
      if !endsWithCommand.load(ordering: .relaxed) {
        for (number, action) in previous { signal(number, action) }
      }
      // Its reader ends.
      removalEnd = -1
      close(ends[1])
    }
    return try body()
  }
}

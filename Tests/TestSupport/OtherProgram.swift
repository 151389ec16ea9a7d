#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that runs beside a test, with its input and output at /dev/null.
public final class OtherProgram {
  private let process: pid_t
  private var isRunning = true

  public init(_ path: String, _ arguments: [String]) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in 0...2 as ClosedRange<Int32> {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var process: pid_t = 0
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    guard posix_spawn(&process, path, &actions, nil, &words, environ) == 0 else {
      throw FixtureError.missing(path)
    }
    self.process = process
  }

  /// Waits, five seconds at most, until something that the program does can be seen.
  public func wait(until isDone: () -> Bool) throws {
    for _ in 0..<500 {
      if isDone() { return }
      usleep(10_000)
    }
    throw FixtureError.missing("what the other program should have done")
  }

  public func kill() {
    guard isRunning else { return }
    isRunning = false
    #if canImport(Darwin)
      Darwin.kill(process, SIGKILL)
    #else
      Glibc.kill(process, SIGKILL)
    #endif
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  /// Runs a program to its end.
  ///
  /// - Returns: its status; -1 where it could not be started.
  public static func run(_ path: String, _ arguments: [String]) -> Int32 {
    guard let program = try? OtherProgram(path, arguments) else { return -1 }
    program.isRunning = false
    var status: Int32 = 0
    waitpid(program.process, &status, 0)
    return status
  }

  deinit { kill() }
}

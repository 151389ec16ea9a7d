import Files

/// A program that runs beside a test, with its input and output at /dev/null.
public final class OtherProgram {
  private let process: pid_t
  private var isRunning = true

  public init(_ path: String, _ arguments: [String]) throws {
    let start = ProgramStart()
    start.silence()
    // What it started ends with it.
    start.leadGroup()
    guard let process = start.start(path, arguments) else { throw FixtureError.missing(path) }
    self.process = process
  }

  /// Waits until something that the program does can be seen.
  public func wait(until isDone: () -> Bool) throws {
    if Patience.wait(until: isDone) { return }
    throw FixtureError.missing("what the other program should have done")
  }

  /// Waits until it ends, some minutes at most: its exit status, or `nil` where it had to be killed.
  public func exitStatus(within seconds: Int) -> Int32? {
    var status: Int32 = 0
    for _ in 0..<(seconds * 20) {
      if waitpid(process, &status, WNOHANG) == process {
        isRunning = false
        return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
      }
      usleep(50_000)
    }
    kill()
    return nil
  }

  public func kill() {
    guard isRunning else { return }
    isRunning = false
    #if canImport(Darwin)
      Darwin.kill(-process, SIGKILL)
    #else
      Glibc.kill(-process, SIGKILL)
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

/// Files that a test makes and then starts.
///
/// A process of its own writes them. A file that this process has open for writing is open in every
/// child, too, that another thread forks at that moment, and until that child runs its own program
/// the file cannot be started: "Text file busy".
extension OtherProgram {
  /// Copies a program to where any user may start it.
  public static func copy(_ program: String, to path: String) throws {
    guard run("/bin/cp", ["-f", program, path]) == 0, chmod(path, 0o755) == 0 else {
      throw FixtureError.missing(path)
    }
  }

  /// Writes a script that is started by its name.
  public static func write(script: String, to path: String) throws {
    let command = "printf %s \"$1\" > \"$2\""
    guard run("/bin/sh", ["-c", command, "sh", script, path]) == 0, chmod(path, 0o755) == 0 else {
      throw FixtureError.missing(path)
    }
  }
}

import Values

/// Runs another program without a shell and reads what it prints as it prints it.
///
/// Its input comes from a file and its messages go to one, so that neither side can wait for the
/// other over a full pipe.
package enum Subprocess {
  /// How it ended.
  package struct Result {
    /// Its exit status; the signal that ended it, and 128, where one did.
    package var status: Int32
    /// The beginning of what it wrote to standard error.
    package var message: String
  }

  /// - Parameters:
  ///   - program: a name that is looked for in PATH, or a path.
  ///   - environment: the whole environment, as `NAME=value`.
  ///   - output: called with each piece; what it throws ends the program.
  /// - Returns: `nil` where there is no such program.
  /// - Throws: `CancellationError` where the task that it is called in is cancelled.
  package static func run(
    _ program: String, _ arguments: [String], environment: [String], input: [UInt8] = [],
    output: (ArraySlice<UInt8>) throws -> Void
  ) throws -> Result? {
    let folder = try PrivateFolder()
    defer { withExtendedLifetime(folder) {} }
    let (inputPath, messagePath) = (folder.path + "/input", folder.path + "/message")
    try FileSystem.create(inputPath, holding: input)

    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw CoreDataError(.failed, "cannot make a pipe") }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let start = ProgramStart()
    start.open(inputPath, as: 0, O_RDONLY)
    start.duplicate(ends[1], as: 1)
    start.open(messagePath, as: 2, O_WRONLY | O_CREAT)
    let started = start.start(program, arguments, environment: environment)
    close(ends[1])
    guard let process = started else { return nil }

    do {
      try drain(ends[0], output)
    } catch {
      kill(process, SIGKILL)
      _ = ProgramStart.wait(for: process)
      throw error
    }
    let status = ProgramStart.wait(for: process)
    // Older C libraries find out only in the child that the program is not there.
    if status == 127 { return nil }
    let message = (try? FileSystem.read(messagePath, limit: 4096)) ?? []
    return Result(status: status, message: String(decoding: message, as: UTF8.self))
  }

  private static func drain(_ end: Int32, _ output: (ArraySlice<UInt8>) throws -> Void) throws {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      // A program that prints nothing for long is to stop too when its task is.
      var waiting = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, 100)
      try Task.checkCancellation()
      if ready == 0 || ready < 0 && errno == EINTR { continue }
      let got = read(end, &buffer, buffer.count)
      if got < 0 && errno == EINTR { continue }
      guard got > 0 else { return }
      try output(buffer[..<got])
    }
  }

  /// This process's environment, as `NAME=value`.
  package static func environment() -> [String] {
    var result: [String] = []
    var next = environ
    while let text = next.pointee {
      result.append(String(cString: text))
      next += 1
    }
    return result
  }
}

extension Subprocess {
  /// Runs a program without a shell in the terminal that this one is in, and waits until it ends.
  ///
  /// Where it is stopped, as by ^Z, this program stops with it.
  ///
  /// - Returns: its exit status, or the signal that ended it and 128; `nil` where there is no such program.
  package static func runInTerminal(_ program: String, _ arguments: [String]) -> Int32? {
    // Keys that interrupt are meant for the program.
    let keys = [SIGINT, SIGQUIT]
    var ignoring = sigaction()
    var former = keys.map { _ in sigaction() }
    #if canImport(Darwin)
      ignoring.__sigaction_u.__sa_handler = SIG_IGN
    #else
      ignoring.__sigaction_handler.sa_handler = SIG_IGN
    #endif
    for (index, number) in keys.enumerated() { sigaction(number, &ignoring, &former[index]) }
    defer { for (index, number) in keys.enumerated() { sigaction(number, &former[index], nil) } }
    let start = ProgramStart()
    start.restore(keys + [SIGPIPE])
    guard let process = start.start(program, arguments) else { return nil }
    while true {
      var status: Int32 = 0
      let found = waitpid(process, &status, WUNTRACED)
      if found < 0 && errno == EINTR { continue }
      guard found == process else { return 127 }
      // WIFSTOPPED is a macro.
      if status & 0xFF == 0x7F {
        raise(SIGSTOP)
        kill(process, SIGCONT)
        continue
      }
      let exit = ProgramStart.exitStatus(status)
      // Older C libraries find out only in the child that the program is not there.
      return exit == 127 ? nil : exit
    }
  }
}

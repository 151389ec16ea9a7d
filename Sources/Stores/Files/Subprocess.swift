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
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, messagePath, O_WRONLY | O_CREAT, 0o600)
    var process: pid_t = 0
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    let failure = posix_spawnp(&process, program, &actions, nil, &words, &variables)
    close(ends[1])
    guard failure == 0 else { return nil }

    do {
      try drain(ends[0], output)
    } catch {
      kill(process, SIGKILL)
      _ = wait(for: process)
      throw error
    }
    let status = wait(for: process)
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

  private static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    // WIFEXITED and WEXITSTATUS are macros.
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
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
    var process: pid_t = 0
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for text in words { free(text) } }
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
    #else
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What is ignored here is not to be ignored there. Keys that interrupt are meant for the program.
    let keys = [SIGINT, SIGQUIT]
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in keys + [SIGPIPE] { sigaddset(&signals, number) }
    var ignoring = sigaction()
    var former = keys.map { _ in sigaction() }
    #if canImport(Darwin)
      ignoring.__sigaction_u.__sa_handler = SIG_IGN
    #else
      ignoring.__sigaction_handler.sa_handler = SIG_IGN
    #endif
    for (index, number) in keys.enumerated() { sigaction(number, &ignoring, &former[index]) }
    defer { for (index, number) in keys.enumerated() { sigaction(number, &former[index], nil) } }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    guard posix_spawnp(&process, program, nil, &attributes, &words, environ) == 0 else {
      return nil
    }
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
      let exit = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
      // Older C libraries find out only in the child that the program is not there.
      return exit == 127 ? nil : exit
    }
  }
}

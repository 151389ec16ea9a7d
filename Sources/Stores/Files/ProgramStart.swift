/// How another program is started, without a shell: its descriptors, its group, its signals and its environment.
package final class ProgramStart {
  #if canImport(Darwin)
    private var actions: posix_spawn_file_actions_t?
    private var attributes: posix_spawnattr_t?
  #else
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()
  #endif
  private var flags: Int32 = 0

  package init() {
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
  }

  deinit {
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }

  /// Opens a file for the program, which is made where `flags` ask for it.
  package func open(_ path: String, as descriptor: Int32, _ flags: Int32) {
    posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0o600)
  }

  /// Gives the program a descriptor of this one, or one of its own once more.
  package func duplicate(_ descriptor: Int32, as other: Int32) {
    posix_spawn_file_actions_adddup2(&actions, descriptor, other)
  }

  /// Reads from and writes to nothing.
  package func silence() {
    for descriptor in 0...2 as ClosedRange<Int32> { open("/dev/null", as: descriptor, O_RDWR) }
  }

  /// Makes a group of its own, so that what it starts can end with it.
  package func leadGroup() {
    flags |= Int32(POSIX_SPAWN_SETPGROUP)
    posix_spawnattr_setpgroup(&attributes, 0)
  }

  /// Makes a session of its own: the first terminal that it opens becomes its own.
  package func leadSession() {
    #if canImport(Darwin)
      flags |= Int32(POSIX_SPAWN_SETSID)
    #else
      // Behind a macro that Swift does not set.
      flags |= 0x80
    #endif
  }

  /// Keeps no signal out: the thread that starts the program may, and the program would, too.
  package func admitSignals() {
    var none = sigset_t()
    sigemptyset(&none)
    flags |= Int32(POSIX_SPAWN_SETSIGMASK)
    posix_spawnattr_setsigmask(&attributes, &none)
  }

  /// Lets signals do what they do by default: what is ignored here would be ignored there.
  package func restore(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for number in signals { sigaddset(&set, number) }
    flags |= Int32(POSIX_SPAWN_SETSIGDEF)
    posix_spawnattr_setsigdefault(&attributes, &set)
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - program: a name that is looked for in PATH, or a path.
  ///   - environment: the whole environment, as `NAME=value`; `nil` for this process's own.
  /// - Returns: the process; `nil` where there is no such program.
  package func start(
    _ program: String, _ arguments: [String], environment: [String]? = nil
  ) -> pid_t? {
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = (environment ?? []).map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
    var process: pid_t = 0
    let failure =
      environment == nil
      ? posix_spawnp(&process, program, &actions, &attributes, &words, environ)
      : posix_spawnp(&process, program, &actions, &attributes, &words, &variables)
    return failure == 0 ? process : nil
  }

  /// The exit status in what `waitpid` returned: 128 plus the signal if a signal ended the program.
  package static func exitStatus(_ status: Int32) -> Int32 {
    // WIFEXITED and WEXITSTATUS are macros.
    status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Waits for the end of a process: its exit status.
  package static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return exitStatus(status)
  }
}

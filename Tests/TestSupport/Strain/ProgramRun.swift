import Files

#if os(Linux)
  import Glibc
  import ManagedStore

  /// A program that has run to its end: its status, and all it printed.
  public struct ProgramRun: Sendable {
    /// 128 and the signal's number where a signal ended it.
    public var status: Int32
    /// Both streams.
    public var text: String
    /// The largest memory it held.
    public var peakBytes: Int

    /// - Parameters:
    ///   - environment: the variables it gets besides PATH; there are no others.
    ///   - file: where its output goes; replaced.
    ///   - seconds: after which it is killed, and its status is that of SIGALRM.
    public init(
      _ words: [String], environment: [String: String], output file: String, seconds: Double = 60
    ) throws {
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      posix_spawn_file_actions_adddup2(&actions, 1, 2)
      // Tests run on threads that keep signals out, and what they start would keep them out too.
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var none = sigset_t()
      sigemptyset(&none)
      posix_spawnattr_setsigmask(&attributes, &none)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
      var variables = environment
      variables["PATH"] = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
      var arguments = words.map { strdup($0) } + [nil]
      var settings = variables.map { strdup($0.key + "=" + $0.value) } + [nil]
      defer { for pointer in arguments + settings { free(pointer) } }
      var process: pid_t = 0
      guard let first = words.first,
        posix_spawnp(&process, first, &actions, &attributes, &arguments, &settings) == 0
      else { throw FixtureError.missing(words.first ?? "a program") }
      let end = Fuzzing.now() + seconds
      var result: Int32 = 0
      var isOver = false
      var usage = rusage()
      while wait4(process, &result, WNOHANG, &usage) == 0 {
        if Fuzzing.now() > end, !isOver {
          isOver = true
          kill(process, SIGKILL)
        }
        usleep(1000)
      }
      let signal = isOver ? SIGALRM : result & 0x7F
      status = signal == 0 ? (result >> 8) & 0xFF : 128 + signal
      peakBytes = usage.ru_maxrss << 10
      text = String(decoding: try FileSystem.read(file), as: UTF8.self)
    }
  }
#endif

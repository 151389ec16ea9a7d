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
      let start = ProgramStart()
      start.open("/dev/null", as: 0, O_RDONLY)
      start.open(file, as: 1, O_WRONLY | O_CREAT | O_TRUNC)
      start.duplicate(1, as: 2)
      start.admitSignals()
      var variables = environment
      variables["PATH"] = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
      guard let first = words.first,
        let process = start.start(
          first, Array(words.dropFirst()), environment: variables.map { $0.key + "=" + $0.value })
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
      status = isOver ? 128 + SIGALRM : ProgramStart.exitStatus(result)
      peakBytes = usage.ru_maxrss << 10
      text = String(decoding: try FileSystem.read(file), as: UTF8.self)
    }
  }
#endif

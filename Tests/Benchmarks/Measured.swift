import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program run once, with its time and the largest memory it held.
struct Measured {
  var seconds: Double
  var peakBytes: Int
  /// As the shell says it: 128 and the signal's number where one ended it.
  var status: Int32
  /// Seconds that it kept processors busy, its own and the system's work for it.
  var processorSeconds = 0.0

  /// Runs a program with its output at /dev/null.
  static func run(_ path: String, _ arguments: [String]) -> Measured {
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
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let start = Fuzzing.now()
    guard posix_spawnp(&process, path, &actions, nil, &words, environ) == 0 else {
      return Measured(seconds: .infinity, peakBytes: 0, status: -1)
    }
    var status: Int32 = 0
    var usage = rusage()
    wait4(process, &status, 0, &usage)
    #if canImport(Darwin)
      let peak = usage.ru_maxrss
    #else
      let peak = usage.ru_maxrss * 1024
    #endif
    let busy = [usage.ru_utime, usage.ru_stime].reduce(0) { sum, time in
      sum + Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
    return Measured(
      seconds: Fuzzing.now() - start, peakBytes: peak,
      status: status & 0x7F == 0 ? status >> 8 : 128 + (status & 0x7F), processorSeconds: busy)
  }

  /// The fastest of several runs: the one the rest of the machine disturbed least.
  static func best(of count: Int, _ path: String, _ arguments: [String]) -> Measured {
    var best = run(path, arguments)
    for _ in 1..<max(count, 2) {
      let next = run(path, arguments)
      let peak = max(best.peakBytes, next.peakBytes)
      if next.seconds < best.seconds { best = next }
      best.peakBytes = peak
    }
    return best
  }
}

/// Seconds that `body` takes, at best of several times.
func seconds(of count: Int, _ body: () throws -> Void) rethrows -> Double {
  var best = Double.infinity
  for _ in 0..<count {
    let start = Fuzzing.now()
    try body()
    best = min(best, Fuzzing.now() - start)
  }
  return best
}

func milliseconds(_ seconds: Double) -> String { "\((seconds * 10_000).rounded() / 10) ms" }
func megabytes(_ bytes: Int) -> String { "\(bytes >> 20) MB" }
func ratio(_ a: Double, _ b: Double) -> String { "\((a / b * 100).rounded() / 100) times" }

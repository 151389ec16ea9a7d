import Files
import TestSupport

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
    let program = ProgramStart()
    program.silence()
    let start = Fuzzing.now()
    guard let process = program.start(path, arguments) else {
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
      status: ProgramStart.exitStatus(status), processorSeconds: busy)
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

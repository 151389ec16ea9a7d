import Files
import ManagedStore
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Small stores with mutated pages, logs and journals, thousands after each other in one process.
///
///     TMPDIR=/dev/shm Benchmarks fuzz-pages 200000 [SEED]
///     Benchmarks fuzz-pages INPUT
///
/// The input that is being read is kept in a file until the next one: one that traps or never ends can be read again.
enum PageFuzzing {
  /// Seconds for an input before the process is ended by a signal.
  private static let patience: UInt32 = 120
  private static let most = 64 << 20

  static func run(_ words: [String]) throws {
    let folder = try TemporaryFolder()
    var target = try SalvageFuzzing.target(in: folder)
    if let path = words.first, Int(path) == nil {
      let before = Fuzzing.peakMemory
      let bytes = try FileSystem.read(path)
      let seconds = ProcessorTime.seconds {
        do { try target.read(bytes) } catch { print("ended with \(error)") }
      }
      print(
        "\(milliseconds(seconds)), peak \(megabytes(Fuzzing.peakMemory)) (\(megabytes(before)) before)"
      )
      return
    }
    let current = folder.path("input")
    let (largest, slowest) = (folder.path + ".largest", folder.path + ".slowest")
    print("the input that is being read: \(current)")
    let read = target.read
    target.read = { bytes in
      try FileSystem.write(bytes, to: current)
      let before = Fuzzing.peakMemory
      alarm(patience)
      defer {
        alarm(0)
        if before <= most, Fuzzing.peakMemory > most {
          try? FileSystem.write(bytes, to: largest)
          print("an input took more than 64 MB: \(largest)")
        }
      }
      try read(bytes)
    }
    let count = words.first.flatMap { Int($0) } ?? 200_000
    let seed = words.dropFirst().first.flatMap { UInt64($0) } ?? 1
    let start = Fuzzing.processorTime()
    let result = Fuzzing.run(target, count: count, seed: seed)
    let peak = Fuzzing.peakMemory
    try FileSystem.write(result.slowestInput, to: slowest)
    print(
      "\(result.inputs) stores of mutated pages, logs and journals, \(result.accepted) without an error, in \(milliseconds(Fuzzing.processorTime() - start)) of processor time, slowest \(milliseconds(result.slowest)) (\(slowest)), peak \(megabytes(peak)), no trap"
    )
    guard result.slowest < 20, peak <= most else {
      throw CoreDataError(.failed, "an input took 20 s, or more than 64 MB")
    }
  }
}

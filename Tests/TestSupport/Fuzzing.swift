import ManagedModel
import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Feeds readers damaged input; what they answer does not matter, only that they answer.
public struct Fuzzing {
  /// A reader of bytes, and well-formed input to damage.
  public struct Target: Sendable {
    public var name: String
    public var corpus: [[UInt8]]
    /// What damages its input as only its format can be; most inputs are made by it.
    var mutate: Mutation?
    public var read: @Sendable ([UInt8]) throws -> Void

    public init(
      _ name: String, corpus: [[UInt8]], mutating mutate: Mutation? = nil,
      _ read: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
      self.name = name
      self.corpus = corpus
      self.mutate = mutate
      self.read = read
    }
  }

  /// Makes a damaged input of a sound one.
  public typealias Mutation = @Sendable ([UInt8], inout SeededGenerator) -> [UInt8]

  public struct Result: Sendable {
    public var inputs = 0
    /// Inputs that were read as if nothing were wrong with them.
    public var accepted = 0
    /// Seconds of processor time of the slowest input: a busy machine does not change it much.
    public var slowest = 0.0
    public var slowestInput: [UInt8] = []
  }

  /// Runs `count` damaged inputs through a target.
  ///
  /// Most are mutations of the corpus; some are cut off, spliced from two, or noise.
  public static func run(_ target: Target, count: Int, seed: UInt64) -> Result {
    var generator = SeededGenerator(seed: seed)
    var result = Result()
    for _ in 0..<count {
      let input = damaged(target, using: &generator)
      let seconds = ProcessorTime.seconds {
        do {
          try target.read(input)
          result.accepted += 1
        } catch {}
      }
      if seconds > result.slowest { (result.slowest, result.slowestInput) = (seconds, input) }
      result.inputs += 1
    }
    // What took long once may have been held up by another.
    if result.slowest > 0.5 {
      let input = result.slowestInput
      result.slowest = ProcessorTime.seconds(limit: 0.5) { try? target.read(input) }
    }
    return result
  }

  private static func damaged(
    _ target: Target, using generator: inout SeededGenerator
  ) -> [UInt8] {
    let corpus = target.corpus
    if let mutate = target.mutate, Int.random(in: 0..<20, using: &generator) > 0 {
      return mutate(corpus.randomElement(using: &generator) ?? [], &generator)
    }
    let one = corpus.randomElement(using: &generator) ?? []
    switch Int.random(in: 0..<20, using: &generator) {
    case 0: return Array(one.prefix(Int.random(in: 0...one.count, using: &generator)))
    case 1:
      let other = corpus.randomElement(using: &generator) ?? []
      let cut = Int.random(in: 0...min(one.count, other.count), using: &generator)
      return Array(one.prefix(cut) + other.dropFirst(cut))
    case 2:
      return (0..<Int.random(in: 0...300, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
    default:
      var bytes = generator.mutated(one)
      for _ in 0..<Int.random(in: 0...3, using: &generator) { bytes = generator.mutated(bytes) }
      return bytes
    }
  }

  /// Largest resident size of this process so far, in bytes.
  public static var peakMemory: Int {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #else
      // RUSAGE_SELF is an enumerator that Swift imports as a type of its own; it is 0.
      getrusage(0, &usage)
      return usage.ru_maxrss * 1024
    #endif
  }

  /// Seconds of a clock that never goes back.
  public static func now() -> Double { seconds(of: CLOCK_MONOTONIC) }

  /// Seconds of processor time that this thread has used.
  public static func processorTime() -> Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

  private static func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

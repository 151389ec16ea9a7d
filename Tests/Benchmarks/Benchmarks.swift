import ManagedStore
import TestSupport

/// What is too slow or too noisy for a test.
///
///     swift build -c release && swift run -c release Benchmarks read
///     swift run -c release Benchmarks migrate
///     swift run -c release Benchmarks plan 1000000 [STORE…]
///     swift run -c release Benchmarks large 30000000
///     swift run -c release Benchmarks policies
///     swift run -c release Benchmarks salvage
///     swift run -c release Benchmarks fleet 1000
///     swift run -c release Benchmarks seed 1000000 [MODEL…]
///     swift run -c release Benchmarks interface
///     swift run -c release Benchmarks fuzz 1000000
///     swift run -c release Benchmarks fuzz-pages 200000
///     swift run -c release Benchmarks fuzz-containers 100000
///     swift run -c release Benchmarks fuzz-backups 100000
///     swift run -c release Benchmarks fuzz-atomic 100000
///     swift run -c release Benchmarks source
///     swift run -c release Benchmarks matrix
///     swift run -c release Benchmarks walk 1200
///     swift build && swift run Benchmarks strain
@main
struct Benchmarks {
  static func main() throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch words.first {
    case "fuzz":
      try fuzz(
        inputs: words.dropFirst().first.flatMap { Int($0) } ?? 1_000_000,
        seed: words.dropFirst(2).first.flatMap { UInt64($0) } ?? .random(in: 1...1_000_000))
    case "read":
      try ReadingBenchmark.run(
        strata: Built.strata, objects: words.dropFirst().first.flatMap { Int($0) } ?? 2_900_000,
        rows: words.dropFirst(2).first.flatMap { Int($0) } ?? 5_000_000)
    case "migrate":
      try MigrationBenchmark.run(
        strata: Built.strata, objects: words.dropFirst().first.flatMap { Int($0) } ?? 2_700_000)
    case "plan":
      try PlanBenchmark.run(
        strata: Built.strata, objects: words.dropFirst().first.flatMap { Int($0) } ?? 1_000_000,
        stores: Array(words.dropFirst(2)))
    case "large":
      try LargeBenchmark.run(
        strata: Built.strata, objects: words.dropFirst().first.flatMap { Int($0) } ?? 30_000_000)
    case "policies":
      try PolicyBenchmark.run(
        strata: Built.strata, objects: words.dropFirst().first.flatMap { Int($0) } ?? 1_300_000)
    case "salvage" where words.count == 3:
      try SalvageBenchmark.salvage(words[1], to: words[2])
    case "salvage":
      try SalvageBenchmark.run(
        strata: Built.strata, objects: words.dropFirst().first.flatMap { Int($0) } ?? 1_300_000)
    case "fleet":
      try FleetBenchmark.run(
        strata: Built.strata, stores: words.dropFirst().first.flatMap { Int($0) } ?? 1000,
        rounds: words.dropFirst(2).first.flatMap { Int($0) } ?? 3)
    case "fuzz-pages": try PageFuzzing.run(Array(words.dropFirst()))
    case "fuzz-containers":
      try fuzz("mutated archives", words) { [try ContainerFuzzing.target(in: $0)] }
    case "fuzz-atomic":
      try fuzz("mutated XML and binary stores", words) { [try AtomicFuzzing.target(in: $0)] }
    case "fuzz-backups":
      try fuzz("encrypted backups with a mutated part", words) { try BackupFuzzing.targets(in: $0) }
    case "source":
      SourceBenchmark.run(
        lines: words.dropFirst().first.flatMap { Int($0) } ?? 20_000,
        inputs: words.dropFirst(2).first.flatMap { Int($0) } ?? 100_000)
    case "matrix":
      try MatrixBenchmark.run(
        strata: Built.strata, versions: words.dropFirst().first.flatMap { Int($0) } ?? 117,
        entities: words.dropFirst(2).first.flatMap { Int($0) } ?? 60)
    case "walk":
      try WalkBenchmark.run(entities: words.dropFirst().first.flatMap { Int($0) } ?? 1200)
    case "seed":
      try SeedBenchmark.run(
        strata: Built.strata, objects: words.dropFirst().first.flatMap { Int($0) } ?? 1_000_000,
        models: Array(words.dropFirst(2)))
    case "interface":
      try InterfaceBenchmark.run(
        strata: words.dropFirst(2).first ?? Built.strata,
        objects: words.dropFirst().first.flatMap { Int($0) } ?? 1_000_000)
    #if os(Linux)
      case "strain": try StrainBenchmark.run(Array(words.dropFirst()))
    #endif
    default:
      print(
        "usage: Benchmarks fuzz [INPUTS] [SEED] | fuzz-pages [INPUTS|FILE] [SEED] | fuzz-containers [INPUTS] [SEED] | fuzz-backups [INPUTS] [SEED] | fuzz-atomic [INPUTS] [SEED] | read [OBJECTS] [ROWS] | migrate [OBJECTS] | plan [OBJECTS] [STORE…] | large [OBJECTS] | policies [OBJECTS] | salvage [OBJECTS|STORE OUTPUT] | fleet [STORES] [ROUNDS] | source [LINES] [INPUTS] | matrix [VERSIONS] [ENTITIES] "
          + "| seed [OBJECTS] [MODEL…] | interface [OBJECTS] [STRATA] | strain [STEP] [WORK…]")
    }
  }

  /// Feeds readers, each with its share of the inputs.
  ///
  /// - Parameter words: the command, and how many inputs of which seed.
  private static func fuzz(
    _ inputs: String, _ words: [String], of targets: (TemporaryFolder) throws -> [Fuzzing.Target]
  ) throws {
    let folder = try TemporaryFolder()
    let count = words.dropFirst().first.flatMap { Int($0) } ?? 100_000
    let seed = words.dropFirst(2).first.flatMap { UInt64($0) } ?? 1
    // Some targets know its path alone.
    let slowest = try withExtendedLifetime(folder) {
      let targets = try targets(folder)
      return targets.map { target in
        let result = Fuzzing.run(target, count: count / targets.count, seed: seed)
        print(
          "\(result.inputs) \(inputs), \(target.name): \(result.accepted) read, slowest \((result.slowest * 10000).rounded() / 10) ms, peak \(Fuzzing.peakMemory >> 20) MB, no trap"
        )
        return result.slowest
      }.max()
    }
    guard let slowest, slowest < 1, Fuzzing.peakMemory <= 64 << 20 else {
      throw CoreDataError(.failed, "an input took a second, or more than 64 MB")
    }
  }

  private static func fuzz(inputs: Int, seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let targets = try Fuzzing.targets(in: folder)
    print("seed \(seed), \(inputs) inputs")
    var total = 0
    for target in targets {
      // Stores are files: a twentieth of the share of what is read from memory.
      let share =
        target.name == "store" ? inputs / targets.count / 20 : inputs / (targets.count - 1)
      let result = Fuzzing.run(target, count: share + 1, seed: seed)
      total += result.inputs
      print(
        "\(target.name): \(result.inputs) inputs, \(result.accepted) accepted, slowest \((result.slowest * 10000).rounded() / 10) ms, peak \(Fuzzing.peakMemory >> 20) MB"
      )
    }
    print("\(total) inputs, no trap")
  }
}

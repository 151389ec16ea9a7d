import Files
import ManagedModel
import TestSupport

/// Many small stores: two at a time beside one at a time, and the memory that many take beside few.
struct FleetBenchmark {
  private let strata: String
  private let folder: TemporaryFolder
  private var bundle: String { folder.path("demo/Recipes.xcdatamodeld@Recipes 2") }

  /// - Parameters:
  ///   - stores: how many, of about 1 MB each and as much external data.
  ///   - rounds: how often each is measured, in turns; the median counts.
  static func run(strata: String, stores: Int, rounds: Int) throws {
    let benchmark = FleetBenchmark(strata: strata, folder: try TemporaryFolder())
    let demo = Measured.run(
      strata, ["demo", benchmark.folder.path("demo"), "--objects", "5600", "--no-open"])
    guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    let size = FileSystem.status(benchmark.folder.path("demo/Recipes.sqlite"))?.size ?? 0
    print("\(stores) stores of \(size / 1000) kB, median of \(rounds)")
    for command in ["migrate", "rehearse"] {
      try benchmark.compare(command, stores: stores, rounds: rounds)
    }
    try benchmark.processes(stores: stores)
  }

  private func compare(_ command: String, stores: Int, rounds: Int) throws {
    let few = try measure(command, stores: max(1, stores / 10), jobs: 2)
    var (one, two): ([Measured], [Measured]) = ([], [])
    for _ in 0..<rounds {
      one.append(try measure(command, stores: stores, jobs: 1))
      two.append(try measure(command, stores: stores, jobs: 2))
    }
    let (slow, fast) = (median(one.map(\.seconds)), median(two.map(\.seconds)))
    print(
      """
      \(command) FOLDER --jobs 2: \(milliseconds(fast)), \(ratio(slow, fast)) as fast as --jobs 1 \
      (\(milliseconds(slow)), \(milliseconds(slow / Double(stores))) a store)
        memory: \(Self.peak(two)), with a tenth of the stores \(Self.peak([few])), --jobs 1 \(Self.peak(one))
      """)
  }

  /// One process a store, two at a time, as a batch engine starts them.
  private func processes(stores: Int) throws {
    try makeFleet(of: stores)
    let script =
      "find '\(folder.path("fleet"))' -name '*.sqlite' -print0 | xargs -0 -n 1 -P 2 sh -c '\"$0\" migrate \"$2\" --to \"$1\"' '\(strata)' '\(bundle)'"
    let run = Measured.run("sh", ["-c", script])
    guard run.status == 0 else { throw CoreDataError(.failed, "xargs said \(run.status)") }
    print(
      "one process a store, xargs -P 2: \(milliseconds(run.seconds)), \(milliseconds(run.seconds / Double(stores))) a store, \(megabytes(run.peakBytes)) each at most"
    )
  }

  private func measure(_ command: String, stores: Int, jobs: Int) throws -> Measured {
    try makeFleet(of: stores)
    let run = Measured.run(
      strata, [command, folder.path("fleet"), "--to", bundle, "--jobs", "\(jobs)", "--json"])
    guard run.status == 0 else {
      throw CoreDataError(.failed, "\(command) --jobs \(jobs) said \(run.status)")
    }
    return run
  }

  /// The stores anew, each in a folder of its own with its external data.
  private func makeFleet(of count: Int) throws {
    FileSystem.removeTree(folder.path("fleet"))
    try FileSystem.makeDirectory(folder.path("fleet"))
    let external = ".Recipes_SUPPORT/_EXTERNAL_DATA"
    let names = try FileSystem.list(folder.path("demo/" + external))
    for number in 1...count {
      let place = folder.path("fleet/\(number)")
      for path in [place, place + "/.Recipes_SUPPORT", place + "/" + external] {
        try FileSystem.makeDirectory(path)
      }
      try FileSystem.copyOver(folder.path("demo/Recipes.sqlite"), to: place + "/Recipes.sqlite")
      // Nothing writes to these: a second name of each takes no room.
      for name in names.map({ external + "/" + $0 })
      where !FileSystem.link(folder.path("demo/" + name), to: place + "/" + name) {
        try FileSystem.copyOver(folder.path("demo/" + name), to: place + "/" + name)
      }
    }
  }

  private static func peak(_ runs: [Measured]) -> String {
    megabytes(runs.map(\.peakBytes).max() ?? 0)
  }
}

import Files
import ManagedModel
import ManagedStore
import TestSupport

/// Plans as a person waits for them: the first exact count on a terminal, and the processor time of small
/// stores, each beside sqlite3 counting the same tables.
enum PlanBenchmark {
  private static let rounds = 15

  /// - Parameter stores: further stores, each planned to the model of its own.
  static func run(strata: String, objects: Int, stores: [String]) throws {
    let folder = try TemporaryFolder()
    let large = try demo(strata, objects, in: folder)
    try compareFirstCount(strata, large.store, to: large.models)
    let small = try demo(strata, 5000, in: folder)
    try compareProcessor(strata, small.store, to: small.models)
    for store in stores { try compareProcessor(strata, store, to: store) }
  }

  private static func demo(
    _ strata: String, _ objects: Int, in folder: TemporaryFolder
  ) throws -> (store: String, models: String) {
    let place = folder.path("\(objects)")
    let run = Measured.run(strata, ["demo", place, "--objects", "\(objects)", "--no-open"])
    guard run.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    return (place + "/Recipes.sqlite", place + "/Recipes.xcdatamodeld")
  }

  /// sqlite3 counting the rows of every table of the model.
  private static func counting(_ path: String) throws -> [String] {
    let opened = try Store(path: path)
    let tables = Set(opened.entityTables.map(\.table)).union(opened.schema.joins.map(\.name))
      .filter(opened.database.contains)
    return [
      "file:\(path)?immutable=1",
      tables.sorted().map { "SELECT count(*) FROM \"\($0)\";" }.joined(separator: " "),
    ]
  }

  private static func compareFirstCount(_ strata: String, _ store: String, to models: String) throws
  {
    // Numbers that nothing else on the screen has.
    let counts = try Store(path: store).counts().values.filter { $0 > 10_000 }.map(String.init)
    let question = try counting(store)
    var (first, whole, peer) = ([Double](), [Double](), [Double]())
    for _ in 0..<rounds {
      let start = Fuzzing.now()
      guard
        let terminal = PseudoTerminal(
          [strata, "plan", store, "--to", models], width: 120, height: 50, environment: [:]),
        terminal.wait(until: { screen in
          let text = screen.text.filter { $0 != "," }
          return counts.contains { text.contains($0) }
        }) != nil
      else { throw CoreDataError(.failed, "strata plan showed no count") }
      first.append(Fuzzing.now() - start)
      guard terminal.wait(until: { $0.text.contains("can migrate") }) != nil else {
        throw CoreDataError(.failed, "strata plan came to no end")
      }
      whole.append(Fuzzing.now() - start)
      peer.append(Measured.run("sqlite3", question).seconds)
    }
    let (shown, done, counted) = (median(first), median(whole), median(peer))
    print(
      "plan of \(megabytes(FileSystem.status(store)?.size ?? 0)) on a terminal: the first exact count after \(milliseconds(shown)), \(ratio(shown, counted)) sqlite3’s count(*) of all tables (\(milliseconds(counted))), \(milliseconds(first.max() ?? 0)) at most; all of it after \(milliseconds(done))"
    )
  }

  private static func compareProcessor(_ strata: String, _ store: String, to models: String) throws
  {
    let question = try counting(store)
    var (plans, peers) = ([Double](), [Double]())
    for _ in 0..<rounds {
      plans.append(Measured.run(strata, ["plan", store, "--to", models]).processorSeconds)
      peers.append(Measured.run("sqlite3", question).processorSeconds)
    }
    let (plan, peer) = (median(plans), median(peers))
    print(
      "plan of \(FileSystem.name(of: store)), \((FileSystem.status(store)?.size ?? 0) >> 10) kB: \(milliseconds(plan)) of processor time, \(ratio(plan, peer)) sqlite3’s for count(*) of all tables (\(milliseconds(peer)))"
    )
  }
}

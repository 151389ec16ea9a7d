import Files
import ManagedModel
import ManagedStore
import TestSupport

/// Migrations as a person waits for them, from exec to exit, each beside its peer in the same round.
struct WholeCommands {
  /// A migration, and whether its peer is the same SQL typed into sqlite3; else it is a backup.
  struct Way {
    var what: String
    var arguments: [String]
    var isTyped: Bool
  }

  private static let rounds = 5

  let strata: String
  let store: String
  let folder: TemporaryFolder

  private var output: String { folder.path("whole.sqlite") }

  private func migrate(_ arguments: [String]) throws -> Measured {
    FileSystem.remove(output)
    FileSystem.removeTree(folder.path(".whole_SUPPORT"))
    let run = Measured.run(
      strata,
      ["migrate", store] + arguments + ["--output", output])
    guard run.status == 0 else { throw CoreDataError(.failed, "strata migrate failed") }
    return run
  }

  /// A result that stays.
  func result(of arguments: [String]) throws -> String {
    _ = try migrate(arguments)
    let path = folder.path("made.sqlite")
    try FileSystem.copyOver(output, to: path)
    return path
  }

  private func backup() -> Measured {
    let path = folder.path("backup")
    FileSystem.remove(path)
    return Measured.run("sqlite3", ["file:\(store)?immutable=1", ".backup '\(path)'"])
  }

  /// Runs all, one after the other, five times; prints medians.
  func compare(_ ways: [Way], typed: HandWritten) throws {
    var (times, peaks) = ([String: [Double]](), [String: Int]())
    var peers: [Bool: [Double]] = [:]
    for _ in 0..<Self.rounds {
      peers[false, default: []].append(backup().seconds)
      peers[true, default: []].append(try typed.run().seconds)
      for way in ways {
        let run = try migrate(way.arguments)
        times[way.what, default: []].append(run.seconds)
        peaks[way.what] = max(peaks[way.what] ?? 0, run.peakBytes)
      }
    }
    for way in ways {
      let (own, peer) = (median(times[way.what] ?? []), median(peers[way.isTyped] ?? []))
      print(
        "\(way.what), the whole command: \(milliseconds(own)), \(ratio(own, peer)) the \(milliseconds(peer)) of \(way.isTyped ? "the typed SQL" : ".backup"), \(megabytes(peaks[way.what] ?? 0)) at most"
      )
    }
  }

  /// A plan beside `SELECT count(*)` over the same tables.
  func comparePlan(_ arguments: [String]) throws {
    let opened = try Store(path: store)
    let tables = Set(opened.entityTables.map(\.table)).union(opened.schema.joins.map(\.name))
    let sql = tables.sorted().map { "SELECT count(*) FROM \($0);" }.joined(separator: " ")
    var (plans, counts, checks) = ([Double](), [Double](), [Double]())
    for _ in 0..<Self.rounds {
      plans.append(Measured.run(strata, ["plan", store] + arguments).seconds)
      counts.append(Measured.run("sqlite3", ["file:\(store)?immutable=1", sql]).seconds)
      checks.append(
        Measured.run("sqlite3", ["file:\(store)?immutable=1", "PRAGMA integrity_check"]).seconds)
    }
    let (plan, count, check) = (median(plans), median(counts), median(checks))
    print(
      "plan, the whole file checked: \(milliseconds(plan)), \(ratio(plan, count)) sqlite3’s count(*) of all tables (\(milliseconds(count))), \(ratio(plan, check)) its integrity_check (\(milliseconds(check)))"
    )
  }
}

/// The value in the middle.
func median(_ values: [Double]) -> Double {
  values.isEmpty ? .nan : values.sorted()[values.count / 2]
}

import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Random pairs of versions, odd stores, recipes and mapping models: everybody says the same of them.
@Suite("One verdict")
struct VerdictTests {
  /// Thirty, 2,000 with STRATA_TESTS=all, or as many as `STRATA_VERDICTS` says, from `STRATA_VERDICTS_FROM` on; only
  /// the one that `STRATA_SEED` names.
  static let seeds: [UInt64] = {
    if let one = number("STRATA_SEED") { return [one] }
    let count = UInt64(TestScale.count(30, ofAll: 2000, variable: "STRATA_VERDICTS"))
    let first = number("STRATA_VERDICTS_FROM") ?? 1
    let all = first..<first + count
    return Array(all) + formerFaults.filter { !all.contains($0) }
  }()

  /// Those of 20,000 that found a fault once.
  private static let formerFaults: [UInt64] = [
    6046, 6367, 6541, 7512, 10810, 11810, 12674, 12970, 16606, 16695,
  ]

  private static func number(_ variable: String) -> UInt64? {
    getenv(variable).flatMap { UInt64(String(cString: $0)) }
  }

  @Test("plan's verdict is migrate's status, its losses are what is missing, and explain agrees")
  func verdicts() throws { try run(Self.seeds, isRare: false) }

  /// Keys of the wrong entity, orders without positions, values in other entities' columns, columns that are
  /// missing, UTF-16, frames in the -wal.
  @Test("of rarer oddities, too")
  func rareVerdicts() throws {
    try run(Self.seeds.filter { $0 % 2 == 0 }, isRare: true)
  }

  private func run(_ seeds: [UInt64], isRare: Bool) throws {
    var outcomes: [String: Int] = [:]
    var found = 0
    for seed in seeds {
      let run = try VerdictRun(seed: seed, isRare: isRare)
      do {
        try run.run()
      } catch {
        Issue.record("\(error)\n\(run.description)")
      }
      outcomes[run.outcome, default: 0] += 1
      guard !run.failures.isEmpty else { continue }
      found += 1
      // The first tell enough.
      if found <= 20 {
        Issue.record("\(run.failures.joined(separator: "\n"))\n\(run.description)")
      }
    }
    #expect(found == 0, "\(found) of \(seeds.count)")
    print("verdicts: \(outcomes.sorted { $0.key < $1.key })")
    if seeds.count >= 200 {
      for outcome in ["done", "failing", "refused"] {
        #expect(outcomes[outcome] ?? 0 > seeds.count / 50)
      }
    }
  }
}

import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// Random models, random data, random changes: the engine against an oracle in memory.
@Suite("Generated pairs of versions")
struct GeneratedPairTests {
  static let strategies: [MigrationPlan.Strategy] = [.inPlace]

  /// Seeds that a fault of the engine fails, with its number in the list of them; a seed is to be
  /// taken out as soon as it passes.
  static let known: [UInt64: Int] = [
    10: 7, 27: 16, 45: 4, 56: 13, 83: 1, 94: 4, 132: 1, 147: 2, 167: 2, 198: 8,
  ]

  @Test(
    "a generated migration does what the rules say", arguments: GeneratedPair.seeds, strategies)
  func pair(seed: UInt64, strategy: MigrationPlan.Strategy) throws {
    if let bug = Self.known[seed] {
      withKnownIssue("bug \(bug)") { try Self.check(seed, strategy) }
    } else {
      try Self.check(seed, strategy)
    }
  }

  private static func check(_ seed: UInt64, _ strategy: MigrationPlan.Strategy) throws {
    let failures = try GeneratedRun.failures(of: GeneratedPair(seed: seed), strategy: strategy)
    guard !failures.isEmpty else { return }
    let (pair, left) = try Self.shrunk(seed, strategy)
    let comment = Comment(
      rawValue: """
        \((left.isEmpty ? failures : left).joined(separator: "\n"))
        \(strategy.rawValue), \(pair.description)
        """)
    Issue.record(comment)
  }

  /// The pair with the fewest edits that still fails.
  private static func shrunk(
    _ seed: UInt64, _ strategy: MigrationPlan.Strategy
  ) throws -> (GeneratedPair, [String]) {
    var left: Set<Int> = []
    var best = try GeneratedPair(seed: seed)
    var failures: [String] = []
    for index in 0..<best.count {
      let pair = try GeneratedPair(seed: seed, leavingOut: left.union([index]))
      let found = try GeneratedRun.failures(of: pair, strategy: strategy)
      if !found.isEmpty { (best, failures, left) = (pair, found, left.union([index])) }
    }
    return (best, failures)
  }
}

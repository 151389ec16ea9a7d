import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// Random models, random data, random changes: the engine against an oracle in memory.
@Suite("Generated pairs of versions")
struct GeneratedPairTests {
  @Test(
    "a generated migration does what the rules say", arguments: GeneratedPair.seeds, Way.allCases)
  func pair(seed: UInt64, way: Way) throws {
    try Self.check(seed, way)
  }

  private static func check(_ seed: UInt64, _ way: Way) throws {
    let failures = try GeneratedRun.failures(of: GeneratedPair(seed: seed), way: way)
    guard !failures.isEmpty else { return }
    let (pair, left) = try Self.shrunk(seed, way)
    let comment = Comment(
      rawValue: """
        \((left.isEmpty ? failures : left).joined(separator: "\n"))
        \(way.rawValue), \(pair.description)
        """)
    Issue.record(comment)
  }

  /// The pair with the fewest edits that still fails.
  private static func shrunk(
    _ seed: UInt64, _ way: Way
  ) throws -> (GeneratedPair, [String]) {
    var left: Set<Int> = []
    var best = try GeneratedPair(seed: seed)
    var failures: [String] = []
    for index in 0..<best.count {
      let pair = try GeneratedPair(seed: seed, leavingOut: left.union([index]))
      let found = try GeneratedRun.failures(of: pair, way: way)
      if !found.isEmpty { (best, failures, left) = (pair, found, left.union([index])) }
    }
    return (best, failures)
  }
}

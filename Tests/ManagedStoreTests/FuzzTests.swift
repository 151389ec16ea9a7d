import TestSupport
import Testing

@Suite("Damaged input")
struct FuzzTests {
  @Test("damaged inputs are answered, each within a second of processor time")
  func inputs() throws {
    let folder = try TemporaryFolder()
    let seed = UInt64.random(in: 1...1_000_000)
    print("fuzzing with seed \(seed)")
    for target in try Fuzzing.targets(in: folder) {
      let count =
        target.name == "store"
        ? TestScale.count(30, ofAll: 300) : TestScale.count(120, ofAll: 1300)
      let result = Fuzzing.run(target, count: count, seed: seed)
      #expect(result.slowest < 1, "\(target.name), seed \(seed)")
    }
  }
}

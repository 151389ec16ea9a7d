import TestSupport
import Testing

@Suite("Damaged input")
struct FuzzTests {
  @Test("twelve thousand damaged inputs are answered, each within a second of processor time")
  func inputs() throws {
    let folder = try TemporaryFolder()
    let seed = UInt64.random(in: 1...1_000_000)
    print("fuzzing with seed \(seed)")
    for target in try Fuzzing.targets(in: folder) {
      let result = Fuzzing.run(target, count: target.name == "store" ? 300 : 1300, seed: seed)
      #expect(result.slowest < 1, "\(target.name), seed \(seed)")
    }
  }
}

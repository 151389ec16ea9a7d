import Files
import Salvage
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue

@Suite("Pages that somebody made to harm")
struct HostilePageTests {
  @Test("any bytes in pages and logs end in rows or an error")
  func fuzzed() throws {
    let folder = try TemporaryFolder()
    let target = try SalvageFuzzing.target(in: folder)
    let count = TestScale.count(40, ofAll: 400)
    let result = Fuzzing.run(target, count: count, seed: 11)
    #expect(result.inputs == count)
    #expect(result.slowest < 20)
  }

  @Test("trees and chains in circles end")
  func circles() throws {
    let store = try DamagedDemo()
    let steps = try #require(store.roots["ZSTEP"])
    let amounts = try #require(store.roots["ZAMOUNT"])
    // An interior page whose last child is itself, and one whose child is the root of another table.
    try store.change { bytes in
      let start = (steps - 1) * 4096
      bytes.replaceSubrange(start + 8..<start + 12, with: [0, 0, 0, UInt8(steps)])
      let other = (amounts - 1) * 4096
      bytes.replaceSubrange(other + 8..<other + 12, with: [0, 0, 0, UInt8(steps)])
      // The list of free pages leads to itself.
      bytes.replaceSubrange(32..<40, with: [0, 0, 0, 9, 0, 0, 0, 1])
    }
    let report = try StoreSalvage.run(
      path: store.path, output: store.folder.path("Saved.sqlite"))
    let lines = Set(store.lines)
    #expect(try StoreDump.lines(at: store.folder.path("Saved.sqlite")).count > lines.count / 2)
    #expect(report.tables.contains { !$0.holes.isEmpty })
  }
}

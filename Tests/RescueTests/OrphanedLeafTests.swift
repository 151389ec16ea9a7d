import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

/// A leaf was written in the place of its table's root: without a pointer map nothing said that there were others.
@Suite("Leaves that nothing leads to, without a pointer map")
struct OrphanedLeafTests {
  @Test("a leaf in a root's place costs no row, and is told as a loss")
  func leafForRoot() throws {
    let demo = try DamagedDemo(objects: 2_000)
    let connection = try Connection(path: demo.path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    try connection.execute(
      "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM")
    let value = try connection.value(
      "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = 'ZSTEP'")
    connection.close()
    let root = Int(try #require(value?.integer))
    #expect(try SalvageSource(path: demo.path).trees.holes.isEmpty)
    let leaves = try DamagedFile(demo.path).leaves(root: root)
    #expect(leaves.count > 2)
    let leaf = try #require(leaves.first)
    try demo.change { bytes in
      let page = Array(bytes[(leaf - 1) * 4096..<leaf * 4096])
      bytes.replaceSubrange((root - 1) * 4096..<root * 4096, with: page)
    }
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy)
    #expect(Set(try StoreDump.lines(at: output)) == Set(demo.lines))
  }
}

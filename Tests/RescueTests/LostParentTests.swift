import Files
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue
@testable import Salvage
@testable import StoreTables

@Suite("Pages that are lost together with their part of the pointer map")
struct LostParentTests {
  @Test("leaves come back whose parent is gone, and the pages of the map that have it and them")
  func interior() throws {
    let demo = try DamagedDemo(objects: 2_000)
    let connection = try Connection(path: demo.path, mode: .create)
    try StoreFunctions.define(on: connection)
    // Small pages: several of the map, and trees of three levels.
    try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM")
    let root = try #require(
      try connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'ZSTEP'")?.integer)
    connection.close()
    let before = try MovedBytesTests.steps(demo.path)
    let image = try DatabaseImage(path: demo.path, log: nil)
    let trees = try TreeMap(image, roots: [Int(root)], isComplete: true)
    let map = PointerMap.Places(usable: 512, pageSize: 512)
    func children(of number: Int) throws -> [Int] {
      guard trees.role(of: number) == .interior, number != root, let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: 512)
      else { return [] }
      return tree.children(in: page.bytes)
    }
    let parent = try #require(
      try (3...image.pageCount).first { number in
        let own = try children(of: number).map(map.map)
        // The map's page for it has some of its leaves, and another one the rest.
        return own.contains(map.map(of: number)) && Set(own).count > 1
      })
    var keys: Set<Int64> = []
    for leaf in try children(of: parent) {
      let page = try #require(try image.page(leaf))
      let tree = try #require(TreePage(page.bytes, number: leaf, usable: 512))
      for place in tree.cells(in: page.bytes) {
        keys.insert(
          try #require(TreeCell(page.bytes, at: place, present: 512, usable: 512)).key)
      }
    }
    try #require(keys.count > 50)
    try demo.change { bytes in
      for page in [parent, map.map(of: parent)] {
        bytes.replaceSubrange((page - 1) * 512..<page * 512, with: repeatElement(0, count: 512))
      }
    }
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    let after = try MovedBytesTests.steps(output)
    for key in keys { #expect(after[key] == before[key], "p\(key)") }
    for (key, row) in after { #expect(before[key] == row, "p\(key)") }
  }
}

import Files
import ManagedStore
import Rescue
import SQLite
import TestSupport
import Testing

@testable import Salvage

@Suite("The page in whose middle bytes were put in or are missing")
struct ByteSeamTests {
  @Test(
    "of the page in whose middle bytes were put in or are missing, every other row comes back",
    arguments: [5, -1000])
  func seam(by: Int) throws {
    let demo = try DamagedDemo(objects: 2_000)
    let root = try #require(demo.roots["ZSTEP"])
    let leaves = try DamagedFile(demo.path).leaves(root: root)
    let leaf = leaves[leaves.count / 2]
    let before = try MovedBytesTests.steps(demo.path)
    let page = try #require(try DatabaseImage(path: demo.path, log: nil).page(leaf)).bytes
    let tree = try #require(TreePage(page, number: leaf, usable: 4096))
    let cells = tree.cells(in: page).compactMap {
      TreeCell(page, at: $0, present: 4096, usable: 4096)
    }
    // In the last value of a row that has others on both sides.
    let middle = try #require(cells.first { $0.end < 3_000 && $0.start > 600 })
    let place = middle.end - 3
    let gone = place..<place + max(1, -by)
    let lost = Set(
      cells.filter { $0.start - 3 < gone.upperBound && gone.lowerBound < $0.end }.map(\.key))
    #expect(lost.count < cells.count - 2 && lost.contains(middle.key))
    try demo.change { bytes in
      let place = (leaf - 1) * 4096 + place
      if by > 0 {
        bytes.insert(contentsOf: repeatElement(0, count: by), at: place)
      } else {
        bytes.removeSubrange(place..<place - by)
      }
    }
    let output = demo.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: demo.path, output: output)
    #expect(report.isLossy)
    let after = try MovedBytesTests.steps(output)
    // Nothing that never was, and nothing less than what is there.
    for (key, row) in after { #expect(before[key] == row, "p\(key)") }
    #expect(Set(before.keys).subtracting(after.keys).isSubset(of: lost))
    #expect(after[middle.key] == nil)
  }

  @Test("the last row before the place is kept where the next one begins as it did")
  func besideSeam() throws {
    let demo = try DamagedDemo(objects: 2_000)
    let root = try #require(demo.roots["ZSTEP"])
    let leaves = try DamagedFile(demo.path).leaves(root: root)
    let leaf = leaves[leaves.count / 2]
    let before = try MovedBytesTests.steps(demo.path)
    let page = try #require(try DatabaseImage(path: demo.path, log: nil).page(leaf)).bytes
    let tree = try #require(TreePage(page, number: leaf, usable: 4096))
    let cells = tree.cells(in: page).compactMap {
      TreeCell(page, at: $0, present: 4096, usable: 4096)
    }
    let middle = try #require(cells.first { $0.end < 2_900 && $0.start > 600 })
    let next = try #require(tree.cells(in: page).first { $0 == middle.end })
    try demo.change { bytes in
      // Behind the size and the key of the next row.
      let place = (leaf - 1) * 4096 + next + 6
      bytes.removeSubrange(place..<place + 1000)
    }
    let output = demo.folder.path("Saved.sqlite")
    _ = try StoreSalvage.run(path: demo.path, output: output)
    let after = try MovedBytesTests.steps(output)
    for (key, row) in after { #expect(before[key] == row, "p\(key)") }
    #expect(after[middle.key] == before[middle.key])
    let lost = cells.filter { $0.end > next && $0.start < next + 1006 }.map(\.key)
    #expect(Set(before.keys).subtracting(after.keys).isSubset(of: lost))
  }
}

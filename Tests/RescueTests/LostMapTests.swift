import Demo
import Files
import ManagedStore
import Rescue
import SQLite
import Salvage
import TestSupport
import Testing

@Suite("A pointer map that lost its first page")
struct LostMapTests {
  /// Pages of 512 bytes, so that a small store has many maps.
  private static let pageSize = 512

  /// A store without the first pages of its tables, among which the first map is.
  private static func damaged(in folder: TemporaryFolder) throws -> (path: String, whole: String) {
    let (made, whole, path) = (
      folder.path("made.sqlite"), folder.path("whole.sqlite"), folder.path("damaged.sqlite")
    )
    _ = try DemoStore.write(
      to: made, model: #require(DemoModels.versions().first).model, objects: 2_000)
    let connection = try Connection(path: made, mode: .readWrite)
    try connection.execute(
      "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = 2; VACUUM INTO '\(whole)'")
    connection.close()
    var bytes = try FileSystem.read(whole)
    for place in 0..<16 * pageSize { bytes[place] = 0 }
    try FileSystem.write(bytes, to: path)
    return (path, whole)
  }

  @Test("its other pages are no pages of trees, and every row of the large tables is saved")
  func others() throws {
    let folder = try TemporaryFolder()
    let (path, whole) = try Self.damaged(in: folder)
    let image = try DatabaseImage(path: path, log: nil)
    #expect(image.pageSize == Self.pageSize)
    let trees = try TreeMap(image, roots: [1], isComplete: false)
    let maps = Array(
      stride(from: 2, through: image.pageCount, by: Self.pageSize / 5 + 1).dropFirst())
    #expect(maps.count > 5)
    #expect(maps.allSatisfy { trees.role(of: $0) == .map })
    let output = folder.path("saved.sqlite")
    let report = try StoreSalvage.run(path: path, output: output)
    let (before, after) = (try Store(path: whole).counts(), try Store(path: output).counts())
    for entity in ["Amount", "Recipe", "Step"] {
      #expect(try #require(before[entity]) > 100)
      #expect(after[entity] == before[entity])
    }
    #expect(report.tables.allSatisfy { $0.refused.isEmpty })
  }
}

import Files
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

/// What is read of a damaged store is a private copy of all that can be read: that it agrees says nothing
/// of the file.
@Suite("verify, where a file is damaged")
struct VerifyDamagedTests {
  private let folder: TemporaryFolder
  private let before: String
  private let after: String
  private let models: String

  private init(objects: Int) throws {
    folder = try TemporaryFolder()
    let place = folder.path("demo")
    #expect(Captured("demo", place, "--objects", String(objects), "--no-open").status == .done)
    before = place + "/Recipes.sqlite"
    after = folder.path("After.sqlite")
    models = place + "/Recipes.xcdatamodeld"
    #expect(Captured("migrate", before, "--to", models, "--output", after).status == .done)
  }

  init() throws { try self.init(objects: 1500) }

  private func verify(_ options: String...) -> Captured {
    Captured(["verify", before, after, "--to", models] + options)
  }

  /// Flips a bit in the first page of the largest index: of a cell, or of the page's own header.
  private func flipIndex(of path: String, in offset: Int) throws {
    let connection = try Connection(path: path, mode: .readOnly)
    let page = try #require(
      try connection.rows(
        """
        SELECT rootpage FROM sqlite_master JOIN dbstat ON dbstat.name = sqlite_master.name
        WHERE type = 'index' GROUP BY 1 ORDER BY count(*) DESC LIMIT 1
        """
      ).first?.first?.integer)
    connection.close()
    try flip(Int(page - 1) * 4096 + offset, of: path)
  }

  private func flip(_ offset: Int, of path: String) throws {
    var bytes = try FileSystem.read(path)
    bytes[offset] ^= 4
    FileSystem.remove(path)
    try FileSystem.write(bytes, to: path)
    let connection = try Connection(path: path, mode: .readOnly)
    let told = try connection.rows("PRAGMA integrity_check").first?.first?.text
    #expect(told != "ok", "a bit that SQLite does not miss")
  }

  private func expectDamage(_ told: Captured) {
    #expect(told.status == .no, "\(told.out)")
    #expect(told.out.contains("✗ the migrated file is damaged: "), "\(told.out)")
    #expect(!told.out.contains("database integrity") && !told.out.contains("✓"), "\(told.out)")
  }

  @Test(
    "an index of the second that is wrong is told (1), whatever the size",
    arguments: TestScale.some(1, of: [false, true]))
  func index(isLarge: Bool) throws {
    let scene = isLarge ? try Self(objects: 60_000) : self
    #expect(
      try (#require(FileSystem.status(scene.after)?.size) > Store.checkedSize) == isLarge)
    #expect(scene.verify().status == .done)
    // The number of fragmented bytes of a page.
    try scene.flipIndex(of: scene.after, in: 7)
    scene.expectDamage(scene.verify())
    #expect(scene.verify("--json").out.contains(#""same":false"#))
  }

  @Test("a damaged index of the first is a note, since every row was read")
  func first() throws {
    try flipIndex(of: before, in: 7)
    let told = verify()
    #expect(told.status == .done, "\(told.out)")
    #expect(told.flat.contains("· The first store: SQLite finds "), "\(told.out)")
    #expect(told.flat.contains("No row of the tables' own pages is lost by it."), "\(told.out)")
  }
}

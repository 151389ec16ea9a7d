import Files
import ManagedStore
import Migration
import Rescue
import TestSupport
import Testing

@Suite("Where objects are that an edit deleted")
struct KeptObjectTests {
  @Test("undelete finds nothing of them in the file, and names the backup that has them")
  func deleted() throws {
    let scene = try EditScene()
    let done = try scene.edit(deleting: ["Note/p2", "Part/p1"])
    let backup = try #require(done.receipt.backupPath)
    let undeletion = try Undeletion(of: scene.path)
    #expect(undeletion.entities.allSatisfy { $0.deleted == 0 })
    let kept = try #require(undeletion.kept.first)
    #expect(undeletion.kept.count == 1)
    #expect(kept.counts == ["Note": 1, "Part": 1])
    #expect(FileSystem.name(of: kept.backup.path) == FileSystem.name(of: backup))
    #expect(undeletion.notes.contains(kept.sentence))
    #expect(kept.sentence.contains(FileSystem.name(of: backup)))
  }

  @Test("a backup of another store, or one that has no more than the store, is not named")
  func others() throws {
    let scene = try EditScene()
    try scene.edit("Note/p1", "text=Another")
    #expect(try Undeletion(of: scene.path).kept == [])
    let other = try EditScene()
    try other.edit(deleting: ["Note/p2"])
    let backup = try #require(StoreBackup.all(of: other.path).first)
    try FileSystem.copyOver(backup.path, to: scene.folder.path("App.backup-7"))
    #expect(StoreBackup.all(of: scene.path).count == 2)
    let connection = try scene.connection()
    try connection.execute("DELETE FROM ZNOTE WHERE Z_PK = 3")
    connection.close()
    // Only its own backup, of before the change of the note.
    #expect(try Undeletion(of: scene.path).kept.map(\.counts) == [["Note": 1]])
  }
}

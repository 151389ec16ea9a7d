import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue

/// Objects that nothing but their keys distinguishes.
@Suite("Equal objects that were deleted")
struct EqualRowsTests {
  /// The first page of the deleted rows holds the list of free pages: its header is gone, and its list of cells
  /// looks like the heads of blocks.
  @Test("each of them is counted once, under its own key", arguments: [1_000, 400, 2_345])
  func counted(objects: Int) throws {
    let note = {
      var entity = Entity("Note")
      entity.attributes = [Attribute("n", .integer64)]
      return entity
    }()
    let store = try GrownStore(Model(entities: [note]))
    try store.change(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(objects))
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZN) SELECT i, 1, 1, 5 FROM n;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(objects);
      PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE
      """)
    let live = store.path + ".live"
    try FileSystem.copyOver(store.path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = FAST;
      DELETE FROM ZNOTE
      """)
    for suffix in ["", "-wal"] {
      FileSystem.remove(store.path + suffix)
      try FileSystem.copyOver(live + suffix, to: store.path + suffix)
    }
    connection.close()
    let entities = try Undeletion(of: store.path).entities
    let found = try #require(entities.first { $0.name == "Note" })
    #expect(found.deleted == objects && found.keyless == 0 && found.partial == 0, "\(found)")
    let output = store.folder.path("Restored.sqlite")
    _ = try Restoration(Undeletion(of: store.path)).run(.all(entity: nil), output: output)
    let saved = try Connection(path: output, mode: .immutable)
    let row = try saved.rows(
      "SELECT count(*), min(Z_PK), max(Z_PK), min(ZN), max(ZN) FROM ZNOTE"
    ).first
    #expect(row == [objects, 1, objects, 5, 5].map { Value.integer(Int64($0)) })
  }
}

import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

/// A store that a program has open through its log, and saves to all the time.
@Suite(
  "A store that is being saved to",
  .enabled(if: Tool.python3.isAvailable, "python3 is not installed"))
struct LiveStateTests {
  /// Sets all rows to one number, then to the next, each time in one transaction.
  private static let writer = """
    import os, sqlite3, sys
    path, ready, stop = sys.argv[1:]
    store = sqlite3.connect(path, isolation_level=None)
    store.execute('PRAGMA journal_mode = WAL')
    store.execute('PRAGMA wal_autocheckpoint = 0')
    number = 0
    while not os.path.exists(stop):
        number += 1
        store.execute('UPDATE ZNOTE SET ZTEXT = ?', (f'state {number}',))
        if number == 1:
            open(ready, 'w').close()
    print(number)
    """

  @Test("is printed in one state each time", arguments: TestScale.some(1, of: ["dump", "rows"]))
  func oneState(command: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    let model = """
      <model><entity name="Note">
      <attribute name="text" optional="YES" attributeType="String"/>
      </entity></model>
      """
    try StoreCreation.create(
      at: path, model: Model(contents: Array(model.utf8)),
      uuid: "9F2C41D0-0000-4000-8000-000000000001")
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO ZNOTE SELECT i, 1, 1, 'state 0' FROM n
      """)
    connection.close()
    try FileSystem.write(Array(Self.writer.utf8), to: folder.path("write.py"))
    let (ready, stop) = (folder.path("ready"), folder.path("stop"))
    let writer = try #require(
      ChildProgram(["python3", folder.path("write.py"), path, ready, stop]))
    Patience.wait { FileSystem.isFile(ready) }
    var states: [Set<String>] = []
    // Each save waits for the disk: where that is slow, several runs see one state.
    while states.count < 5 || states.count < 200 && Set(states.compactMap(\.first)).count < 2 {
      let words =
        command == "rows" ? ["rows", path, "Note", "--format", "ndjson"] : ["dump", path]
      let child = try #require(ChildProgram([Shell.strata] + words))
      #expect(child.wait() == 0, "\(child.text.prefix(500))")
      let found = child.text.split(separator: "\n").compactMap { line in
        line.split(separator: "\"").first { $0.hasPrefix("state ") }.map(String.init)
      }
      #expect(found.count == 2000)
      states.append(Set(found))
    }
    try FileSystem.write([], to: stop)
    #expect(writer.wait() == 0)
    #expect(states.allSatisfy { $0.count == 1 }, "\(states.map(\.count))")
    #expect(Set(states.compactMap(\.first)).count > 1, "the writer saved nothing meanwhile")
  }
}

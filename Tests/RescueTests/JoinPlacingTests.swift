import SQLite
import Salvage
import TestSupport
import Testing

@testable import ManagedStore

/// 365 links between recipes became links to tags: four of five named a tag that is there.
@Suite("Links of which no schema says whose they are")
struct JoinPlacingTests {
  @Test("links to keys that were never given out are no table's, others are the likeliest one's")
  func keysNeverGivenOut() throws {
    let folder = try TemporaryFolder()
    let connection = try Connection(path: folder.path("new.sqlite"), mode: .create)
    try connection.execute(
      """
      CREATE TABLE ZRECIPE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE Z_9TAGS (Z_9RECIPES INTEGER, Z_11TAGS INTEGER);
      CREATE TABLE Z_9GOESWITH (Z_9GOESWITH INTEGER, REFLEXIVE INTEGER);
      INSERT INTO ZRECIPE WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 476)
      SELECT i, 9 FROM n;
      INSERT INTO ZTAG SELECT Z_PK, 11 FROM ZRECIPE WHERE Z_PK <= 400
      """)
    let recipes = JoinPlacing.Side(table: "ZRECIPE", numbers: [9], greatest: 476)
    let tags = JoinPlacing.Side(table: "ZTAG", numbers: [11], greatest: 400)
    func candidate(_ name: String, _ sides: [JoinPlacing.Side]) throws -> JoinPlacing.Candidate {
      JoinPlacing.Candidate(
        table: try SalvagedTable(
          name: name, numbers: [], root: 0, connection: connection, encoding: .utf8), sides: sides)
    }
    let candidates = try [
      candidate("Z_9TAGS", [recipes, tags]), candidate("Z_9GOESWITH", [recipes, recipes]),
    ]
    func names(ofLinksUpTo last: Int) throws -> [String] {
      let path = folder.path("links \(last).sqlite")
      let made = try Connection(path: path, mode: .create)
      try made.execute(
        """
        CREATE TABLE a (first INTEGER, second INTEGER);
        INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        SELECT i, i * 7 % \(last) + 1 FROM n
        """)
      made.close()
      var joining = JoinPlacing(connection)
      let image = try DatabaseImage(path: path, log: nil)
      var scan = RowScan(image, try TreeMap(image, roots: [2], isComplete: true))
      var count = 0
      try scan.rows(where: { role, root in role == .leaf && root == 2 }) { row, record in
        if joining.add(row, record) { count += 1 }
      }
      #expect(count == 200)
      return try joining.tables(among: candidates, isInOrder: false).values.map(\.name)
    }
    #expect(try names(ofLinksUpTo: 400) == ["Z_9TAGS"])
    #expect(try names(ofLinksUpTo: 470).isEmpty)
  }
}

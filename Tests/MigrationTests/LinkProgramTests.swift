import SQLite
import Testing

@testable import ManagedStore
@testable import Migration
@testable import StoreTables

@Suite("Links that are set when all objects are there")
struct LinkProgramTests {
  private func pairs(_ link: LinkProgram, on connection: Connection) throws -> [[Int64?]] {
    try connection.rows("SELECT owner, destination, inverse FROM (\(link.select)) ORDER BY 1, 2")
      .map {
        $0.map(\.integer)
      }
  }

  @Test("what claims an object that is not there, or is of another entity, claims nothing")
  func claims() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute(
      """
      ATTACH ':memory:' AS src;
      CREATE TABLE src.ZOWNER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZPET INTEGER);
      CREATE TABLE src.ZPET (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      INSERT INTO src.ZOWNER VALUES (1, 1, 7), (2, 1, 8), (3, 1, NULL), (4, 2, 7), (5, 1, 9);
      INSERT INTO src.ZPET VALUES (7, 3), (9, 4);
      """)
    var link = LinkProgram(
      mapping: "m", entity: "Owner", relationship: "pet", origin: .row(.column("ZPET")),
      table: "ZOWNER", conditions: [RowCondition("s.Z_ENT = 1", entity: 1)],
      partner: .init(table: "ZPET", entities: [3]))
    #expect(try pairs(link, on: connection) == [[1, 7, nil]])
    link.conditions = []
    #expect(try pairs(link, on: connection) == [[1, 7, nil], [4, 7, nil]])
  }

  @Test("objects that are made along with others hang on them in their order")
  func children() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute(
      """
      CREATE TEMP TABLE tree_0 (key INTEGER PRIMARY KEY, parent INTEGER, source INTEGER, item, position);
      INSERT INTO temp.tree_0 VALUES (21, 1, 1, 'a', 0), (22, 1, 1, 'b', 1), (23, 2, 2, 'c', 0);
      """)
    let link = LinkProgram(
      mapping: "m", entity: "Owner", relationship: "parts", origin: .children("tree_0"),
      table: "ZOWNER")
    #expect(try pairs(link, on: connection) == [[1, 21, nil], [1, 22, nil], [2, 23, nil]])
    let places = try connection.rows("SELECT position FROM (\(link.select)) ORDER BY destination")
      .compactMap { $0.first?.integer }
    #expect(places == [2, 3, 2].map { $0 * OrderKey.spacing })
  }
}

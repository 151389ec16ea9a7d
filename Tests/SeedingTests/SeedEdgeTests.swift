import Files
import ManagedModel
import ManagedStore
import Rescue
import SQLite
import TestSupport
import Testing

@testable import Seeding

@Suite("Edge cases of seeded stores")
struct SeedEdgeTests {
  private static let edges: @Sendable (inout SeedOptions) -> Void = { $0.hasEdgeCases = true }

  @Test(
    "they break no rule: doctor finds only what was put there",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func sound() throws {
    for model in [try SeedModels.values(), try SeedModels.relationships()] {
      let seeded = try SeededFolder(model, objects: 300, Self.edges)
      let found = try Diagnosis(of: seeded.path).findings.filter { $0.severity != .note }
      #expect(found.filter { $0.kind != .externalOrphaned }.map(\.sentence) == [])
      try SecondReader.expectAgreement(at: seeded.path)
      #expect(try seeded.integrity() == "ok")
    }
  }

  @Test("nothing, empty, smallest, largest, huge, infinite: all is there")
  func present() throws {
    let seeded = try SeededFolder(SeedModels.values(), objects: 300, Self.edges)
    func count(_ condition: String) throws -> Int {
      try seeded.number("SELECT count(*) FROM ZITEM WHERE \(condition)")
    }
    #expect(
      try count("ZBSTRING IS NULL AND ZBDATE IS NULL AND ZBBINARY IS NULL AND ZBUUID IS NULL") > 0)
    #expect(try count("ZBSTRING = ''") > 0)
    #expect(try count("length(CAST(ZBSTRING AS BLOB)) >= 10000000") == 1)
    #expect(try count("ZBINTEGER16 = -32768") == 1 && count("ZBINTEGER16 = 32767") == 1)
    #expect(try count("ZBINTEGER64 = -9223372036854775808") == 1)
    #expect(try count("ZBINTEGER64 = 9223372036854775807") == 1)
    #expect(try count("ZADATE = 9e999") == 1 && count("ZADATE = -9e999") == 1)
    #expect(try count("ZADOUBLE = 1.7976931348623157e308") == 1)
    #expect(try count("ZBSTRING LIKE '%👩🏽‍👩🏽‍👧🏽‍👦🏽%' OR ZBSTRING LIKE '%שלום%' OR length(ZBSTRING) > 10") > 0)
    #expect(try count("NOT EXISTS (SELECT 1 FROM ZNOTE n WHERE n.ZITEM = ZITEM.Z_PK)") > 0)
    let external = try Store(path: seeded.path).externalData()
    #expect(external.orphaned.count == 2 && external.missing.isEmpty)
    #expect(seeded.report.edgeCases.contains { $0.contains("ten megabytes") })
  }

  @Test("a hierarchy is as deep as there are objects, up to a thousand")
  func chain() throws {
    var node = Entity("Node")
    node.relationships = [
      Relationship("parent", to: "Node", inverse: "children", optional: true),
      Relationship("children", to: "Node", inverse: "parent", toMany: true, optional: true),
    ]
    let seeded = try SeededFolder(Model(entities: [node]), objects: 1200, Self.edges)
    let depth = try seeded.number(
      """
      WITH RECURSIVE up(k, n) AS (
        SELECT Z_PK, 1 FROM ZNODE WHERE Z_PK = 1000
        UNION ALL SELECT ZPARENT, n + 1 FROM up JOIN ZNODE ON Z_PK = k WHERE ZPARENT IS NOT NULL)
      SELECT max(n) FROM up
      """)
    #expect(depth == 1000)
    #expect(try seeded.alarms() == [])
  }
}

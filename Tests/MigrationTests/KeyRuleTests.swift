import SQLite
import Testing

@testable import Migration

@Suite("Keys of what mappings make")
struct KeyRuleTests {
  @Test(
    "a key that is not moved stays the value that it is; a moved one can fail only as the key can")
  func values() {
    let column = ColumnValue.column("ZOWNER")
    #expect(KeyRule.moved(0).destination(of: column) == column)
    #expect(
      KeyRule.moved(20).destination(of: column)
        == .lookup("(s.\"ZOWNER\" + 20)", reading: ["ZOWNER"]))
    #expect(
      KeyRule.moved(20).destination(of: ColumnValue.computed("f()", reading: ["ZA"]))
        == .computed("(f() + 20)", reading: ["ZA"]))
    #expect(KeyRule.listed("sources_1").destination(of: ColumnValue.empty) == .empty)
  }

  @Test(
    "listed keys are what the table says, and of associated ones those of the entities that count")
  func tables() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute(
      """
      CREATE TEMP TABLE sources_1 (source INTEGER PRIMARY KEY, destination INTEGER);
      INSERT INTO temp.sources_1 VALUES (3, 70);
      CREATE TEMP TABLE made_0 (source INTEGER, destination INTEGER, entity INTEGER);
      INSERT INTO temp.made_0 VALUES (3, 8, 5), (3, 9, 6);
      """)
    let listed = KeyRule.listed("sources_1")
    let associated = KeyRule.associated("made_0", entities: [6], moved: 4)
    for (rule, key, made) in [(listed, 3, 70), (listed, 4, nil), (associated, 3, 9)] {
      let value = try connection.value("SELECT \(rule.destination(of: String(key)))")
      #expect(value?.integer == made.map { Int64($0) })
    }
    #expect(listed.distance == nil)
    #expect(associated.distance == 4)
  }
}

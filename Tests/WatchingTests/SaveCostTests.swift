import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Watching

@Suite("What a save costs")
struct SaveCostTests {
  @Test("what a save costs does not depend on how many objects reference those that it changed")
  func manyLinks() throws {
    let library = try Library()
    // Each tag is referenced by 8,000 books and each person by 10,000.
    let (owner, tag) = (quoted(library.tags.owner), quoted(library.tags.destination))
    try library.save(
      """
      WITH n(k) AS (VALUES(1000) UNION ALL SELECT k + 1 FROM n WHERE k < 40999)
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) SELECT k, \(library.book.entityID), 1, k % 4 + 1 FROM n;
      INSERT INTO \(quoted(library.tags.table)) (\(owner), \(tag))
      SELECT Z_PK, Z_PK % 5 + 1 FROM ZBOOK WHERE Z_PK >= 1000
      """)
    let watch = try library.watch()
    func cost(_ table: String) throws -> Double {
      for number in 0..<20 {
        try library.save(
          "UPDATE \(table) SET Z_OPT = Z_OPT + 1, ZNAME = 'Save \(number)' WHERE Z_PK < 4")
      }
      var saves: [ObservedSave] = []
      let seconds = try ProcessorTime.seconds { saves = try watch.look() }
      #expect(saves.map(\.count) == Array(repeating: 3, count: 20))
      #expect(saves.flatMap(\.changes).allSatisfy { $0.relationships.isEmpty })
      return seconds
    }
    let read = try ProcessorTime.seconds { _ = try Mirror(library.path) }
    for table in ["ZTAG", "ZPERSON"] {
      let spent = try cost(table)
      #expect(spent < read / 2, "\(spent) s, where reading everything took \(read)")
    }
    // Where a link comes or goes, and where its object does, all are known.
    try library.save("UPDATE ZBOOK SET ZAUTHOR = 2 WHERE Z_PK = 1003")
    try library.save(
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT 6, Z_ENT, 1 FROM ZTAG WHERE Z_PK = 1")
    try library.save("DELETE FROM ZTAG WHERE Z_PK = 2")
    let saves = try watch.look()
    let former = saves.first?.changes.first { $0.b == ObjectID(entity: "Person", key: 4) }
    #expect(former?.relationships.map(\.removed) == [[ObjectID(entity: "Book", key: 1003)]])
    let tags = saves.dropFirst().flatMap(\.changes)
    #expect(tags.map(\.kind) == [.insert, .delete])
    #expect(tags.last?.relationships.map(\.removed.count) == [8_008])
  }
}

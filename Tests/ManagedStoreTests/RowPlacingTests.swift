import SQLite
import Testing

@testable import ManagedStore

@Suite("The order of a store's trees")
struct RowPlacingTests {
  private func isInOrder(_ trees: [Int: String]) throws -> Bool {
    let connection = try Connection(path: ":memory:", mode: .create)
    let tables = try trees.mapValues { name in
      try connection.execute("CREATE TABLE IF NOT EXISTS \(name) (Z_PK INTEGER PRIMARY KEY)")
      return try SalvagedTable(
        name: name, numbers: [1], root: 0, connection: connection, encoding: .utf8)
    }
    return RowPlacing(tables: Array(tables.values), trees: tables)
      .isInOrder(["ZAMOUNT", "ZDRAFT", "ZRECIPE", "ZSTEP"])
  }

  @Test("is told by trees of which a table has one alone: leaves without their tree tell nothing")
  func order() throws {
    #expect(try isInOrder([3: "ZAMOUNT", 4: "ZDRAFT", 7: "ZRECIPE"]))
    #expect(try !isInOrder([3: "ZAMOUNT", 9: "ZDRAFT", 7: "ZRECIPE"]))
    // Behind all others, each of many pages seems to be a tree of its own.
    #expect(try isInOrder([4: "ZDRAFT", 7: "ZRECIPE", 159: "ZAMOUNT", 160: "ZAMOUNT"]))
    #expect(
      try !isInOrder([4: "ZDRAFT", 7: "ZRECIPE", 5: "ZSTEP", 159: "ZAMOUNT", 160: "ZAMOUNT"]))
    // What no model names, such as Z_METADATA, has no place in it.
    #expect(try isInOrder([4: "ZDRAFT", 5: "ZMORE", 7: "ZRECIPE"]))
  }
}

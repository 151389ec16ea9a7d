import TestSupport
import Testing

@testable import ManagedStore

@Suite("The search for an order of columns")
struct OrderSearchTests {
  /// How well columns fit places, where each fits its own and the places of those of its kind.
  private static func scores(_ places: [Int], kinds: [Int]) -> [[Double]] {
    var kind = Array(repeating: 0, count: places.count)
    for (column, place) in places.enumerated() { kind[place] = kinds[column] }
    return places.indices.map { column in
      kind.indices.map { kind[$0] == kinds[column] ? 0 : -40 }
    }
  }

  @Test("columns at the end are found, whichever they are", arguments: 1...40)
  func found(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let count = Int.random(in: 4...20, using: &random)
    let appended = Int.random(in: 0...min(4, count - 1), using: &random)
    let last = Array((0..<count).shuffled(using: &random).prefix(appended))
    let order = (0..<count).filter { !last.contains($0) } + last
    var places = Array(repeating: 0, count: count)
    for (place, column) in order.enumerated() { places[column] = place }
    // Each of its own kind: one order alone will do.
    let search = OrderSearch(
      scores: Self.scores(places, kinds: Array(0..<count)),
      positions: Array(repeating: false, count: count))
    let (best, most) = search.best(appended: appended)
    #expect(best.places == places, "seed \(seed)")
    #expect(best.score == 0)
    for column in 0..<count {
      for place in 0..<count {
        #expect((most[column][place] == 0) == (places[column] == place), "seed \(seed)")
      }
    }
  }

  @Test("what counts as much as the best is told for each column and place")
  func alike() {
    // Three texts, of which the last place is empty: any of them may have come later.
    let search = OrderSearch(
      scores: Array(repeating: Array(repeating: 0.0, count: 3), count: 3),
      positions: [false, false, false])
    #expect(search.best(appended: 0).order.places == [0, 1, 2])
    let (best, most) = search.best(appended: 1)
    #expect(best.places == [0, 1, 2])
    #expect(most[0][0] == 0 && most[1][0] == 0)
    // The third cannot be the first, with one column at the end.
    #expect(most[2][0] < 0)
  }
}

@Suite("What is left of older schemas")
struct SchemaRemnantTests {
  @Test("a text tells the columns behind Z_OPT, with those that were added")
  func read() {
    let text =
      "ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZB VARCHAR, ZA BLOB , \"ZC\" TIMESTAMP)"
    let found = SchemaRemnants.read(text)
    #expect(found?.name == "ZNOTE")
    #expect(found?.columns == ["ZB", "ZA", "ZC"])
  }

  @Test(
    "a text that is cut off, or is no entity's table, tells nothing",
    arguments: [
      "", "ZNOTE", "ZNOTE (", "ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZB",
      "Z_2TAGS ( Z_2NOTES INTEGER, Z_3TAGS INTEGER, PRIMARY KEY (Z_2NOTES, Z_3TAGS) )", ")(", "()",
    ])
  func nothing(text: String) {
    #expect(SchemaRemnants.read(text) == nil)
  }
}

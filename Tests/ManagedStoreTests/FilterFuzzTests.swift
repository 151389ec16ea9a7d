import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Predicates of any text")
struct FilterFuzzTests {
  /// A few thousand with STRATA_TESTS=all, or as many as STRATA_FUZZ says.
  private static let rounds = TestScale.count(600, ofAll: 3_000, variable: "STRATA_FUZZ")

  @Test("mutated predicates select rows or are refused, and always at once")
  func mutated() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let cases =
      RowFilterTests.comparisons + RowFilterTests.keys + RowFilterTests.texts
      + RowFilterTests.others
      + RowFilterTests.paths
    let words = [
      "title", "author.name", "tags", "==", "IN", "{", "}", "(", ")", "ANY", "NOT", "nil", "1",
      "\"x\"", "SUBQUERY(tags, $t, ", "$t", ".@count", "BETWEEN", "MATCHES", "[cd]", "AND", "-",
      "CAST(", ", \"NSDate\")", "9223372036854775807", "1e308", "TERNARY(", "<00>", ".", "SELF",
    ]
    var random = SeededGenerator(seed: 7)
    var understood = 0
    for round in 0..<Self.rounds {
      guard let example = cases.randomElement(using: &random) else { return }
      var text = example.text
      if round % 2 == 0 {
        text = String(decoding: random.mutated(Array(text.utf8)), as: UTF8.self)
      } else {
        var parts = text.split(separator: " ").map(String.init)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let word = words.randomElement(using: &random) ?? ""
          let index = Int.random(in: 0...parts.count, using: &random)
          if index < parts.count, Bool.random(using: &random) {
            parts[index] = word
          } else {
            parts.insert(word, at: index)
          }
        }
        text = parts.joined(separator: " ")
      }
      let took = ProcessorTime.seconds {
        do {
          let filter = try RowFilter(text, entity: example.entity, store: store)
          _ = try store.count(of: example.entity, filter: filter)
          understood += 1
        } catch let error as CoreDataError {
          // What SQLite refuses would be SQL that should not have been made.
          #expect(error.kind == .usage, "\(text): \(error)")
          #expect(error.mark != nil, "\(text): \(error)")
        } catch {
          Issue.record("\(text): \(error)")
        }
      }
      #expect(took < 10, "\(text)")
    }
    #expect(understood > Self.rounds / 50)
  }
}

import Testing

@testable import Interface

@Suite("Letters that name a line")
struct FuzzyMatchTests {
  @Test(
    "letters in their order match, others do not",
    arguments: [
      ("ov", "Diff other versions", true), ("vd", "Diff other versions", false),
      ("ver oth", "Diff other versions", true), ("", "anything", true), ("x", "", false),
      ("OV", "other versions", true), ("ä", "Ähre", true),
    ])
  func matching(query: String, line: String, isMatch: Bool) {
    #expect((FuzzyMatch(query, in: line) != nil) == isMatch)
  }

  @Test(
    "starts of words and letters side by side count most",
    arguments: [
      ("ov", "other versions", "to move over"), ("sor", "sort", "show rows or"),
      ("st", "store", "history"), ("nc", "next change", "inclusion"),
    ])
  func order(query: String, better: String, worse: String) throws {
    let best = try #require(FuzzyMatch(query, in: better))
    let rest = try #require(FuzzyMatch(query, in: worse))
    #expect(best.score > rest.score)
  }

  @Test("the letters that were meant are known, also where an earlier one would do")
  func positions() {
    #expect(FuzzyMatch("ve", in: "over versions")?.positions == [5, 6])
    #expect(FuzzyMatch("nc", in: "next change")?.positions == [0, 5])
  }

  @Test("a line of any length is no trouble")
  func long() {
    let line = String(repeating: "ab", count: 100_000)
    #expect(FuzzyMatch("abab", in: line) != nil)
    #expect(FuzzyMatch(String(repeating: "a", count: 1_000), in: line) == nil)
  }
}

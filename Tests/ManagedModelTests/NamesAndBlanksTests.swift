import Testing
import Values

@Suite("Names and blanks")
struct NamesAndBlanksTests {
  @Test(
    "white space goes from both ends, ASCII or not",
    arguments: [
      ("", ""), (" \t\r\n", ""), ("a", "a"), ("  a b\r\n", "a b"), ("\u{A0}é\u{2003}", "é"),
      (" ü ", "ü"), ("\u{1}x\u{1}", "\u{1}x\u{1}"), ("\u{2028}", ""), ("a\u{301} ", "a\u{301}"),
    ])
  func trimming(text: String, expected: String) {
    #expect(text.trimmed == expected)
    #expect("[\(text)]".dropFirst().dropLast().trimmed == expected)
  }

  @Test("names are ordered by their bytes, equal ones as they came")
  func order() {
    let names = ["b", "é", "Z", "a", "ab", "", "z", "a"]
    let sorted = names.enumerated().sortedByBytes(\.element)
    #expect(sorted.map(\.element) == ["", "Z", "a", "a", "ab", "b", "z", "é"])
    #expect(sorted.map(\.offset) == [5, 2, 3, 7, 4, 0, 6, 1])
  }
}

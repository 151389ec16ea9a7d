import ManagedModel
import TestSupport
import Testing

@Suite("Replacing by pattern")
struct TextReplacementTests {
  static let cases: [(String, String, String, String)] = [
    ("a", "a", "b", "b"), ("", "a*", "x", "x"), ("abc", "", "-", "-a-b-c-"),
    ("aab", "a*", "x", "xxbx"), ("aab", "a+?", "x", "xxb"), ("<a><b>", "<.*?>", "", ""),
    ("<a>b<c>", "<.*>", "", ""), ("2024-03-01", #"(\d+)-(\d+)-(\d+)"#, "$3.$2.$1", "01.03.2024"),
    ("ab", "(a)|(b)", "[$1$2]", "[a][b]"), ("ab", "(?:a)(b)", "$1", "b"),
    ("ab", "(?<name>a)", "$1$1", "aab"), ("a", "a", #"\$1\\"#, #"$1\"#), ("a", "(a)", "$10", "a0"),
    ("a", "a", "$7", ""), ("a$", #"\$"#, "$", "a$"), ("ÄB", "(?i)äb", "x", "x"),
    ("STRASSE", "(?i)s+", "-", "-TRA-E"), ("a\nb", "a.b", "x", "a\nb"),
    ("foobar", "foo|foobar", "x", "xbar"),
    ("one two", #"\b\w"#, "_", "_ne _wo"), ("aaa", "^a", "b", "baa"), ("aaa", "a$", "b", "aab"),
    ("abab", "(ab){2}", "<$1>", "<ab>"), ("xay", "(b)?a", "[$1]", "x[]y"),
    ("😀é", ".", "$0$0", "😀😀éé"),
    ("e\u{301}a", "e", "o", "o\u{301}a"), ("aXbXc", "(a|b)X", "$1", "abc"),
    ("aaaa", "(a|aa)+", "<$1>", "<a>"),
  ]

  @Test("matches are those that a machine which goes back finds", arguments: cases)
  func replaced(_ text: String, _ pattern: String, _ template: String, _ expected: String) throws {
    let replacement = try TextReplacement(pattern: pattern)
    let result = try #require(replacement.replacing(in: text, with: template))
    #expect(Array(result.unicodeScalars) == Array(expected.unicodeScalars))
  }

  @Test("patterns that go back are refused")
  func refused() {
    for pattern in ["(", "(?=a)", #"(a)\1"#, "a++", "[", "a{2"] {
      #expect(throws: CoreDataError.self) { try TextReplacement(pattern: pattern) }
    }
  }

  @Test("a pattern that would explode takes its time once")
  func linear() throws {
    let replacement = try TextReplacement(pattern: "(a+)+b")
    let growth = ProcessorTime.growth(
      from: 2_500, of: { String(repeating: "a", count: $0) }
    ) { text in #expect(replacement.replacing(in: text, with: "") != nil) }
    #expect(growth < 8)
  }
}

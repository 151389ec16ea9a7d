import Testing
import Values

@Suite("Numbers and texts for people and for XML")
struct NumberTextTests {
  @Test("a noun goes with its number, and thousands are set apart")
  func counted() {
    #expect(NumberText.counted(0, "row") == "0 rows")
    #expect(NumberText.counted(1, "row") == "1 row")
    #expect(NumberText.counted(1_234_567, "row") == "1,234,567 rows")
    #expect(NumberText.counted(Int64(2), "entity", plural: "entities") == "2 entities")
  }

  @Test(
    "sizes have two digits below ten and none behind the point above",
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (4249, "4.2 kB"), (57_344, "57 kB"),
      (999_499, "999 kB"), (999_500, "1.0 MB"), (184_320, "184 kB"), (1 << 40, "1.1 TB"),
    ])
  func sizes(bytes: Int, expected: String) {
    #expect(NumberText.bytes(bytes) == expected)
  }

  @Test("XML holds what it can, and line breaks stay")
  func xml() {
    #expect(
      "a<b & \"c\"\n\t\u{1B}\u{FFFE}é".escapedForXML
        == "a&lt;b &amp; &quot;c&quot;&#10;&#9;\u{FFFD}\u{FFFD}é")
  }
}

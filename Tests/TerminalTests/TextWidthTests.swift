import CNcurses
import Terminal
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("Text width")
struct TextWidthTests {
  #if canImport(Glibc)
    /// Characters that Unicode has changed since the library's tables (glibc 2.36) were made.
    private static let changed: Set<UInt32> = [
      0x1171E  // AHOM CONSONANT SIGN MEDIAL RA is spacing since Unicode 15.1.
    ]

    @Test("every character that the C library knows is as wide as it says")
    func agreesWithTheLibrary() throws {
      let locale = try #require(newlocale(1 << LC_CTYPE, "C.UTF-8", nil))
      let previous = uselocale(locale)
      defer {
        uselocale(previous)
        freelocale(locale)
      }
      var differences: [String] = []
      for value in UInt32(0xA0)...0x10FFFF {
        guard let scalar = Unicode.Scalar(value), Sanitize.standIn(for: scalar) == nil else {
          continue
        }
        let expected = Int(wcwidth(wchar_t(bitPattern: value)))
        // Characters newer than the C library have no width there.
        if expected >= 0, TextWidth.of(scalar) != expected, !Self.changed.contains(value) {
          differences.append("U+\(String(value, radix: 16)): \(expected)")
        }
      }
      #expect(differences.prefix(20) == [])
    }
  #endif

  @Test(
    "a text is as wide as what is drawn of it",
    arguments: [
      ("", 0), ("abc", 3), ("日本", 4), ("e\u{301}", 1), ("🍲", 2), ("\u{301}", 1), ("a\nb", 3),
      ("\u{1112}\u{1161}\u{11AB}", 2), ("🇸🇪", 2), ("❤\u{FE0F}", 1), ("\u{202E}", 8),
    ])
  func widths(text: String, width: Int) {
    #expect(TextWidth.of(text) == width)
  }

  @Test("measuring a huge text stops at the limit")
  func bounded() {
    let text = String(repeating: "x", count: 10_000_000)
    var width = 0
    let time = ProcessorTime.seconds(limit: 0.05) { width = TextWidth.of(text, upTo: 80) }
    #expect(width == 81)
    // The whole text takes more than a second.
    #expect(time < 0.05)
  }

  @Test(
    "pictures that are joined come one by one, their joiner left out; elsewhere it is shown",
    arguments: [
      ("👨\u{200D}👩\u{200D}👧", "👨👩👧", 6), ("❤\u{FE0F}\u{200D}🔥", "❤🔥", 3),
      ("🏃🏽\u{200D}♂\u{FE0F}", "🏃🏽♂", 5), ("a\u{200D}b", "a⟨U+200D⟩b", 10),
      ("👩\u{200D}", "👩⟨U+200D⟩", 10), ("👩\u{200D}\u{200D}🍳", "👩⟨U+200D⟩⟨U+200D⟩🍳", 20),
      ("1\u{200D}2", "1⟨U+200D⟩2", 10), ("می\u{200C}خ", "می⟨U+200C⟩خ", 11),
      ("\u{200D}👩", "⟨U+200D⟩👩", 10), ("🇩🇪", "🇩🇪", 2),
    ])
  func joiners(text: String, shown: String, width: Int) {
    #expect(Sanitize.text(text) == shown)
    #expect(TextWidth.of(text) == width)
    var grid = Grid(width: 30, height: 1)
    grid.write(text + "|", at: Point(x: 0, y: 0))
    #expect(grid[width, 0]?.text == "|")
  }
}

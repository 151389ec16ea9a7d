import Terminal
import Testing

@Suite("Sanitising")
struct SanitizeTests {
  @Test(
    "what a terminal would obey or hide is shown instead",
    arguments: [
      ("\u{1B}[2J", "␛[2J"), ("a\nb\tc", "a␊b␉c"), ("\r\n", "␍␊"), ("\u{7F}", "␡"),
      ("\u{9B}31m", "⟨U+009B⟩31m"), ("\u{202E}abc", "⟨U+202E⟩abc"),
      ("a\u{2066}b", "a⟨U+2066⟩b"), ("👩\u{200D}🍳", "👩🍳"), ("\0", "␀"),
      ("\u{FEFF}x", "⟨U+FEFF⟩x"), ("\u{2028}", "⟨U+2028⟩"), ("\u{E0041}", "⟨U+E0041⟩"),
      ("\u{AD}", "⟨U+00AD⟩"), ("❤\u{FE0F}", "❤"), ("\u{301}", "◌\u{301}"),
      ("Crème brûlée 日本", "Crème brûlée 日本"),
    ])
  func standIns(text: String, shown: String) {
    #expect(Sanitize.text(text) == shown)
  }

  @Test("no scalar gets through that is a control or a format character")
  func everyScalar() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        #expect(!Sanitize.text(String(scalar)).unicodeScalars.contains(scalar))
      default: continue
      }
    }
  }

  @Test(
    "a cut text fits and says that it is cut",
    arguments: [
      ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 4, "日…"), ("日本", 4, "日本"),
      ("日本", 1, "…"), ("abc", 0, ""), ("a日", 2, "a…"),
    ])
  func cut(text: String, limit: Int, shown: String) {
    #expect(Sanitize.text(text, limit: limit) == shown)
  }

  @Test("ten megabytes of marks on one letter are given up soon")
  func marks() {
    var scalars = String.UnicodeScalarView("a".unicodeScalars)
    for _ in 0..<5_000_000 { scalars.append("\u{301}") }
    let text = String(scalars)
    let clock = ContinuousClock()
    var grid = Grid(width: 10, height: 1)
    // The quickest of some: whoever else uses the machine may be in the way of one.
    let time = (0..<5).map { _ in
      clock.measure { grid.write(text, at: Point(x: 0, y: 0)) }
    }.min()
    #expect(time.map { $0 < .milliseconds(50) } == true)
    #expect(grid.row(0) == "a\u{301}\u{301}\u{301}\u{301}…")
  }
}

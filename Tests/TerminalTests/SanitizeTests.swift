import Terminal
import TestSupport
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

  /// What is decided for them by ranges, asked of Unicode.
  @Test("a plain scalar is shown as it is, is no mark and no picture")
  func plain() {
    var wrong: [String] = []
    var count = 0
    for value in UInt32(0)...0x10FFFF where Sanitize.isPlain(value) {
      count += 1
      guard let scalar = Unicode.Scalar(value) else {
        wrong.append("\(value)")
        continue
      }
      let isPicture = value >= 0x203C && scalar.properties.isEmoji
      let isMark =
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
      if Sanitize.standIn(for: scalar) != nil || isPicture || isMark {
        wrong.append(String(value, radix: 16))
      }
    }
    #expect(wrong == [])
    #expect(count > 30_000)
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

  /// A text that is not cut is copied in runs, one that may be cut glyph by glyph.
  @Test("a whole text is what its glyphs are, whatever stands side by side")
  func runs() {
    let scalars: [Unicode.Scalar] = [
      "a", " ", "1", "é", "\u{AD}", "\u{301}", "\u{200D}", "\u{FE0F}", "👩", "❤", "日", "가",
      "\u{1160}",
      "\u{3099}", "か", "\u{202E}", "\n", "\r", "\0", "я", "\u{483}", "’", "‼", "〰", "\u{302A}",
      "\u{20E3}", "\u{1F1E6}",
    ]
    var different: [String] = []
    for first in scalars {
      for second in scalars {
        for third in scalars {
          let text = String(String.UnicodeScalarView([first, second, third, "x", second]))
          if Array(Sanitize.text(text).utf8) != Array(Sanitize.text(text, limit: 1000).utf8) {
            different.append(text)
          }
        }
      }
    }
    #expect(different.isEmpty)
    let marks = "é" + String(repeating: "\u{301}", count: 400) + "tail"
    #expect(Sanitize.text(marks) == Sanitize.text(marks, limit: 1000))
    #expect(Sanitize.text(marks).hasSuffix("…"))
  }

  @Test("ten megabytes of marks on one letter are given up soon")
  func marks() {
    var scalars = String.UnicodeScalarView("a".unicodeScalars)
    for _ in 0..<5_000_000 { scalars.append("\u{301}") }
    let text = String(scalars)
    var grid = Grid(width: 10, height: 1)
    let time = ProcessorTime.seconds(limit: 0.05) { grid.write(text, at: Point(x: 0, y: 0)) }
    #expect(time < 0.05)
    #expect(grid.row(0) == "a\u{301}\u{301}\u{301}\u{301}…")
  }
}

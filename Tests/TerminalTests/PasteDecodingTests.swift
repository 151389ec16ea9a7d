import Terminal
import Testing

@Suite("Bracketed pastes")
struct PasteDecodingTests {
  private let start = ContinuousClock.now

  private func keys(_ text: String, _ decoding: inout PasteDecoding) -> [Key] {
    text.unicodeScalars.compactMap { decoding.take($0, at: start) }
  }

  @Test("the mark of the end ends it, however many pieces it comes in")
  func end() {
    var decoding = PasteDecoding()
    #expect(!decoding.isOpen)
    decoding.begin(at: start)
    #expect(keys("two\rlines\u{1B}[20", &decoding) == [] && decoding.isOpen)
    #expect(keys("1~", &decoding) == [.paste("two\nlines")] && !decoding.isOpen)
    decoding.begin(at: start)
    #expect(keys("x", &decoding) == [])
    #expect(decoding.finish() == .paste("x") && !decoding.isOpen)
  }

  @Test("what only begins like the mark is text")
  func nearly() {
    var decoding = PasteDecoding()
    decoding.begin(at: start)
    #expect(
      keys("a\u{1B}[20b\u{1B}\u{1B}[200~c\u{1B}[\u{1B}[201~", &decoding)
        == [.paste("a\u{1B}[20b\u{1B}\u{1B}[200~c\u{1B}[")])
  }

  @Test("^C within it is text, unless nothing came for a while: then the end got lost")
  func lost() {
    var decoding = PasteDecoding()
    decoding.begin(at: start)
    #expect(keys("a\u{3}b", &decoding) == [] && decoding.isOpen)
    let later = start + PasteDecoding.patience
    #expect(decoding.take("\u{3}", at: later) == .control("c") && !decoding.isOpen)
  }

  @Test("a book is cut, and its end is found all the same")
  func long() {
    var decoding = PasteDecoding()
    decoding.begin(at: start)
    for _ in 0..<(PasteDecoding.limit + 10) { _ = decoding.take("x", at: start) }
    guard case .paste(let text)? = keys("\u{1B}[201~", &decoding).first else {
      Issue.record("the paste did not end")
      return
    }
    #expect(text.utf8.count == PasteDecoding.limit && !decoding.isOpen)
  }
}

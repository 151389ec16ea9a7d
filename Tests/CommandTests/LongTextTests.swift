import JSON
import ManagedModel
import Terminal
import Testing

@testable import Commands

@Suite("Long texts")
struct LongTextTests {
  @Test("lines end where characters that are line feeds stand")
  func lines() {
    for text in [
      "", "a", "\n", "a\nb", "\n\na\n", "a\r\nb", "\r\n", "\r\r\n\n", "a\n\u{301}b", "é\n日本\n",
      "a\u{2028}b\u{85}c",
    ] {
      #expect(
        ByteText.lines(text)
          == text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }
  }

  @Test("what JSON escapes and messages make visible has a stand-in on the screen")
  func standIns() {
    for value in UInt32(0)...0x30FF {
      guard let scalar = Unicode.Scalar(value), scalar.isObeyed else { continue }
      #expect(Sanitize.standIn(for: scalar) != nil, "\(value)")
    }
  }

  /// A call of the system for each line of a megabyte took longer than all else.
  @Test("the lines of a value are written at once, as they would be one by one")
  func writes() {
    var writes: [[UInt8]] = []
    let console = Console(
      isTerminal: false, width: 80, environment: { _ in nil }, out: { writes.append($0) },
      err: { _ in })
    let texts = ["a", "", "b\u{1B}c"]
    console.lines(texts)
    #expect(writes.count == 1)
    let together = writes.flatMap { $0 }
    writes = []
    for text in texts { console.line(text) }
    #expect(writes.count == 3)
    #expect(writes.flatMap { $0 } == together)
  }
}

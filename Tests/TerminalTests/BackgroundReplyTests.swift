import Terminal
import Testing

@Suite("The terminal's answer about its background")
struct BackgroundReplyTests {
  private func reply(_ text: String) -> BackgroundReply { BackgroundReply(Array(text.utf8)) }

  @Test(
    "light and dark are told apart in every form of the answer",
    arguments: [
      ("\u{1B}]11;rgb:ffff/ffff/ffff\u{07}", true), ("\u{1B}]11;rgb:fd/f6/e3\u{1B}\\", true),
      ("\u{1B}]11;rgb:0000/0000/0000\u{07}", false), ("\u{1B}]11;rgba:1/2/3/f\u{07}", false),
      ("\u{1B}]11;#fafafa\u{07}", true), ("\u{1B}]11;rgb:2828/2c2c/3434\u{1B}\\", false),
      ("\u{1B}]11;mauve\u{07}", nil), ("\u{1B}]11;rgb:1/2\u{07}", nil),
      ("\u{1B}]11;rgb:fffff/0/0\u{07}", nil), ("", nil),
    ])
  func light(text: String, isLight: Bool?) {
    #expect(reply(text).isLight == isLight)
    #expect(reply(text).typed.isEmpty)
  }

  @Test("what was typed in between is kept, and no answer is")
  func typed() {
    let reply = reply("j\u{1B}[B\u{1B}]11;rgb:0/0/0\u{07}é\u{1B}[?62;22;52cG\u{1B}")
    #expect(reply.background == .rgb(0, 0, 0))
    #expect(reply.isComplete)
    #expect(String(decoding: reply.typed, as: UTF8.self) == "j\u{1B}[BéG\u{1B}")
  }

  @Test(
    "half an answer is neither an answer nor lost",
    arguments: ["\u{1B}]11;rgb:00", "\u{1B}]11;rgb:00/00/00\u{1B}", "\u{1B}[?62;", "\u{1B}]"])
  func half(text: String) {
    #expect(!reply(text).isComplete)
    #expect(reply(text).isLight == nil)
    #expect(reply(text).typed == Array(text.utf8))
  }

  @Test("a terminal that only knows its kind ends the wait")
  func sentinel() {
    #expect(reply("\u{1B}[?1;2c").isComplete)
    #expect(reply("\u{1B}[?1;2c").isLight == nil)
  }
}

import Testing

@testable import Commands
@testable import strata

@Suite("Copying inside tmux")
struct TmuxClipboardTests {
  /// What is said, and the words that tmux was run with.
  private static func send(
    setting: String?, loads: Int32 = 0
  ) -> (advice: String?, words: [[String]]) {
    var all: [[String]] = []
    let advice = TmuxClipboard.send("text") { words, input in
      all.append(words)
      guard words.first == "load-buffer" else { return setting.map { (0, $0 + "\n") } }
      return input == Array("text".utf8) ? (loads, "") : nil
    }
    return (advice, all)
  }

  @Test("tmux's own command takes the text where a program's sequence is dropped")
  func external() {
    let sent = Self.send(setting: "external")
    #expect(sent.advice == nil && sent.words.last == ["load-buffer", "-w", "-"])
  }

  @Test("where tmux passes the sequence on, or does not say, nothing more is done")
  func passed() {
    for setting in ["on", nil] {
      let sent = Self.send(setting: setting)
      #expect(sent.advice == nil && sent.words.count == 1)
    }
  }

  @Test("where nothing arrives, that is said, with what to set")
  func refused() {
    let off = Self.send(setting: "off")
    #expect(off.advice?.hasSuffix("tmux set -g set-clipboard external") == true)
    #expect(off.words.count == 1)
    let old = Self.send(setting: "external", loads: 1)
    #expect(old.advice?.hasSuffix("tmux set -g set-clipboard on") == true)
  }
}

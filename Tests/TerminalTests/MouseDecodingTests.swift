import Terminal
import Testing

@Suite("Reports of the mouse")
struct MouseDecodingTests {
  private let start = ContinuousClock.now

  @Test(
    "presses, releases and the wheel, with Shift and Control too",
    arguments: [
      ("0;5;3M", Key.mouse(.press, x: 4, y: 2)), ("64;1;1M", .mouse(.scrollUp, x: 0, y: 0)),
      ("65;200;90M", .mouse(.scrollDown, x: 199, y: 89)),
      ("20;5;3M", .mouse(.press, x: 4, y: 2)), ("0;5;3m", .mouse(.release, x: 4, y: 2)),
    ])
  func reports(report: String, key: Key) {
    var decoding = MouseDecoding()
    #expect(decoding.key(report: report, at: start) == key)
  }

  @Test(
    "what is no report of ours is no key",
    arguments: ["", "M", "0;5M", "a;b;cM", "0;0;0M", "2;5;3M", "35;5;3M", "0;5;3R", "0;-4;3M"])
  func wrong(report: String) {
    var decoding = MouseDecoding()
    #expect(decoding.key(report: report, at: start) == nil)
  }

  @Test("two presses on one cell within 400 ms are a double click, a third is none")
  func double() {
    var decoding = MouseDecoding()
    let keys = [0, 200, 300, 900].map { milliseconds in
      decoding.key(report: "0;5;3M", at: start + .milliseconds(milliseconds))
    }
    #expect(
      keys == [
        .mouse(.press, x: 4, y: 2), .mouse(.doubleClick, x: 4, y: 2), .mouse(.press, x: 4, y: 2),
        .mouse(.press, x: 4, y: 2),
      ])
  }

  @Test("motion is a drag only while the button is held")
  func drag() {
    var decoding = MouseDecoding()
    #expect(decoding.key(report: "32;5;3M", at: start) == nil)
    _ = decoding.key(report: "0;5;3M", at: start)
    #expect(decoding.key(report: "32;9;3M", at: start) == .mouse(.drag, x: 8, y: 2))
    _ = decoding.key(report: "0;9;3m", at: start)
    #expect(decoding.key(report: "32;9;4M", at: start) == nil)
  }

  @Test("terminals of old report in three characters")
  func old() {
    var decoding = MouseDecoding()
    #expect(decoding.key(old: [" ", "%", "#"], at: start) == .mouse(.press, x: 4, y: 2))
    #expect(decoding.key(old: ["#", "%", "#"], at: start) == .mouse(.release, x: 4, y: 2))
    #expect(decoding.key(old: ["`", "%", "#"], at: start) == .mouse(.scrollUp, x: 4, y: 2))
    #expect(decoding.key(old: ["\u{1}", "%", "#"], at: start) == nil)
    #expect(decoding.key(old: [" "], at: start) == nil)
  }
}

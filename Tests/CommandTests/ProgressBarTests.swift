import Terminal
import Testing

@testable import Commands
@testable import strata

@Suite("Progress on standard error")
struct ProgressBarTests {
  /// A clock that a test turns.
  private final class Clock {
    var now = ContinuousClock.now
    func advance(milliseconds: Int) { now += .milliseconds(milliseconds) }
  }

  private final class Written { var text = "" }

  private func console(
    _ written: Written, terminal: Bool = true, term: String = "xterm", width: Int = 80
  ) -> Console {
    Console(
      isErrorTerminal: terminal, errorWidth: { width }, environment: { $0 == "TERM" ? term : nil },
      out: { _ in }, err: { written.text += String(decoding: $0, as: UTF8.self) })
  }

  @Test("it comes after 400 ms, ten times a second at most, and is gone in the end")
  func timing() {
    let (written, clock) = (Written(), Clock())
    let bar = ProgressBar(console(written), clock: { clock.now })
    clock.advance(milliseconds: 390)
    bar.show("dump", 10, of: 100, "objects")
    #expect(written.text == "")
    clock.advance(milliseconds: 110)
    bar.show("dump", 50, of: 100, "objects")
    let once = written.text
    #expect(once.hasPrefix("\r\u{1B}[Kdump  ███████████████░░░░░"))
    #expect(once.hasSuffix("50 %  50 of 100 objects  100/s  0:01 left"))
    clock.advance(milliseconds: 90)
    bar.show("dump", 60, of: 100, "objects")
    #expect(written.text == once)
    bar.clear()
    #expect(written.text == once + "\r\u{1B}[K")
    bar.clear()
    #expect(written.text == once + "\r\u{1B}[K")
  }

  @Test(
    "a pipe and a dumb terminal get none", arguments: [(false, "xterm"), (true, "dumb")])
  func none(terminal: Bool, term: String) {
    let (written, clock) = (Written(), Clock())
    let bar = ProgressBar(
      console(written, terminal: terminal, term: term), clock: { clock.now })
    clock.advance(milliseconds: 5000)
    bar.show("dump", 50, of: 100, "objects")
    bar.clear()
    #expect(!bar.isVisible && written.text == "")
  }

  @Test(
    "what does not fit is left out, what matters least first",
    arguments: [
      (80, "Recipe  ████████████░░░░░░░░  61 %  26,112 of 48,211  61,300/s  0:07 left"),
      (60, "Recipe  ███████████░░░░░░░░  61 %  61,300/s  0:07 left"),
      (40, "Recipe  ███████░░░░░  61 %  0:07 left"), (26, "Recipe  61 %  0:07 left"),
      (13, "Recipe  61 %"), (4, "Rec…"), (1, "…"),
    ])
  func widths(width: Int, line: String) {
    let work = ProgressBar.Work(
      title: "Recipe", fraction: 0.61, done: "26,112 of 48,211", rate: "61,300/s", remaining: 6.2)
    let text = ProgressBar.line(work, width: width)
    #expect(TextWidth.of(text) <= width)
    #expect(text.filter { !"█▏▎▍▌▋▊▉░".contains($0) } == line.filter { !"█░".contains($0) })
  }

  @Test("where nobody knows how much there is, there is no bar and no time left")
  func unknown() {
    let work = ProgressBar.counted("rows", 1_500_000, of: nil, "rows", seconds: 3)
    #expect(ProgressBar.line(work, width: 80) == "rows  1,500,000 rows  500,000/s")
    #expect(ProgressBar.counted("rows", 0, of: 0, "rows", seconds: 0).fraction == nil)
  }

  @Test(
    "times are told as clocks do", arguments: [(0.2, "0:01"), (75, "1:15"), (7500, "2:05:00")])
  func times(seconds: Double, text: String) {
    let work = ProgressBar.Work(title: "x", fraction: 0.5, remaining: seconds)
    #expect(ProgressBar.line(work, width: 80).hasSuffix("50 %  \(text) left"))
  }
}

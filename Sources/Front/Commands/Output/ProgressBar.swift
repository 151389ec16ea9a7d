import Dispatch
import ManagedModel
import Synchronization
import Terminal

/// A line at the foot of a terminal that says how far long work is.
///
/// It comes once the work has taken a while, is rewritten at most ten times a second, and is gone in
/// the end. It is drawn on a terminal only.
final class ProgressBar {
  /// How far some work is.
  struct Work: Equatable {
    var title: String
    /// 0 to 1; `nil` where nobody knows how much there is.
    var fraction: Double?
    /// What is done, in words: `26,112 of 48,211 objects`.
    var done = ""
    /// How fast, in words: `61,300/s`.
    var rate = ""
    /// Seconds left.
    var remaining: Double?
  }

  private static let patience = Duration.milliseconds(400)
  private static let interval = Duration.milliseconds(100)

  private let console: Console
  private let clock: () -> ContinuousClock.Instant
  private let start: ContinuousClock.Instant
  private var last: ContinuousClock.Instant?

  init(_ console: Console, clock: @escaping () -> ContinuousClock.Instant = { .now }) {
    self.console = console
    self.clock = clock
    start = clock()
  }

  /// Shows how far `body` is, which reports it as a fraction; the line is gone when it returns.
  static func during<T>(
    _ title: String, on console: Console, _ body: (@escaping (Double) -> Void) throws -> T
  ) rethrows -> T {
    let bar = ProgressBar(console)
    defer { bar.clear() }
    return try body { bar.show(Work(title: title, fraction: $0)) }
  }

  /// Whether anyone would see it: what it costs to know the total can be spared otherwise.
  var isVisible: Bool { console.isErrorTerminal }

  func show(_ work: @autoclosure () -> Work) {
    guard isVisible else { return }
    let now = clock()
    guard now - start >= Self.patience, last.map({ now - $0 >= Self.interval }) ?? true else {
      return
    }
    last = now
    console.rewrite(Self.line(work(), width: console.progressWidth))
  }

  /// Counted work: the rate and the time left follow from the time that has passed.
  func show(_ title: String, _ done: Int, of total: Int?, _ noun: String) {
    show(Self.counted(title, done, of: total, noun, seconds: (clock() - start) / .seconds(1)))
  }

  static func counted(
    _ title: String, _ done: Int, of total: Int?, _ noun: String, seconds: Double
  ) -> Work {
    let rate = seconds > 0 ? Double(done) / seconds : 0
    var work = Work(title: title)
    work.done =
      total.map { "\(NumberText.grouped(done)) of \(NumberText.grouped($0)) \(noun)" }
      ?? "\(NumberText.grouped(done)) \(noun)"
    work.rate = rate >= 1 ? NumberText.grouped(Int(min(rate, 1e15))) + "/s" : ""
    if let total, total > 0 {
      work.fraction = min(1, Double(done) / Double(total))
      work.remaining = rate > 0 ? Double(max(0, total - done)) / rate : nil
    }
    return work
  }

  /// Takes the line away; more may follow.
  func clear() {
    if last != nil { console.rewrite("") }
    last = nil
  }

  /// What fits: what matters least is left out first.
  static func line(_ work: Work, width: Int) -> String {
    let percent = work.fraction.map { "\(Int(($0 * 100).rounded(.down))) %" } ?? ""
    let left = work.remaining.map { time($0) + " left" } ?? ""
    for (isFull, parts) in [
      (true, [work.done, work.rate, left]), (true, [work.rate, left]), (true, [left]),
      (false, [left]), (false, []),
    ] {
      let rest = [percent] + parts
      let text = ([work.title] + rest).filter { !$0.isEmpty }.joined(separator: "  ")
      guard let fraction = work.fraction, isFull else {
        if TextWidth.of(text) <= width { return text }
        continue
      }
      let room = width - TextWidth.of(text) - 2
      guard room >= 10 else { continue }
      let cells = min(room, 30)
      let filled = Gauge(fraction).bar(width: cells)
      let bar = filled + String(repeating: "░", count: cells - filled.count)
      return ([work.title, bar] + rest).filter { !$0.isEmpty }.joined(separator: "  ")
    }
    return Sanitize.text(work.title, limit: width)
  }

  /// `0:07`, `12:30`, `2:05:00`.
  private static func time(_ seconds: Double) -> String {
    let whole = Int(min(max(0, seconds), 1e8).rounded(.up))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (minutes, rest) = (whole / 60, two(whole % 60))
    return minutes < 60 ? "\(minutes):\(rest)" : "\(minutes / 60):\(two(minutes % 60)):\(rest)"
  }
}

/// Shows on a terminal what takes so long, while a call that reports nothing is under way.
package enum Waiting {
  /// When it is reported what takes so long.
  private static let patience = Duration.milliseconds(400)

  /// What is known of the answer before it is there.
  package struct Draft {
    fileprivate let foot: Foot?
    fileprivate let console: Console

    /// Shows what `body` writes, in place of what was shown before; it is gone when the answer is there.
    func show(_ body: (Console) -> Void) {
      guard let foot else { return }
      foot.change { $0.draft = console.lines(of: body) }
    }

    /// Takes the lines away while something else is at the foot of the terminal, or shows them again.
    func pause(_ isPaused: Bool) { foot?.change { $0.isPaused = isPaused } }
  }

  /// The last lines of the terminal.
  final class Foot: Sendable {
    struct State {
      var isOver = false
      var isDue = false
      var isPaused = false
      var draft: [String] = []
      var text: String?
      var shown: [String] = []

      func lines(of height: Int) -> [String] {
        guard isDue, !isOver, !isPaused else { return [] }
        let room = max(0, height - (text == nil ? 1 : 2))
        let cut =
          draft.count <= room
          ? draft[...] : room == 0 ? [] : draft.prefix(room - 1) + ["…"]
        return cut + [text].compactMap { $0 }
      }
    }
    private let state = Mutex(State())

    /// Changes what is to be seen, and the terminal where it is another.
    func change(_ body: (inout State) -> Void) {
      state.withLock { state in
        guard !state.isOver else { return }
        body(&state)
        let lines = state.lines(of: Output.errorHeight ?? 24)
        guard lines != state.shown else { return }
        Console.rewriteProcessLines(lines, over: state.shown.count)
        state.shown = lines
      }
    }
  }

  /// Runs `body`; what it is about is shown after a while, and is gone when it returns.
  package static func tell<T>(
    _ what: String, on console: Console, _ body: () throws -> T
  ) rethrows -> T {
    try tell(what, on: console) { _ in try body() }
  }

  /// The same for a body that can say what it knows so far.
  static func tell<T>(
    _ what: String, on console: Console, _ body: (Draft) throws -> T
  ) rethrows -> T {
    guard console.isErrorTerminal else { return try body(Draft(foot: nil, console: console)) }
    let width = console.progressWidth
    let foot = Foot()
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "strata.waiting"))
    let start = ContinuousClock.now
    // What is known at once is shown soon, and not so soon that what is done by then flickers.
    timer.schedule(deadline: .now() + .milliseconds(40), repeating: .milliseconds(120))
    timer.setEventHandler { @Sendable in
      let time = ContinuousClock.now - start
      let seconds = Int(time / .seconds(1))
      foot.change {
        $0.isDue = true
        guard time >= patience else { return }
        $0.text = Sanitize.text(what + " …" + (seconds > 0 ? "  \(seconds) s" : ""), limit: width)
      }
    }
    timer.resume()
    defer {
      timer.cancel()
      foot.change { $0.isOver = true }
    }
    return try body(Draft(foot: foot, console: console))
  }
}

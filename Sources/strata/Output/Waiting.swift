import Dispatch
import Synchronization
import Terminal

/// Tells on a terminal what takes so long, while a call that reports nothing is under way.
enum Waiting {
  /// When it is told what takes so long.
  private static let patience = Duration.milliseconds(400)

  /// What is known of the answer before it is there.
  struct Draft {
    fileprivate let foot: Foot?
    fileprivate let console: Console

    /// Shows what `body` writes, in place of what was shown before; it is gone when the answer is there.
    func show(_ body: (Console) -> Void) {
      guard let foot else { return }
      foot.change { $0.draft = console.lines(of: body) }
    }
  }

  /// The last lines of the terminal.
  final class Foot: Sendable {
    struct State {
      var isOver = false
      var isDue = false
      var draft: [String] = []
      var text: String?
      var shown: [String] = []

      func lines(of height: Int) -> [String] {
        guard isDue, !isOver else { return [] }
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
  static func tell<T>(_ what: String, on console: Console, _ body: () throws -> T) rethrows -> T {
    try tell(what, on: console) { _ in try body() }
  }

  /// The same for a body that can tell what it knows so far.
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

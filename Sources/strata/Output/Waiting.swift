import Dispatch
import Synchronization

/// Tells on a terminal what takes so long, while a call that reports nothing is under way.
enum Waiting {
  private final class Line: Sendable {
    private struct State {
      var isOver = false
      var isShown = false
    }
    private let state = Mutex(State())
    private let rewrite: @Sendable (String) -> Void

    init(rewrite: @escaping @Sendable (String) -> Void) { self.rewrite = rewrite }

    func show(_ text: String) {
      state.withLock { state in
        guard !state.isOver else { return }
        state.isShown = true
        rewrite(text)
      }
    }

    func finish() {
      state.withLock { state in
        state.isOver = true
        if state.isShown { rewrite("") }
      }
    }
  }

  /// Runs `body`; what it is about is shown after a while, and is gone when it returns.
  static func tell<T>(_ what: String, on console: Console, _ body: () throws -> T) rethrows -> T {
    guard console.isErrorTerminal else { return try body() }
    let width = console.progressWidth
    let line = Line(rewrite: { Console.rewriteProcessLine($0, width: width) })
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "strata.waiting"))
    let start = ContinuousClock.now
    timer.schedule(deadline: .now() + .milliseconds(400), repeating: .seconds(1))
    timer.setEventHandler { @Sendable in
      let seconds = Int((ContinuousClock.now - start) / .seconds(1))
      line.show(what + " …" + (seconds > 0 ? "  \(seconds) s" : ""))
    }
    timer.resume()
    defer {
      timer.cancel()
      line.finish()
    }
    return try body()
  }
}

import Dispatch
import Synchronization

/// What a long piece of work is at, said again each second with the seconds that all of it has taken.
enum SecondsCount {
  private final class State: Sendable {
    let doing: Mutex<String>
    let start = ContinuousClock.now

    init(_ what: String) { doing = Mutex(what) }

    /// `merging links`, from the first second on `merging links  3 s`.
    var text: String {
      let seconds = Int((ContinuousClock.now - start) / .seconds(1))
      return doing.withLock { $0 } + (seconds > 0 ? "  \(seconds) s" : "")
    }
  }

  /// Runs `body`, which says what comes next.
  ///
  /// - Parameters:
  ///   - what: what it is at first.
  ///   - post: takes each text, on any thread; none comes after the work.
  static func run<T>(
    _ what: String, post: @escaping @Sendable (String) -> Void,
    _ body: (_ next: @escaping @Sendable (String) -> Void) throws -> T
  ) rethrows -> T {
    let state = State(what)
    let queue = DispatchQueue(label: "strata.seconds")
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
    timer.setEventHandler { @Sendable in post(state.text) }
    timer.resume()
    defer {
      timer.cancel()
      queue.sync {}
    }
    return try body { next in
      state.doing.withLock { $0 = next }
      post(state.text)
    }
  }
}

import Dispatch
import Files
import Synchronization

/// Synchronous work on several things at once; what it shows arrives on the caller's thread.
enum BatchWork {
  /// What `--jobs` asks for, at most two for each processor; as many as there are of these without it.
  ///
  /// Each holds a store open with its caches: more of them would be no faster, and could take all
  /// memory.
  static func jobs(_ arguments: Arguments) -> Int {
    let processors = Processors.shared.count
    return min(arguments[.jobs] ?? processors, 2 * processors)
  }

  /// Works on all items, at most `jobs` at a time, and returns when all are done.
  ///
  /// - Parameters:
  ///   - work: runs on another thread; what it sends is handled in the order sent.
  ///   - handle: runs on this thread, with the item's place.
  static func run<Item: Sendable, Event: Sendable>(
    _ items: [Item], jobs: Int,
    work: @escaping @Sendable (Item, _ send: @escaping (Event) -> Void) -> Void,
    handle: (Int, Event) -> Void
  ) {
    let state = State<Event>()
    let arrived = DispatchSemaphore(value: 0)
    let workers = max(1, min(jobs, items.count))
    Processors.shared.run(jobs: workers) {
      while let index = state.take(below: items.count) {
        work(items[index]) { event in
          state.post(index, event)
          arrived.signal()
        }
      }
      state.finish()
      arrived.signal()
    }
    while true {
      arrived.wait()
      for (index, event) in state.events() { handle(index, event) }
      if state.isFinished(workers) { return }
    }
  }

  private final class State<Event: Sendable>: Sendable {
    private struct Values {
      var next = 0
      var finished = 0
      var events: [(Int, Event)] = []
    }
    private let values = Mutex(Values())

    func take(below count: Int) -> Int? {
      values.withLock { values in
        guard values.next < count else { return nil }
        defer { values.next += 1 }
        return values.next
      }
    }

    func post(_ index: Int, _ event: Event) { values.withLock { $0.events.append((index, event)) } }

    func finish() { values.withLock { $0.finished += 1 } }

    func events() -> [(Int, Event)] {
      values.withLock { values in
        defer { values.events.removeAll() }
        return values.events
      }
    }

    /// Whether nothing more can come: all workers are done, and all they sent was taken.
    func isFinished(_ workers: Int) -> Bool {
      values.withLock { $0.finished == workers && $0.events.isEmpty }
    }
  }
}

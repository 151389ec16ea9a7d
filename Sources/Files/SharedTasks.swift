import Dispatch
import Synchronization

/// Tasks, numbered from 0, that are shared by two threads: one of its own begins with them, where a
/// processor has nothing else to do, and whoever waits for what they find helps with those that are left.
package final class SharedTasks: Sendable {
  /// How many there are.
  package let count: Int
  private let next = Atomic<Int>(0)
  private let stopped = Atomic<Bool>(false)
  private let helped = Atomic<Bool>(false)
  private let helper = DispatchGroup()

  package init(count: Int) { self.count = count }

  /// Begins.
  ///
  /// - Parameter work: takes tasks until none is left.
  package func begin(on processors: Processors = .shared, _ work: @escaping @Sendable () -> Void) {
    helped.store(processors.help(in: helper, work), ordering: .relaxed)
  }

  /// Whether there is a thread of its own.
  package var isHelped: Bool { helped.load(ordering: .relaxed) }

  /// The next task; `nil` where none is left.
  package func take() -> Int? {
    guard !isStopped else { return nil }
    let task = next.add(1, ordering: .relaxed).oldValue
    return task < count ? task : nil
  }

  /// Drops the tasks that nobody has taken; the result is no longer needed.
  package func stop() { stopped.store(true, ordering: .relaxed) }

  package var isStopped: Bool { stopped.load(ordering: .relaxed) }

  /// Waits until the thread of its own is done.
  ///
  /// - Parameter meanwhile: called now and then.
  package func wait(meanwhile: () -> Void = {}) {
    while helper.wait(timeout: .now() + .milliseconds(20)) == .timedOut { meanwhile() }
  }
}

import Dispatch
import Synchronization
import Values

/// The processors that this process may keep busy: the one place that says whether another thread would
/// help.
///
/// Jobs that go on side by side are counted, and so is every thread that helps with one of them. Where all
/// processors have something to do, whoever asks for help does the work alone, which is then no slower.
package final class Processors: Sendable {
  /// Those of this machine; the thread that a program begins with keeps one of them busy.
  package static let shared = Processors(count: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

  package let count: Int
  private let busy = Atomic<Int>(1)

  package init(count: Int) { self.count = count }

  /// Runs `jobs` jobs at once, each in a thread of its own; the caller may wait for them meanwhile.
  ///
  /// Threads of a concurrent queue, and of the global ones, are as many as there are processors, also where
  /// some of them only wait; another one comes after a second. A serial queue has its thread at once.
  package func run(jobs: Int, _ job: @escaping @Sendable () -> Void) {
    busy.add(jobs, ordering: .sequentiallyConsistent)
    // The caller has nothing else to do; its place is taken again when the last job ends.
    busy.subtract(1, ordering: .sequentiallyConsistent)
    let left = Counter(jobs)
    for _ in 0..<jobs {
      Self.begin { [self] in
        job()
        let isLast = left.value.subtract(1, ordering: .sequentiallyConsistent).newValue == 0
        if !isLast { busy.subtract(1, ordering: .sequentiallyConsistent) }
      }
    }
  }

  /// Begins `work` in a thread of its own, where a processor has nothing to do.
  ///
  /// - Returns: whether it was begun.
  package func help(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard busy.add(1, ordering: .sequentiallyConsistent).newValue <= count else {
      busy.subtract(1, ordering: .sequentiallyConsistent)
      return false
    }
    Self.begin { [self] in
      work()
      busy.subtract(1, ordering: .sequentiallyConsistent)
    }
    return true
  }

  /// The same, as part of a group, for which those wait who need what it does.
  @discardableResult
  package func help(in group: DispatchGroup, _ work: @escaping @Sendable () -> Void) -> Bool {
    group.enter()
    let isBegun = help {
      work()
      group.leave()
    }
    if !isBegun { group.leave() }
    return isBegun
  }

  /// Begins what mostly waits, such as for a disk, in a thread of its own.
  ///
  /// It is no more important than the caller's: a migration that an interface runs gives way to the keys,
  /// with all its threads.
  package static func begin(_ work: @escaping @Sendable () -> Void) {
    // @Sendable, so that the closure does not take over the caller's isolation.
    DispatchQueue(label: "strata.thread", qos: importance).async { @Sendable in work() }
  }

  private static var importance: DispatchQoS {
    #if canImport(Darwin)
      let qos = DispatchQoS.QoSClass(rawValue: qos_class_self()) ?? .default
      return DispatchQoS(qosClass: qos, relativePriority: 0)
    #else
      // Linux keeps it a thread, and a thread of work that can wait has a number above 0.
      return getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) > 0 ? .utility : .default
    #endif
  }

  private final class Counter: Sendable {
    let value: Atomic<Int>
    init(_ value: Int) { self.value = Atomic(value) }
  }
}

import Dispatch
import Synchronization

/// A result that is made in a thread of its own, while something else is done.
package final class EarlyResult<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>>(.failure(CancellationError()))
  private let isStopped = Atomic<Bool>(false)
  private let done = DispatchGroup()

  /// Begins.
  ///
  /// - Parameter make: may ask now and then whether the result is still of interest.
  package init(_ make: @escaping @Sendable (_ isStopped: @escaping () -> Bool) throws -> Value) {
    done.enter()
    Processors.begin { [self] in
      let made = Result { try make { self.isStopped.load(ordering: .relaxed) } }
      result.withLock { $0 = made }
      done.leave()
    }
  }

  /// Ends it early: the result is no longer needed.
  package func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Waits until it is made.
  ///
  /// - Throws: what making it threw.
  package func wait() throws -> Value {
    done.wait()
    return try result.withLock(\.self).get()
  }

  /// The same without keeping a thread from others; where the task is cancelled, it is stopped.
  package func value() async throws -> Value {
    await withTaskCancellationHandler {
      await withCheckedContinuation { ready in done.notify(queue: .global()) { ready.resume() } }
    } onCancel: {
      stop()
    }
    return try wait()
  }
}

/// A file that is brought to the disk while something else is done with it that does not write to it.
///
/// The disk reports an error only once: ``EarlyResult/wait()`` throws it.
package typealias EarlySync = EarlyResult<Void>

extension EarlyResult<Void> {
  /// Begins.
  package convenience init(of path: String) { self.init { _ in try FileSystem.sync(path) } }
}

/// SHA-256 of a file, with what the file was then.
package struct FileSum: Sendable {
  fileprivate let file: FileSnapshot?
  fileprivate let sum: String
}

/// The sum of a file that is read while something else is done that only reads it, too.
///
/// Until ``EarlyResult/wait()`` returns the file is open. Closing it ends every lock that this process has
/// on it.
package typealias EarlySum = EarlyResult<FileSum>

extension EarlyResult<FileSum> {
  /// Begins.
  package convenience init(of path: String) {
    self.init {
      try FileSum(file: FileSnapshot(of: path), sum: FileSystem.sha256(path, unless: $0))
    }
  }

  /// The sum, in hexadecimal, of what has this name now; `nil` where that is not the file that was read,
  /// as it was then.
  package func sum(of path: String) -> String? {
    guard let found = try? wait(), let file = found.file, file == FileSnapshot(of: path) else {
      return nil
    }
    return found.sum
  }
}

/// Tasks, numbered from 0, that are shared by two threads: one of its own begins with them, where a
/// processor has nothing else to do, and the thread that waits for their results helps with those that are left.
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

/// The processors that this process may keep busy: the one place that says whether another thread would
/// help.
///
/// Jobs that go on side by side are counted, and so is every thread that helps with one of them. Where all
/// processors have something to do, the thread that asks for help does the work alone, which is then no slower.
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

import Dispatch

/// Runs an actor on a queue of its own, so that a long statement of SQLite's blocks no thread that
/// other tasks wait for.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(_ label: String) {
    queue = DispatchQueue(label: label)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { @Sendable in job.runSynchronously(on: executor) }
  }
}

import Dispatch
import Synchronization
import Values

/// SHA-256 of a file, in a thread of its own while something else is done that only reads it.
package final class EarlySum: Sendable {
  private struct Found {
    var file: FileSnapshot
    var sum: String
  }

  private let found = Mutex<Found?>(nil)
  private let isStopped = Atomic<Bool>(false)
  private let done = DispatchSemaphore(value: 0)

  /// Begins.
  package init(of path: String) {
    Processors.begin { [self] in
      if let file = FileSnapshot(of: path),
        let sum = try? FileSystem.sha256(path, unless: { isStopped.load(ordering: .relaxed) })
      {
        found.withLock { $0 = Found(file: file, sum: sum) }
      }
      done.signal()
    }
  }

  /// Waits until the file is closed again; to be called once. Closing it ends every lock that this process
  /// has on it.
  package func wait() { done.wait() }

  /// Ends it early: its answer is of no interest any more.
  package func stop() { isStopped.store(true, ordering: .relaxed) }

  /// The sum, in hexadecimal, of what has this name now; `nil` where that is not the file that was read,
  /// as it was then.
  package func sum(of path: String) -> String? {
    found.withLock { $0.flatMap { $0.file == FileSnapshot(of: path) ? $0.sum : nil } }
  }
}

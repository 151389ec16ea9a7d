import Dispatch
import Synchronization
import Values

/// Brings a file to the disk in a thread of its own, while something else is done with it that does not
/// write to it.
package final class EarlySync: Sendable {
  private let error = Mutex<(any Error)?>(nil)
  private let done = DispatchSemaphore(value: 0)

  /// Begins.
  package init(of path: String) {
    Processors.begin { [self] in
      do { try FileSystem.sync(path) } catch { self.error.withLock { $0 = error } }
      done.signal()
    }
  }

  /// Waits until it is there; to be called once.
  ///
  /// - Throws: ``CoreDataError`` where it could not be brought there: the disk tells of that only once.
  package func wait() throws {
    done.wait()
    if let error = error.withLock({ $0 }) { throw error }
  }
}

import Dispatch
import ManagedStore
import SQLite
import Synchronization

/// SQLite's own integrity check of a finished file, shared by two threads.
///
/// The file's structure is one task, each table with its indexes another. A thread of its own begins
/// with them while the contents are being compared; who compares comes to help when that is done.
package final class IntegrityCheck: Sendable {
  private struct State {
    var tasks: [String]
    var problems: [String] = []
    var error: SQLiteError?
  }

  private let state: Mutex<State>
  private let isStopped = Atomic<Bool>(false)
  private let done = DispatchSemaphore(value: 0)

  /// Begins to check a file that nobody writes to.
  ///
  /// - Parameters:
  ///   - tables: names of its tables, in the order in which they are checked.
  ///   - cache: kilobytes of pages that its own connection keeps.
  ///   - isWhole: whether what no table has is checked, too: which pages are free, and that each is used.
  package init(of path: String, tables: [String], cache: Int = 6000, isWhole: Bool = true) {
    state = Mutex(
      State(
        tasks: (isWhole ? ["quick_check(5)"] : [])
          + tables.map { "integrity_check(\(quoted($0)))" }))
    // @Sendable, so that the closure does not take over the caller's isolation.
    DispatchQueue.global().async { @Sendable [self] in
      do {
        let connection = try Connection(path: path, mode: .immutable)
        try connection.execute("PRAGMA cache_size = -\(cache)")
        connection.onProgress { self.isStopped.load(ordering: .relaxed) }
        work(on: connection)
      } catch let error as SQLiteError {
        state.withLock { $0.error = error }
      } catch {
        state.withLock { $0.problems.append("\(error)") }
      }
      done.signal()
    }
  }

  /// Ends the check early; its answer is of no interest any more.
  package func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Helps with what is left, then answers what is wrong, as SQLite tells it; empty for a sound file.
  package func problems(helpedBy connection: Connection) throws -> [String] {
    work(on: connection)
    done.wait()
    return try state.withLock { state in
      if let error = state.error { throw error }
      return state.problems
    }
  }

  /// Takes one task after the other until there are none.
  private func work(on connection: Connection) {
    while !isStopped.load(ordering: .relaxed) {
      let task = state.withLock { $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() }
      guard let task else { return }
      do {
        let lines = try connection.rows("PRAGMA main.\(task)").compactMap { $0.first?.text }
        if lines != ["ok"] { state.withLock { $0.problems += lines } }
      } catch let error as SQLiteError {
        state.withLock { $0.error = error }
        stop()
      } catch {
        state.withLock { $0.problems.append("\(error)") }
      }
    }
  }
}

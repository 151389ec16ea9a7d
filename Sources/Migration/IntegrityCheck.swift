import Dispatch
import ManagedStore
import SQLite
import Synchronization

/// SQLite's own integrity check of a finished file, while its contents are being compared.
///
/// It has a connection of its own on a thread of its own: the two together take as long as the
/// longer of them.
final class IntegrityCheck: Sendable {
  private let outcome = Mutex<Result<[String], SQLiteError>?>(nil)
  private let isStopped = Atomic<Bool>(false)
  private let done = DispatchSemaphore(value: 0)

  /// Begins to check a file that nobody writes to.
  init(of path: String) {
    // @Sendable, so that the closure does not take over the caller's isolation.
    DispatchQueue.global().async { @Sendable [self] in
      let result: Result<[String], SQLiteError>
      do {
        let connection = try Connection(path: path, mode: .immutable)
        connection.onProgress { self.isStopped.load(ordering: .relaxed) }
        result = .success(
          try connection.rows("PRAGMA integrity_check(5)").compactMap { $0.first?.text })
      } catch let error as SQLiteError {
        result = .failure(error)
      } catch {
        result = .success(["\(error)"])
      }
      outcome.withLock { $0 = result }
      done.signal()
    }
  }

  /// Ends the check early; its answer is of no interest any more.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// What is wrong, as SQLite tells it; empty for a sound file. Waits, asking now and then whether to
  /// go on.
  func problems(unless shouldStop: () throws -> Void) throws -> [String] {
    while done.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
      do {
        try shouldStop()
      } catch {
        stop()
        throw error
      }
    }
    switch outcome.withLock({ $0 }) {
    case .success(let lines): return lines == ["ok"] ? [] : lines
    case .failure(let error): throw error
    case nil: return ["the check did not end"]
    }
  }
}

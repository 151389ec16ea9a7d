import Dispatch
import Synchronization
import Values

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

import Dispatch
import Files
import Interface
import Synchronization

/// Messages on their way to the loop, from whatever thread; each wakes it.
final class Mailbox: Sendable {
  private let messages = Mutex<[Message]>([])
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  /// Puts a message in; progress takes the place of progress that nobody has read yet.
  func post(_ message: Message) {
    messages.withLock { messages in
      if message.isProgress, messages.last?.isProgress == true { messages.removeLast() }
      messages.append(message)
    }
    wake()
  }

  /// Waits until the loop has taken all that was posted, a second at most.
  func waitUntilTaken(unless isCancelled: () -> Bool) {
    let end = ContinuousClock.now + .seconds(1)
    while !messages.withLock({ $0.isEmpty }), !isCancelled(), ContinuousClock.now < end {
      usleep(1000)
    }
  }

  func takeAll() -> [Message] {
    messages.withLock { messages in
      defer { messages.removeAll() }
      return messages
    }
  }
}

extension Message {
  /// Whether the next of its kind shows all that it reported.
  fileprivate var isProgress: Bool {
    switch self {
    case .answer(_, .progress), .answer(_, .rescuing): true
    default: false
    }
  }
}

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

import Dispatch
import Synchronization

/// Keeps our own readers from the store while its name changes hands.
///
/// POSIX drops all locks of a process on a file when it closes any handle on it, so that a reader of
/// ours that opens or closes the store would undo the lock of the cut-over.
final class ReaderHold: Sendable {
  private let sessions: [StoreSession]
  private let entered = DispatchSemaphore(value: 0)
  private let release = DispatchSemaphore(value: 0)
  private let isUnderWay = Atomic<Bool>(false)
  /// How long a reader may take until it is gone on without.
  private let patience: DispatchTimeInterval

  init(_ sessions: [StoreSession], patience: DispatchTimeInterval = .seconds(2)) {
    self.sessions = sessions
    self.patience = patience
  }

  /// Closes the readers and keeps what is asked of them waiting until `end`.
  ///
  /// One in the middle of something long, such as an export, stops where it is, its handle open, and
  /// goes on afterwards with the file that it began with.
  func begin() {
    for session in sessions {
      session.pause.ask(self)
      Task { await session.hold() }
    }
    let deadline = DispatchTime.now() + patience
    for _ in sessions { _ = entered.wait(timeout: deadline) }
    isUnderWay.store(true, ordering: .sequentiallyConsistent)
  }

  /// Lets them go on, whether they are held by now or not.
  func end() { for _ in sessions { release.signal() } }

  /// Whether the cut-over may have begun: nothing is to be closed any more.
  fileprivate var isLate: Bool { isUnderWay.load(ordering: .sequentiallyConsistent) }

  fileprivate func wait() {
    entered.signal()
    release.wait()
  }
}

/// Where a session's reader can be made to wait in the middle of what it does.
final class ReaderPause: Sendable {
  private let hold = Mutex<ReaderHold?>(nil)

  /// Whether a hold waits for the reader to come here.
  var isAsked: Bool { hold.withLock { $0 != nil } }

  fileprivate func ask(_ hold: ReaderHold) { self.hold.withLock { $0 = hold } }

  fileprivate func take() -> ReaderHold? {
    hold.withLock { hold in
      defer { hold = nil }
      return hold
    }
  }

  /// Waits while a hold lasts; to be called where the handle holds no lock.
  func point() { take()?.wait() }
}

extension StoreSession {
  /// Closes the handle and blocks this session's own queue, which nothing else runs on.
  ///
  /// What waited at a ``ReaderPause`` comes here after the hold: its old handle is closed then.
  func hold() {
    guard let hold = pause.take() else { return close() }
    if !hold.isLate { close() }
    hold.wait()
    close()
  }
}

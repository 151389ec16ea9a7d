import Dispatch
import Migration
import Synchronization

/// One run of the engine as a stream: progress, then the receipt.
///
/// Only the newest is kept for a reader that is slow, so the engine never waits for the screen.
final class MigrationStream: Sendable {
  enum Event: Sendable {
    case progress(MigrationProgress)
    /// With the last progress, which the receipt would overtake.
    case receipt(MigrationReceipt, last: MigrationProgress?)
  }

  /// Decides whether the verified result is put in place; `wait` blocks until a person has answered.
  typealias Confirm = @Sendable (MigrationReceipt, _ wait: () -> Bool) -> Bool

  private let isCancelled = Atomic<Bool>(false)
  private let isConfirmed = Atomic<Bool>(false)
  private let answered = DispatchSemaphore(value: 0)
  private let last = Mutex<MigrationProgress?>(nil)
  private let plan: MigrationPlan
  private let options: MigrationOptions
  private let confirm: Confirm?

  init(_ plan: MigrationPlan, options: MigrationOptions, confirm: Confirm? = nil) {
    self.plan = plan
    self.options = options
    self.confirm = confirm
  }

  /// Asks the engine to stop; the stream ends when it has.
  func cancel() {
    isCancelled.store(true, ordering: .relaxed)
    answered.signal()
  }

  /// The person's answer to what was verified.
  func answer(_ isConfirmed: Bool) {
    self.isConfirmed.store(isConfirmed, ordering: .relaxed)
    answered.signal()
  }

  /// Begins the run; to be called once.
  func events() -> AsyncThrowingStream<Event, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      // Keys come first where they ask for the same processor.
      DispatchQueue(label: "strata.migration", qos: .utility).async { @Sendable [self] in
        var options = options
        if let confirm {
          options.confirmation = { receipt in
            confirm(receipt) {
              self.answered.wait()
              return self.isConfirmed.load(ordering: .relaxed)
            }
          }
        }
        do {
          let receipt = try StoreMigration.run(
            plan, options: options,
            progress: { progress in
              self.last.withLock { $0 = progress }
              continuation.yield(.progress(progress))
            }, isCancelled: { self.isCancelled.load(ordering: .relaxed) })
          continuation.yield(.receipt(receipt, last: last.withLock { $0 }))
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
    }
  }
}

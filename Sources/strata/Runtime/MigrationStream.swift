import Dispatch
import Migration
import Synchronization

/// One run of the engine as a stream: progress, then the receipt.
///
/// Only the newest is kept for a reader that is slow, so the engine never waits for the screen.
final class MigrationStream: Sendable {
  enum Event: Sendable {
    case progress(MigrationProgress)
    case receipt(MigrationReceipt)
  }

  private let isCancelled = Atomic<Bool>(false)
  private let plan: MigrationPlan
  private let options: MigrationOptions

  init(_ plan: MigrationPlan, options: MigrationOptions) {
    self.plan = plan
    self.options = options
  }

  /// Asks the engine to stop; the stream ends when it has.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Begins the run; to be called once.
  func events() -> AsyncThrowingStream<Event, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      DispatchQueue(label: "strata.migration").async { @Sendable [self] in
        do {
          let receipt = try StoreMigration.run(
            plan, options: options, isCancelled: { self.isCancelled.load(ordering: .relaxed) },
            progress: { continuation.yield(.progress($0)) })
          continuation.yield(.receipt(receipt))
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
    }
  }
}

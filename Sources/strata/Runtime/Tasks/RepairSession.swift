import Interface
import ManagedModel
import Migration
import Rescue

/// The owner of the last repair, whose changes are kept for whoever wants them in a file.
actor RepairSession {
  private let executor = QueueExecutor("strata.repair")
  private var last: Repaired?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Repairs a store, with our own readers out of the way.
  func run(
    _ path: String, _ options: RepairOptions, _ hold: ReaderHold,
    progress: @escaping (MigrationProgress) -> Void
  ) throws -> RepairReceipt {
    last = nil
    hold.begin()
    defer { hold.end() }
    let repaired = try StoreRepair.run(
      path: path, options: options, isCancelled: { Task.isCancelled }, progress: progress)
    last = repaired
    return repaired.receipt
  }

  /// Writes the receipt with every change.
  func write(to file: ReceiptFile) throws {
    guard let last else { throw CoreDataError(.failed, "the receipt is gone") }
    try last.write(to: file)
  }
}

import ManagedModel
import ManagedStore
import Migration
import Terminal

/// Something that happened: a key, a new size, the answer to an effect.
package enum Message: Sendable {
  /// The first message of all.
  case start
  case key(Key)
  /// SIGINT or SIGTERM came from outside.
  case terminate
  case resized(Size)
  case opened(TaskID, StoreSummary)
  /// Counts of exactly each entity; they come a hierarchy at a time.
  case counted(TaskID, [String: Int])
  case rows(TaskID, RowPage)
  case object(TaskID, Inspection?)
  case countedRows(TaskID, Int)
  /// `nil` where there is no such row.
  case placed(TaskID, PlacedRows?)
  case versions(TaskID, [ModelVersion])
  case compared(TaskID, Comparison)
  case planned(TaskID, MigrationPlan)
  case progress(TaskID, MigrationProgress)
  case migrated(TaskID, MigrationReceipt)
  case failed(TaskID, CoreDataError)
}

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
  case names(TaskID, ObjectNames)
  /// `nil` where there is no such row.
  case placed(TaskID, PlacedRows?)
  case versions(TaskID, [ModelVersion])
  case compared(TaskID, Comparison)
  case planned(TaskID, MigrationPlan)
  case progress(TaskID, MigrationProgress)
  case migrated(TaskID, MigrationReceipt)
  case themes(TaskID, [ThemeChoice], hasColors: Bool)
  /// Made and verified, and not in place: a ``Effect/confirmCutover(_:_:)`` is waited for.
  case verified(TaskID, MigrationReceipt)
  case backups(TaskID, [BackupEntry])
  case rolledBack(TaskID, StoreRollback.Receipt)
  case wroteReceipt(TaskID, path: String)
  /// What an interrupted run had left and was removed, as sentences.
  case recovered([String])
  /// The store's files are not what they were when it was opened.
  case storeChanged(StoreChange)
  /// The time of day, before anything that happens in another second.
  case clock(String)
  case looked(TaskID, LookAnswer)
  // Diff and Mapping
  case impacts(TaskID, [ChangeImpact])
  case models(TaskID, [ModelVersion])
  case completions(TaskID, [String])
  case revisions(TaskID, [GitHistory.Commit])
  case statements(TaskID, [MigrationStatement])
  case written(TaskID, path: String)
  // Files
  case folder(TaskID, FolderListing)
  /// What is at some of the folder's paths; they come a few at a time.
  case peeked(TaskID, [String: StorePeek])
  case recentStores(TaskID, [RecentStore])
  case failed(TaskID, CoreDataError)
}

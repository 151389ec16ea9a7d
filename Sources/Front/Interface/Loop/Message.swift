import Lint
import ManagedModel
import ManagedStore
import Merging
import Migration
import ModelSearch
import Terminal

/// Something that happened: a key, a new size, the answer to an effect.
package enum Message: Sendable {
  /// The first message of all.
  case start
  case key(Key)
  /// SIGINT or SIGTERM came from outside.
  case terminate
  case resized(Size)
  /// An interrupted run left something beside the store that was opened.
  case leftovers(StoreLeftovers)
  /// The store's files are not what they were when it was opened.
  case storeChanged(StoreChange)
  /// What other programs saved, the oldest first.
  case saved([SeenSave])
  /// From now on it is found out what other programs save, or why that cannot be.
  case watched(CoreDataError?)
  /// Whether other programs save faster than it can be found out: what they save is listed later.
  case late(Bool)
  /// The time of day, before anything that happens in another second.
  case clock(String)
  /// Something to be said of work that no task waits for.
  case notice(Notice)
  case answer(TaskID, Answer)
  case failed(TaskID, CoreDataError)
}

/// The answer to an effect; some give several.
package enum Answer: Sendable {
  case opened(StoreSummary)
  /// Counts of exactly each entity; they come a hierarchy at a time.
  case counted([String: Int])
  case rows(RowPage)
  case object(Inspection?)
  /// `nil` where there is no such object any more.
  case value(PropertyValue?)
  /// As they were asked for; `nil` where there is no such object any more.
  case values([PropertyValue?]?)
  /// The objects that go, the one that was asked about first.
  case deletion([ObjectID])
  case countedRows(Int)
  case names(ObjectNames)
  /// `nil` where there is no such row.
  case placed(PlacedRows?)
  case versions([ModelVersion])
  case compared(Comparison)
  /// What is different in another file.
  case differs(StoreDifferences)
  /// What a comparison or a merge is at.
  case doing(String)
  case merged(MergeReport)
  /// What is known of a plan at once; it comes several times, with more counts.
  case outlined(PlanOutline)
  case planned(MigrationPlan)
  /// No plan can be made, and this is all that stands in the way.
  case refused(RefusedPlan)
  case progress(MigrationProgress)
  case migrated(MigrationReceipt)
  case themes([ThemeChoice], hasColors: Bool)
  /// Made and verified, and not in place: a ``Effect/confirmCutover(_:_:)`` is waited for.
  case verified(MigrationReceipt)
  case footprint(Footprint)
  /// What was done about what an interrupted run left, as sentences.
  case recovered([String])
  case backups([BackupEntry])
  case rolledBack(StoreRollback.Receipt)
  case wroteReceipt(path: String)
  // Rescue
  /// The store does not open at all, and this is what is wrong with it.
  case unopened(CoreDataError, StoreCondition)
  case diagnosed(StoreCondition)
  /// `nil` where the objects cannot be counted.
  case held([EntityHolding]?)
  case rescuing(RescueProgress)
  case rescued(RescueReceipt)
  case found(Remains)
  case sources([ObjectID: RecoveredRowSource])
  // Editing
  /// What a text editor left; `nil` where it is as it was.
  case editedText(String?)
  case bytes([UInt8])
  /// What writing the prepared changes would do.
  case checkedEdit(EditCheck)
  // Looking
  case facts(StoreFacts)
  /// A page of history, and the labels of the objects in it that are there.
  case transactions([HistoryEntry], labels: [ObjectID: String])
  case changes([HistoryChange], labels: [ObjectID: String])
  case frequencies(Frequencies)
  case searching(StoreSearchProgress)
  case content(StoredContent?)
  /// `nil` where the value has no form that is known.
  case decoded(DecodedText?)
  /// Where a text stands.
  case matched(Int?)
  case picture(Raster)
  case copied(String)
  case exporting(done: Int, total: Int)
  /// There is a file of that name, and nobody said that it may go.
  case fileExists
  case exported(ExportRequest, rows: Int, bytes: Int)
  // Diff and Mapping
  case impacts([ChangeImpact])
  case linted(LintComparison)
  case models([ModelVersion])
  case completions([String])
  case revisions([GitHistory.Commit])
  case statements([MigrationStatement])
  case written(path: String)
  // Files
  case folder(FolderListing)
  /// What is at some of the folder's paths; they come a few at a time.
  case peeked([String: StorePeek])
  case recentStores([RecentStore])
  /// Stores in the folder of the open one, by their names.
  case siblings([FolderListing.Entry])
  /// The folder has an encrypted backup, which waits for its password.
  case locked(LockedBackup)
  /// How far the key of a backup is derived: 0 to 1.
  case unlocking(Double)
  /// The backup is open, and these are its stores.
  case unlocked(FolderListing, [String: StorePeek])

  /// Whether nothing more comes of the same task.
  var isLast: Bool {
    switch self {
    case .counted, .outlined, .progress, .verified, .folder, .peeked, .searching, .exporting,
      .diagnosed, .rescuing, .unlocking, .doing:
      false
    default: true
    }
  }
}

/// A sentence at the foot of the screen, gone with the next key.
package struct Notice: Sendable, Equatable {
  /// How it is meant.
  package enum Kind: Sendable { case plain, success, warning }

  var text: String
  var kind: Kind
  /// The keys that it says do nothing now: it is out of date when they do.
  var refused: [Key]?

  /// Something to be said.
  package init(_ text: String, _ kind: Kind = .plain) {
    (self.text, self.kind) = (text, kind)
  }
}

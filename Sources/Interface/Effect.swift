import ManagedModel
import ManagedStore
import Migration

/// Something to be done outside: each with a task's id is answered by messages with the same.
package enum Effect: Sendable, Equatable {
  /// Opens the store, or opens it again after its file was replaced.
  case open(TaskID)
  case count(TaskID)
  case rows(TaskID, RowQuery)
  case object(TaskID, ObjectID)
  case versions(TaskID)
  case compare(TaskID, from: Model, to: Model)
  case plan(TaskID, from: String, to: ModelVersion)
  /// - confirms: whether the cut-over waits for an answer.
  case migrate(TaskID, MigrationPlan, MigrationOptions, confirms: Bool)
  /// Answers a migration that is verified and waits.
  case confirmCutover(TaskID, Bool)
  /// Looks for the backups beside the store.
  case backups(TaskID)
  case rollBack(TaskID, StoreRollback.Options)
  /// Writes a receipt as JSON; refused where a file is there, unless it is to be replaced.
  case writeReceipt(TaskID, MigrationReceipt, path: String, replaces: Bool)
  // Files
  /// Lists a folder, and then looks at what is in it.
  case folder(TaskID, String)
  case recentStores(TaskID)
  /// Goes on with the store at this path.
  case choose(String)
  case cancel(TaskID)
  /// Lists the themes there are, their files read anew.
  case themes(TaskID)
  /// Remembers the theme for the next start.
  case keepTheme(String)
  // Looking
  case look(TaskID, LookRequest)
  /// Sends a text to the terminal's clipboard.
  case copy(String)
  case repaint
  case suspend
  case quit
}

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
  case migrate(TaskID, MigrationPlan, MigrationOptions)
  case cancel(TaskID)
  /// Lists the themes there are, their files read anew.
  case themes(TaskID)
  /// Remembers the theme for the next start.
  case keepTheme(String)
  case repaint
  case suspend
  case quit
}

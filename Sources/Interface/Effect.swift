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
  // Rows
  /// Counts the rows of a query.
  case countRows(TaskID, RowQuery)
  /// Counts the rows of a query that come before a place in its order.
  case countBefore(TaskID, RowQuery, RowCursor)
  /// Reads the rows around one of a query's, wherever it is.
  case place(TaskID, RowQuery, RowPlace)
  case versions(TaskID)
  case compare(TaskID, from: Model, to: Model)
  case plan(TaskID, from: String, to: ModelVersion)
  case migrate(TaskID, MigrationPlan, MigrationOptions)
  case cancel(TaskID)
  case repaint
  case suspend
  case quit
}

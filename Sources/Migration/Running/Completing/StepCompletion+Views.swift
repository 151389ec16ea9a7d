import ManagedModel
import ManagedStore
import SQLite

/// An app's own views, of which no model speaks.
extension StepCompletion {
  /// SQLite renames no column while a view cannot be read, be it for a function of its app.
  func dropViews() throws {
    for (name, _) in try sourceViews() {
      try connection.execute("DROP VIEW IF EXISTS main.\(quoted(name))")
    }
  }

  /// Makes the source's views again, but for those over tables and columns that are gone.
  func makeViews() throws {
    var made: [String] = []
    for (name, sql) in try sourceViews() {
      try connection.create(.view, sql)
      made.append(name)
    }
    // One that goes may take others with it.
    while let broken = made.firstIndex(where: isBroken) {
      try connection.execute("DROP VIEW main.\(quoted(made.remove(at: broken)))")
    }
  }

  private func sourceViews() throws -> [(name: String, sql: String)] {
    // Through this connection, which may hold a lock on the source that is a private copy.
    try connection.rows("SELECT name, sql FROM src.sqlite_master WHERE type = 'view'").compactMap {
      row in
      guard row.count == 2, let name = row[0].text, let sql = row[1].text else { return nil }
      return (name, sql)
    }
  }

  /// One that calls a function of its app cannot be prepared here either, and yet is sound.
  private func isBroken(view name: String) -> Bool {
    do {
      _ = try connection.prepare("SELECT * FROM main.\(quoted(name))")
      return false
    } catch {
      let message = (error as? SQLiteError)?.message ?? ""
      return message.contains("no such table") || message.contains("no such column")
    }
  }
}

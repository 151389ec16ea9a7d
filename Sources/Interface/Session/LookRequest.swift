import ManagedModel
import ManagedStore
import Migration
import Terminal

/// A question about the store that is asked for a popup or the inspector.
package enum LookRequest: Sendable, Equatable {
  case facts
  /// A page of history, newest first.
  case transactions(before: Int64?)
  case changes(of: Int64, after: Int64?)
  case frequencies(entity: String, path: String, filter: RowFilter?)
  case search(String)
  case content(ObjectID, property: String, offset: Int, count: Int)
  case find(String, ObjectID, property: String, from: Int, backwards: Bool)
  case picture(ObjectID, property: String, fitting: Size)
  case copy(CopyForm, CopySubject)
  case export(ExportRequest)
}

/// The answer to a ``LookRequest``; a search and an export give several.
package enum LookAnswer: Sendable, Equatable {
  case facts(StoreFacts)
  case transactions([HistoryEntry])
  case changes(of: Int64, [HistoryChange])
  case frequencies(Frequencies)
  case searching(StoreSearchProgress)
  case content(StoredContent?)
  case found(Int?)
  case picture(Raster)
  case copied(String)
  case exporting(done: Int, total: Int)
  /// There is a file of that name, and nobody said that it may go.
  case fileExists
  case exported(ExportRequest, rows: Int, bytes: Int)
}

/// A transaction with the time that the clock on the wall showed.
package struct HistoryEntry: Sendable, Equatable {
  var transaction: HistoryTransaction
  /// `2024-03-01`
  var day: String
  /// `14:02:11`
  var time: String

  /// A transaction, with its day and its time as text.
  package init(_ transaction: HistoryTransaction, day: String, time: String) {
    self.transaction = transaction
    self.day = day
    self.time = time
  }
}

/// What a store knows of itself, read at once for the store panel.
package struct StoreFacts: Sendable, Equatable {
  /// The files that it consists of.
  package var files: [StoreFile] = []
  /// What the database’s first bytes say.
  package var header: DatabaseHeader?
  /// What Core Data keeps of it.
  package var metadata = StoreMetadata(uuid: "", values: [:])
  /// The keys that are given out, by entity.
  package var numbers: [EntityNumber] = []
  /// Files of external data, the first of them.
  package var external: [ExternalFile] = []
  /// How the files and what names them agree.
  package var externalReport = ExternalDataReport()
  /// Whether it keeps persistent history.
  package var hasHistory = false
  /// Who wrote, and how much.
  package var authors: [HistoryAuthor] = []
  /// What mirroring keeps, where it is on.
  package var cloudKit: CloudKitState?
  /// What is odd about it.
  package var warnings: [String] = []
  /// Dates as the clock on the wall shows them: those of files and of CloudKit's runs.
  package var localTimes: [Double: String] = [:]

  /// Facts to be filled in.
  package init() {}
}

/// What of a value or an object goes to the clipboard.
package enum CopyForm: String, Sendable, Equatable, CaseIterable {
  case value, json, tsv, markdown, sql, reference, uri, command
}

/// What is copied.
package enum CopySubject: Sendable, Equatable {
  case value(ObjectID, property: String)
  case object(ObjectID, columns: [String])
  case text(String)
  case receipt(MigrationReceipt)
}

/// Rows to be written to a file.
package struct ExportRequest: Sendable, Equatable {
  /// What the file is to be.
  package enum Format: String, Sendable, CaseIterable {
    case csv, json, ndjson, markdown

    var fileExtension: String { self == .markdown ? "md" : rawValue }
    var title: String { self == .markdown ? "Markdown" : rawValue.uppercased() }
  }

  /// Which rows, in which order.
  package var query: RowQuery
  /// The form of the file.
  package var format: Format
  /// Where it is to be written.
  package var path: String
  /// Whether a file that is there may be replaced.
  package var replaces = false
}

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
  package var transaction: HistoryTransaction
  /// `2024-03-01`
  package var day: String
  /// `14:02:11`
  package var time: String

  package init(_ transaction: HistoryTransaction, day: String, time: String) {
    self.transaction = transaction
    self.day = day
    self.time = time
  }
}

/// What a store knows of itself, read at once for the store panel.
package struct StoreFacts: Sendable, Equatable {
  package var files: [StoreFile] = []
  package var header: DatabaseHeader?
  package var metadata = StoreMetadata(uuid: "", values: [:])
  package var numbers: [EntityNumber] = []
  package var external: [ExternalFile] = []
  package var externalReport = ExternalDataReport()
  package var hasHistory = false
  package var authors: [HistoryAuthor] = []
  package var cloudKit: CloudKitState?
  package var warnings: [String] = []
  /// Dates as the clock on the wall shows them: those of files and of CloudKit's runs.
  package var localTimes: [Double: String] = [:]

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
  package enum Format: String, Sendable, CaseIterable {
    case csv, json, ndjson, markdown

    package var fileExtension: String { self == .markdown ? "md" : rawValue }
    package var title: String {
      switch self {
      case .csv: "CSV"
      case .json: "JSON"
      case .ndjson: "NDJSON"
      case .markdown: "Markdown"
      }
    }
  }

  package var query: RowQuery
  package var format: Format
  package var path: String
  package var replaces: Bool

  package init(query: RowQuery, format: Format, path: String, replaces: Bool = false) {
    self.query = query
    self.format = format
    self.path = path
    self.replaces = replaces
  }
}

import Editing
import ManagedModel
import ManagedStore
import Migration

/// What of persistent history is read.
package enum HistoryScope: Sendable, Equatable {
  case all
  /// What happened to one object, which may have been deleted.
  case object(ObjectID)
  /// What a text was found in.
  case text(String)

  var object: ObjectID? { if case .object(let id) = self { id } else { nil } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// A question that the open store answers; it goes out as ``Effect/ask(_:_:)``.
package enum StoreRequest: Sendable, Equatable {
  /// Counts every entity.
  case count
  case rows(RowQuery)
  case object(ObjectID)
  /// Reads what a property of an object holds: of a relationship all objects, up to a limit.
  case value(ObjectID, property: String)
  /// Reads what several properties of an object hold.
  case values(ObjectID, properties: [String])
  /// Finds the objects that are deleted with one, where others go as well.
  case deletion(ObjectID, beside: Set<ObjectID>)
  /// Counts the rows of a query.
  case countRows(RowQuery)
  /// Counts the rows of a query that come before a place in its order.
  case countBefore(RowQuery, RowCursor)
  /// Reads the rows around one of a query's, wherever it is.
  case place(RowQuery, RowPlace)
  /// - Parameter versions: those that names of former versions are found among.
  case facts(versions: [ModelVersion])
  /// A page of history, newest first; of one object with what became of it.
  case transactions(before: Int64?, of: HistoryScope, ObjectLabels)
  case changes(of: Int64, after: Int64?, ObjectLabels)
  case frequencies(entity: String, path: String, filter: RowFilter?)
  case search(String, isDeep: Bool)
  /// Decodes a value: unpacked, and unfolded where its form is known.
  case decoded(ObjectID, property: String)
  case content(ObjectID, property: String, offset: Int, count: Int)
  case find(String, ObjectID, property: String, from: Int, backwards: Bool)
  /// Counts what the changes between two versions touch in the store.
  case impacts(from: Model, to: Model)

  /// Objects of a relationship that can be changed in a list.
  static let mostRelated = StoreEdit.mostRelated

  /// Who answers it.
  package enum Reader: Sendable {
    /// The handle on what Browse shows that a person waits for.
    case pages
    /// The handle on what Browse shows that counts and searches.
    case survey
    /// The same handle on the store itself, whatever Browse shows.
    case own
  }

  /// The handle that the question goes to.
  package var reader: Reader {
    switch self {
    case .rows, .object, .value, .values, .place, .content, .decoded: .pages
    case .count, .countRows, .countBefore, .frequencies, .search, .find, .deletion: .survey
    case .facts, .transactions, .changes, .impacts: .own
    }
  }

  /// Whether it may begin when the first screen is there.
  var canWait: Bool {
    switch self {
    case .count, .countRows, .countBefore: true
    default: false
    }
  }

  /// Asks the store, on the thread of the handle.
  ///
  /// - Parameters:
  ///   - localTime: a date as the clock on the wall shows it; `nil` where that is UTC.
  ///   - post: takes answers that come before the last one.
  /// - Returns: the last answer; `nil` where all were posted.
  package func answer(
    from store: Store, localTime: (Double) -> String?, post: (Answer) -> Void
  ) throws -> Answer? {
    switch self {
    case .count:
      var counts: [String: Int] = [:]
      for table in store.entityTables where table.isWholeTable {
        try Task.checkCancellation()
        counts.merge(try store.count(hierarchyOf: table)) { first, _ in first }
        post(.counted(counts))
      }
      return nil
    case .rows(let query): return .rows(try store.rows(query))
    case .object(let id):
      return .object(
        try store.object(id).map {
          Inspection($0, cloud: try store.cloudObject(id), localTime: localTime)
        })
    case .value(let id, let property):
      let object = try store.object(id, related: Self.mostRelated)
      return .value(object?[property])
    case .values(let id, let properties):
      let object = try store.object(id)
      return .values(object.map { object in properties.map { object[$0] } })
    case .deletion(let id, let others):
      return .deletion(try store.objectsDeleted(with: [id], beside: others))
    case .countRows(let query):
      return .countedRows(try store.count(of: query.entity, filter: query.filter))
    case .countBefore(let query, let cursor):
      return .countedRows(try store.count(before: cursor, in: query))
    case .place(let query, let place): return .placed(try PlacedRows(place, in: query, of: store))
    case .facts(let versions):
      return .facts(try StoreFacts(store, among: versions, localTime: localTime))
    case .transactions(let before, let scope, let labels):
      let match = try scope.text.map {
        try store.historyMatch(for: $0, isCancelled: { Task.isCancelled })
      }
      let page =
        try store.transactions(
          before: before, of: scope.object, matching: match, limit: HistoryPages.page) ?? []
      let entries = try page.map { transaction in
        var entry = HistoryEntry(transaction, localTime: localTime)
        if scope != .all {
          entry.changes = try store.changes(
            of: transaction.number, to: scope.object, matching: match, limit: HistoryPages.changes)
        }
        return entry
      }
      return .transactions(
        entries, labels: try store.names(of: entries.flatMap(\.changes).map(\.object), by: labels))
    case .changes(let number, let after, let labels):
      let changes = try store.changes(of: number, after: after, limit: HistoryPages.changes)
      return .changes(changes, labels: try store.names(of: changes.map(\.object), by: labels))
    case .frequencies(let entity, let path, let filter):
      return .frequencies(try store.frequencies(of: path, in: entity, where: filter))
    case .search(let text, let isDeep):
      try store.search(for: text, isDeep: isDeep, isCancelled: { Task.isCancelled }) {
        post(.searching($0))
      }
      return nil
    case .decoded(let object, let property):
      return .decoded(try DecodedText(of: property, in: object, store))
    case .content(let object, let property, let offset, let count):
      return .content(try store.content(of: property, in: object, from: offset, count: count))
    case .find(let text, let object, let property, let offset, let backwards):
      return .matched(
        try store.find(
          text, in: property, of: object, from: offset, backwards: backwards,
          isCancelled: { Task.isCancelled }))
    case .impacts(let source, let destination):
      return .impacts(try StoreMigration.impacts(on: store, from: source, to: destination))
    }
  }
}

/// A row that is to be shown, wherever it is.
package enum RowPlace: Sendable, Equatable {
  /// Counted from 0 in the query's order.
  case ordinal(Int)
  case object(ObjectID)
}

/// The rows around such a row.
package struct PlacedRows: Sendable, Equatable {
  var entity: String
  var rows: [RowPage.Row]
  /// Index in `rows` of the row that was looked for.
  var selected: Int
  /// How many rows come before `rows`; `nil` when nobody has counted.
  var ordinal: Int?
  var hasStart: Bool
  var hasEnd: Bool
  /// Whether the query's filter hides the row, so that it was passed over.
  var isUnfiltered = false
}

extension PlacedRows {
  /// The rows around one of a query's; where the filter hides that row, around it among all.
  fileprivate init?(_ place: RowPlace, in query: RowQuery, of store: Store) throws {
    var query = query
    var isUnfiltered = false
    let found: RowCursor?
    switch place {
    case .ordinal(let ordinal): found = try store.cursor(at: ordinal, in: query)
    case .object(let id):
      let shown = try store.cursor(of: id.key, in: query)
      if shown == nil, query.filter != nil {
        query.filter = nil
        isUnfiltered = true
      }
      found = try shown ?? store.cursor(of: id.key, in: query)
    }
    guard let cursor = found else { return nil }
    let half = query.limit / 2
    query.limit = half
    query.anchor = .before(cursor)
    let before = try store.rows(query).rows
    query.limit = 2 * half
    query.anchor = before.last.map { .after($0.cursor) } ?? .start
    let rest = try store.rows(query).rows
    var ordinal: Int?
    if case .ordinal(let number) = place { ordinal = max(0, number - before.count) }
    self.init(
      entity: query.entity, rows: before + rest, selected: before.count, ordinal: ordinal,
      hasStart: before.count < half, hasEnd: rest.count < 2 * half, isUnfiltered: isUnfiltered)
  }
}

/// A transaction with the time that the clock on the wall showed.
package struct HistoryEntry: Sendable, Equatable {
  var transaction: HistoryTransaction
  /// `2024-03-01  UTC+0100`
  var day: String
  /// `14:02:11`
  var time: String
  /// What it did to the object that history is read of.
  var changes: [HistoryChange] = []
}

extension HistoryEntry {
  init(_ transaction: HistoryTransaction, localTime: (Double) -> String?) {
    self.init(transaction: transaction, day: "no date", time: "")
    guard let seconds = transaction.timestamp else { return }
    // `2024-03-01 13:00:00 +0100`, or UTC as `2024-03-01T12:00:00Z`.
    let text = localTime(seconds) ?? CoreDataDate.text(seconds)
    let isWhole = text.count >= 19
    // Behind the seconds and what they have after the point.
    let zone = text.dropFirst(19).drop { $0 == "." || $0.isNumber }.filter { $0 != " " }
    day =
      isWhole
      ? text.prefix(10) + (zone.isEmpty ? "" : zone == "Z" ? "  UTC" : "  UTC" + zone) : text
    if isWhole { time = String(text.dropFirst(11).prefix(8)) }
  }
}

/// What a store knows of itself, read at once for the store panel.
package struct StoreFacts: Sendable, Equatable {
  /// The files that it consists of.
  var files: [StoreFile] = []
  /// What the database’s first bytes say.
  var header: DatabaseHeader?
  /// What Core Data keeps of it.
  var metadata = StoreMetadata(uuid: "", values: [:])
  /// The keys that are given out, by entity.
  var numbers: [EntityNumber] = []
  /// Files of external data, the first of them.
  var external: [ExternalFile] = []
  /// How the files and what names them agree.
  var externalReport = ExternalDataReport()
  /// Whether it keeps persistent history.
  var hasHistory = false
  /// Who wrote, and how much.
  var authors: [HistoryAuthor] = []
  /// The versions that the store had before, oldest first, as migrations recorded them in history.
  var formerVersions: [FormerVersion] = []
  /// The names of these that are known, by their digests.
  var versionNames: [String: String] = [:]
  /// What mirroring keeps, where it is on.
  var cloudKit: CloudKitState?
  /// What is odd about it.
  var warnings: [String] = []
  /// Dates as the clock on the wall shows them: those of files, migrations and CloudKit's runs.
  var localTimes: [Double: String] = [:]
}

extension StoreFacts {
  fileprivate init(
    _ store: Store, among versions: [ModelVersion], localTime: (Double) -> String?
  ) throws {
    files = store.files.list()
    header = try store.databaseHeader()
    metadata = store.metadata
    numbers = try store.entityNumbers()
    (external, externalReport) = try store.externalFiles(limit: 500)
    hasHistory = store.hasHistory
    authors = try store.historyAuthors() ?? []
    formerVersions = try store.formerVersions() ?? []
    if !formerVersions.isEmpty {
      // One that is in the store alone has no name.
      let named = versions.filter { !$0.path.isEmpty }.compactMap { version in
        version.model.map { ($0.versionHashesDigest, version.name) }
      }
      versionNames = Dictionary(named) { first, _ in first }
    }
    cloudKit = try store.cloudKitState()
    var drift = StoreDrift()
    drift.rows = try store.rowsOfUnknownEntities()
    warnings = store.warnings(naming: \.typed) + drift.sentences
    if !externalReport.missing.isEmpty {
      warnings.append(
        "External data files are missing: \(externalReport.missing.count) of \(externalReport.referenced)."
      )
    }
    let dates =
      files.compactMap(\.modified) + formerVersions.compactMap(\.timestamp)
      + [cloudKit?.lastImport, cloudKit?.lastExport].compactMap { $0 }
      + (cloudKit?.events.compactMap(\.start) ?? [])
    for date in dates { localTimes[date] = localTime(date) }
  }
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

/// What a plan is to be made of.
package struct PlanRequest: Sendable, Equatable {
  /// What the store's own version is called.
  package var from: String
  /// The version to migrate to.
  package var to: ModelVersion
  /// How it is to be gone there.
  package var options: PlanOptions
  /// What was changed here.
  package var edits: MappingEdits
}

/// A mapping that is to be written as a recipe.
package struct RecipeFile: Sendable, Equatable {
  /// Where it is to be written.
  package var path: String
  /// The mapping, with its two models.
  package var step: MigrationStep
  /// What the recipe calls the two versions; their digests where empty.
  package var from: String
  /// What the destination is called; empty where nothing says it.
  package var to: String
  /// Whether a file that is there may be replaced.
  package var overwrites: Bool
}

/// What `--via` and `--mapping` asked the interface for.
package struct PlanOptions: Sendable, Equatable {
  /// The bundle or folder whose versions are gone through; `nil` goes straight.
  package var via: String?
  /// Mapping models and recipes.
  package var documents: [String] = []

  /// What `--via` and `--mapping` named.
  package init(via: String? = nil, documents: [String] = []) {
    (self.via, self.documents) = (via, documents)
  }
}

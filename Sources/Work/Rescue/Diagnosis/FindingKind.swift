import ManagedModel
import Migration
import Texts

/// Every kind of fault that is looked for, in the order of trust: the file, its -journal and -wal, what Core
/// Data keeps for itself, the data. The raw value is the name in lists, in JSON and after `--fix`.
public enum FindingKind: String, Sendable, CaseIterable {
  // The file.
  case emptyMain = "empty-main"
  case encrypted
  case header
  case shifted
  case savedAsText = "saved-as-text"
  case cutOff = "cut-off"
  case pageSize = "page-size"
  case pageCount = "page-count"
  case schemaGone = "schema-gone"
  case mixedPages = "mixed-pages"
  case pageUnreadable = "page-unreadable"
  case indexWrong = "index-wrong"
  case freelist
  case pointerMap = "pointer-map"
  case interrupted

  // Its -journal.
  case journalHot = "journal-hot"
  case journalOlder = "journal-older"
  case journalUnapplied = "journal-unapplied"
  case journalRenamed = "journal-renamed"
  case journalUnreadable = "journal-unreadable"

  // Its -wal.
  case walForeign = "wal-foreign"
  case walUnknown = "wal-unknown"
  case walHeader = "wal-header"
  case walSalts = "wal-salts"
  case walChecksum = "wal-checksum"
  case walCutOff = "wal-cut-off"
  case walZeros = "wal-zeros"
  case walOlder = "wal-older"
  case walRenamed = "wal-renamed"
  case walUncommitted = "wal-uncommitted"
  case walMissing = "wal-missing"
  case walUnreadable = "wal-unreadable"
  case notDownloaded = "not-downloaded"

  // Core Data's own.
  case metadata
  case versionHashes = "version-hashes"
  case modelCache = "model-cache"
  case primaryKey = "primary-key"
  case entityNumbers = "entity-numbers"
  case entityUnknown = "entity-unknown"
  case entityWrong = "entity-wrong"
  case tableMissing = "table-missing"
  case columnMissing = "column-missing"
  case columnUnknown = "column-unknown"
  case columnType = "column-type"
  case joinName = "join-name"
  case columnName = "column-name"
  case indexMissing = "index-missing"
  case uniqueMissing = "unique-missing"
  case triggers
  case history
  case historyColumns = "history-columns"
  case deferredMigration = "deferred-migration"
  case migrationLeftover = "migration-leftover"

  // An XML or binary store, which is read as a private one of the SQLite type.
  case atomicDamage = "atomic-damage"
  case atomicMetadata = "atomic-metadata"
  case atomicClasses = "atomic-classes"
  case atomicIDs = "atomic-ids"
  case atomicLinks = "atomic-links"
  case atomicValues = "atomic-values"

  // The data.
  case toOneDangling = "to-one-dangling"
  case joinDangling = "join-dangling"
  case joinNull = "join-null"
  case oneToOne = "one-to-one"
  case order
  case mandatory
  case uniqueness
  case storageClass = "storage-class"
  case range
  case textEncoding = "text-encoding"
  case validation
  case archive
  case externalMissing = "external-missing"
  case externalUnreadable = "external-unreadable"
  case externalOrphaned = "external-orphaned"
  case externalSize = "external-size"
  case deletions
  case unchecked
}

extension FindingKind {
  /// Whether it is about the main file, and not about what stands in it.
  var isOfFile: Bool {
    switch self {
    case .emptyMain, .encrypted, .header, .shifted, .savedAsText, .cutOff, .pageSize, .pageCount,
      .schemaGone,
      .mixedPages, .pageUnreadable:
      true
    default: false
    }
  }

  /// Whether it is about pages, so that those of another time laid over the file can be what is wrong.
  var isOfPages: Bool {
    switch self {
    case .pageCount, .schemaGone, .mixedPages, .pageUnreadable: true
    default: false
    }
  }

  /// Whether it is something about single objects.
  var isOfObjects: Bool {
    switch self {
    case .entityWrong, .toOneDangling, .joinDangling, .oneToOne, .order, .mandatory, .uniqueness,
      .storageClass, .range, .textEncoding, .validation, .archive, .externalMissing,
      .externalUnreadable,
      .externalSize:
      true
    default: false
    }
  }

  /// Whether rows are lost with pages of the file.
  var losesPages: Bool {
    switch self {
    case .shifted, .savedAsText, .cutOff, .schemaGone, .mixedPages, .pageUnreadable: true
    default: false
    }
  }

  /// Whether it can be what lost rows leave behind.
  var mayComeOfLostRows: Bool {
    switch self {
    case .indexWrong, .freelist, .pointerMap, .metadata, .modelCache, .primaryKey, .entityNumbers,
      .history, .toOneDangling, .joinDangling, .oneToOne, .order, .mandatory, .externalOrphaned:
      true
    default: false
    }
  }

  /// Whether rows are of half a save because of what is wrong with the -journal.
  var losesJournal: Bool {
    switch self {
    case .journalOlder, .journalUnapplied, .journalRenamed: true
    default: false
    }
  }

  /// Whether rows are lost, or older ones, because of what is wrong with the -wal.
  package var losesFrames: Bool {
    switch self {
    case .walForeign, .walHeader, .walSalts, .walChecksum, .walCutOff, .walZeros, .walOlder,
      .walRenamed, .notDownloaded:
      true
    default: false
    }
  }
}

/// What is true of every fault of a kind.
extension FindingKind {
  /// How grave a fault of the kind is, where nothing else is known.
  public var severity: Finding.Severity { facts.severity }
  /// What the kind means, in a few words.
  public var title: String { facts.title }
  /// What to do about it, in a sentence.
  public var advice: Advice { facts.advice }
  /// The command that helps.
  var remedy: Remedy { facts.remedy }
  /// The error that Core Data reports; `nil` where it reports none.
  var error: (domain: ErrorMeaning.Domain, code: Int)? { facts.error }

  struct Facts {
    let severity: Finding.Severity
    let title: String
    let error: (domain: ErrorMeaning.Domain, code: Int)?
    let remedy: Remedy
    let advice: Advice
  }

  /// As the table has them.
  static let table = Dictionary(
    MessageTable.findings.rows.compactMap { row in
      FindingKind(rawValue: row.name).flatMap { kind in Facts(row).map { (kind, $0) } }
    }, uniquingKeysWith: { first, _ in first })

  private var facts: Facts {
    Self.table[self]
      ?? Facts(severity: .warning, title: rawValue, error: nil, remedy: .none, advice: "")
  }
}

extension FindingKind.Facts {
  private static let remedies: [String: Remedy] = [
    "salvage": .salvage, "salvageMain": .salvageMain, "repair": .repair, "copyAlone": .copyAlone,
    "undelete": .undelete, "explain": .explain, "none": .none,
  ]

  /// - Returns: `nil` for a row that is not as the table's head says.
  fileprivate init?(_ row: MessageTable.Row) {
    let error = row["error"]?.split(separator: " ").map(String.init) ?? []
    guard let severity = row["severity"].flatMap(Finding.Severity.init), let title = row["title"],
      let remedy = Self.remedies[row["remedy"] ?? "none"],
      let advice = row["advice"].map(Advice.init(marked:)),
      error.isEmpty || error.count == 2 && Int(error[1]) != nil
    else { return nil }
    self.init(
      severity: severity, title: title,
      error: error.first.flatMap(ErrorMeaning.Domain.init).flatMap { domain in
        Int(error[1]).map { (domain, $0) }
      }, remedy: remedy, advice: advice)
  }
}

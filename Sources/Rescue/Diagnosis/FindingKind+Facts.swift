import Migration

/// What is true of every fault of a kind.
extension FindingKind {
  /// How grave a fault of the kind is, where nothing else is known.
  public var severity: Finding.Severity { facts.severity }
  /// What the kind means, in a few words.
  public var title: String { facts.title }
  /// What to do about it, in a sentence.
  public var advice: String { facts.advice }
  /// The command that helps.
  var remedy: Remedy { facts.remedy }
  /// The error that Core Data reports; `nil` where it reports none.
  var error: (domain: ErrorMeaning.Domain, code: Int)? { facts.error }

  private struct Facts {
    let severity: Finding.Severity
    let title: String
    let error: (domain: ErrorMeaning.Domain, code: Int)?
    let remedy: Remedy
    let advice: String

    init(
      _ severity: Finding.Severity, _ title: String, cocoa: Int? = nil, sqlite: Int? = nil,
      _ remedy: Remedy, _ advice: String
    ) {
      self.severity = severity
      self.title = title
      error = cocoa.map { (.cocoa, $0) } ?? sqlite.map { (.sqlite, $0) }
      self.remedy = remedy
      self.advice = advice
    }
  }

  private static let salvaging =
    "Everything that can still be read goes into a new store; this one stays as it is. Where the list of tables is lost, add --model MODEL."
  private static let frames =
    "Salvaging reads the frames where they stand. Do not open the store with SQLite or the app: it would delete this -wal."
  private static let copyAgain = " A second copy of the store may have what this one lacks."

  private var facts: Facts {
    switch self {
    case .emptyMain:
      // An empty file is a database without tables to SQLite: no error says so.
      Facts(.error, "the main file is empty", .salvage, Self.frames)
    case .encrypted:
      Facts(
        .error, "the file looks encrypted", sqlite: 26, .none,
        "Only the app that has the key can read it: let it export the objects, or a store that is not encrypted."
      )
    case .header:
      Facts(.error, "the file's header is damaged", sqlite: 26, .salvage, Self.salvaging)
    case .shifted:
      Facts(
        .error, "bytes of the file were moved on its way", sqlite: 26, .salvage,
        "Salvaging reads the pages where they stand. Ask for the file once more, in a ZIP or sent as binary: that one is whole."
      )
    case .savedAsText:
      Facts(
        .error, "the file was saved as text", sqlite: 11, .salvage,
        "What the replaced bytes were cannot be found out: salvaging returns the rows that have none of them. Ask for the file once more, in a ZIP or sent as binary: that one is whole."
      )
    case .cutOff:
      Facts(
        .error, "the file is cut off", sqlite: 11, .salvage, Self.salvaging + Self.copyAgain)
    case .pageSize:
      Facts(
        .error, "the header has a wrong page size", sqlite: 11, .salvage, Self.salvaging)
    case .pageCount:
      Facts(
        .error, "the header has a wrong page count", sqlite: 11, .salvage, Self.salvaging)
    case .schemaGone:
      Facts(
        .error, "the list of tables cannot be read", sqlite: 11, .salvage,
        Self.salvaging)
    case .pageUnreadable:
      Facts(
        .error, "pages cannot be read", sqlite: 11, .salvage, Self.salvaging + Self.copyAgain)
    case .mixedPages:
      Facts(
        .error, "pages of two stores are mixed", sqlite: 11, .salvage,
        "Salvaging takes what the pages hold, and cannot tell all rows of the one store from those of the other. Ask for the file once more."
      )
    case .indexWrong:
      Facts(
        .error, "an index is not what its table says", sqlite: 11, .repair,
        "The index can be made anew from the rows of the table. Where a page of the table is older than the index, what is newer is lost with it: salvage says how many rows the two differ in."
      )
    case .freelist:
      Facts(
        .error, "the list of free pages is wrong", sqlite: 11, .repair,
        "Written to as it is, the store loses pages that are in use; every row can be written into a sound file."
      )
    case .pointerMap:
      Facts(
        .error, "the map of pages is wrong", sqlite: 11, .repair,
        "Reading does not need it, giving pages back does; every row can be written into a sound file."
      )
    case .interrupted:
      Facts(
        .warning, "something was interrupted", .none, "The sentence says what the next run does.")
    case .journalHot:
      Facts(
        .warning, "a save was interrupted", .salvage,
        "The next program that opens the store rolls this save back: keep the -journal beside it. A salvage rolls it back into a new store; this one stays as it is."
      )
    case .journalOlder:
      Facts(
        .error, "the -journal is older than the store", sqlite: 11, .copyAlone,
        "The next program that opens the store puts the older pages back. Look at a copy of the main file without the -journal first."
      )
    case .journalUnapplied:
      Facts(
        .error, "the -journal is not rolled back, or in part", sqlite: 11, .salvage,
        "Do not open the store with SQLite or the app: it would delete this -journal. A second copy of the -journal may be whole."
      )
    case .journalRenamed:
      Facts(
        .error, "a -journal has another name", .none,
        "Look at a copy in which it has its own name.")
    case .journalUnreadable:
      Facts(
        .error, "the -journal cannot be read", .none,
        "Check its permissions, and where a link leads.")
    case .walForeign:
      Facts(
        .error, "the -wal belongs to another store", .salvageMain,
        "Everything said here is of the main file alone. Find the -wal that was beside this store; do not open the two together, with SQLite or the app: their pages would be mixed."
      )
    case .walHeader:
      Facts(.error, "the -wal's header is damaged", .salvage, Self.frames)
    case .walSalts:
      Facts(.error, "the -wal's frames are of another time", .salvage, Self.frames)
    case .walChecksum:
      Facts(.error, "a checksum in the -wal is wrong", .salvage, Self.frames)
    case .walCutOff:
      Facts(
        .error, "the -wal is cut off", .salvage, Self.frames + " A second copy may be longer.")
    case .walZeros: Facts(.error, "zeros stand in the -wal", .salvage, Self.frames)
    case .walOlder:
      Facts(
        .error, "the -wal is older than the store", sqlite: 11, .salvageMain,
        "The main file alone is the newer state, if it was put back or written to without the -wal: what is salvaged of it can be compared with the store."
      )
    case .walRenamed:
      Facts(
        .error, "a -wal has another name", .none,
        "Look at a copy in which it has its own name.")
    case .walUncommitted:
      Facts(
        .note, "a save was never finished", .none,
        "Nothing is missing that was saved: Core Data leaves these frames out as well.")
    case .walMissing:
      Facts(
        .note, "there is no -wal", .none,
        "If the store was copied while the app ran, ask for the -wal beside the original: what was saved last is in it."
      )
    case .walUnreadable:
      Facts(
        .error, "the -wal cannot be read", .none, "Check its permissions, and where a link leads.")
    case .notDownloaded:
      Facts(
        .warning, "a file of the store is not downloaded", .none,
        "Download it on a Mac with the same iCloud account, and copy the store again with all files beside it."
      )
    case .metadata:
      Facts(
        .error, "the store's metadata cannot be read", cocoa: 134080, .repair,
        "Core Data does not open the store without it; it can be written anew, of the model that made the store."
      )
    case .versionHashes:
      Facts(
        .error, "the model is not the one that made the store", cocoa: 134100, .explain,
        "Find the version that made the store, or migrate to this one.")
    case .modelCache:
      Facts(
        .warning, "the model in the store is missing or another", .repair,
        "Core Data opens the store with the app's own model; without the cache it cannot be inspected or migrated without one."
      )
    case .primaryKey:
      Facts(
        .error, "the last keys given out are wrong", sqlite: 19, .repair,
        "New objects would get keys that are in use. The tables tell which are."
      )
    case .entityNumbers:
      Facts(
        .error, "the list of entities does not fit the model", cocoa: 134020, .repair,
        "The rows of Z_PRIMARYKEY can be written by the model and the tables.")
    case .entityUnknown:
      Facts(
        .error, "rows are of an entity that is not of their table", .repair,
        "Where several entities share a table, no fetch finds these objects, and rows and dump do not print them either. Where history tells their entity, or only one has objects, it can be set."
      )
    case .entityWrong:
      Facts(
        .warning, "references to objects of another entity, or values that only another entity has",
        .none,
        "Look at these objects: their entity may have been changed by something else than Core Data."
      )
    case .tableMissing:
      Facts(
        .error, "tables of the model are missing", cocoa: 134020, .salvage,
        "Their objects are lost unless their pages are still in the file, which salvaging looks for."
      )
    case .columnMissing:
      Facts(
        .error, "columns of the model are missing", cocoa: 134020, .none,
        "Core Data does not open the store with this model: find the version that made it.")
    case .columnUnknown:
      Facts(
        .note, "columns that the model does not know", .none,
        "Core Data leaves them as they are; an app's own SQL may use them.")
    case .columnType:
      Facts(
        .note, "columns are declared with another type", .none,
        "SQLite holds any value in any column; Core Data reads them all the same.")
    case .joinName:
      Facts(
        .error, "a join table has a name that Core Data does not look for", cocoa: 134020, .repair,
        "strata finds such a table by its columns; Core Data does not open the store.")
    case .indexMissing:
      Facts(
        .note, "an index of the model was never made", .repair,
        "SwiftData does not make an index that was added to a version which had shipped: fetches work, and are slower. A repair makes it."
      )
    case .triggers:
      Facts(
        .error, "triggers call what is not there", sqlite: 1, .repair,
        "Every save of such an object fails, unless the app brings the function. Those of Core Data are made anew; an app's own are taken out, and their text is in the receipt."
      )
    case .history:
      Facts(
        .warning, "history points nowhere", .repair,
        "No object depends on history: apps read it to learn what other processes changed. A repair removes these rows."
      )
    case .historyColumns:
      Facts(
        .error, "history has no room for what the model keeps of deleted objects", sqlite: 1,
        .repair,
        "Core Data does not add these columns when it opens the store. A repair does, and changes nothing else."
      )
    case .deferredMigration:
      Facts(
        .note, "a lightweight migration was deferred", .none,
        "Nothing is wrong with that. The app drops the columns when it finishes the migration; a migration by strata drops them too."
      )
    case .migrationLeftover:
      Facts(
        .note, "a migration of the app was cut off", .none,
        "Keep the file until the store has been checked. Then it can be deleted by hand.")
    case .toOneDangling:
      Facts(
        .error, "objects lead to ones that are not there", cocoa: 133000, .repair,
        "An app that follows such a link ends with this error. If the objects were deleted by mistake, strata undelete restores them with their links; a repair empties the links."
      )
    case .joinDangling:
      Facts(
        .warning, "links of a many-to-many lead to nothing", .repair,
        "Core Data reads such a relationship by joining tables, which leaves these rows out and reports no error. A new object that gets the key gets the link. A repair removes the rows."
      )
    case .joinNull:
      Facts(
        .note, "links of a many-to-many have no object at one end", .repair,
        "Core Data reads such a relationship by joining tables, which leaves these rows out. A repair removes the rows."
      )
    case .oneToOne:
      Facts(
        .note, "the sides of a one-to-one disagree", .repair,
        "Core Data's own migrations leave such links, and reads each side as it is.")
    case .order:
      Facts(
        .warning, "places in an ordered relationship are missing or equal", .repair,
        "The order of these objects is not told.")
    case .mandatory:
      Facts(
        .warning, "mandatory values are missing", cocoa: 1570, .none,
        "Core Data validates an object when a change of it is saved: that save fails until the object has a value. A lightweight migration keeps such objects as they are; a migration with a mapping model validates all objects, and fails."
      )
    case .uniqueness:
      Facts(
        .error, "objects are equal that must differ", cocoa: 133021, .repair,
        "Making the index of the constraint fails, in a migration as well; where the index is there, a save of either object fails. A repair keeps one of them, the newest or the oldest, and gives it the links of the others."
      )
    case .storageClass:
      Facts(
        .warning, "values are of another class than their type", .none,
        "Core Data does not write such values, and what it reads there is not documented. Look at these objects."
      )
    case .range:
      Facts(
        .warning, "numbers or dates are out of range", .none,
        "Such a value does not fit the type of its attribute, and what Core Data reads there is not documented. Look at these objects."
      )
    case .textEncoding:
      Facts(
        .warning, "texts are no UTF-8", .none,
        "SQLite keeps such bytes as they are, and what Core Data reads there is not documented. Look at these objects."
      )
    case .validation:
      Facts(
        .note, "values break a rule of the model", cocoa: 1550, .none,
        "Core Data validates an object when a change of it is saved: that save fails.")
    case .archive:
      Facts(
        .warning, "archived values do not open", .none,
        "The value transformer of the attribute cannot read such bytes. Look at these objects.")
    case .externalMissing:
      Facts(
        .warning, "files of external data are missing", .repair,
        "Was the store copied without its hidden folder? Put that beside the store and run doctor again: nothing is lost then. Only where it is gone, a repair makes the values null."
      )
    case .externalUnreadable:
      Facts(
        .error, "files of external data cannot be read", .none,
        "The files are there: nothing is lost. Run doctor as a user who may read them, or replace links with the files that they name. No repair changes these values."
      )
    case .externalOrphaned:
      Facts(
        .note, "files that no object names", .repair,
        "Core Data leaves such files behind. A repair moves them into a folder beside the store."
      )
    case .deletions:
      Facts(
        .note, "objects were deleted", .undelete,
        "Nothing is wrong with that. What is left of them can be looked through (u in the interface); with every save there is less."
      )
    case .unchecked:
      Facts(
        .warning, "something could not be checked", .none,
        "The store may have faults that are not in this list.")
    case .externalSize:
      Facts(
        .warning, "files of external data are empty", .none,
        "Core Data keeps what is empty in the row: such a file was cut off. Take another copy of it."
      )
    }
  }
}

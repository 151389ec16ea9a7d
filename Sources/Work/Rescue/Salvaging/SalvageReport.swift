import ManagedModel
import ManagedStore
import SQLite

/// What was saved of a damaged store, and what was not.
package struct SalvageReport: Sendable, Equatable {
  /// An entity's objects.
  package struct Entity: Sendable, Equatable {
    /// Its name.
    package var name: String
    /// Objects in the new store.
    package var objects: Int
  }

  /// What became of a table's rows.
  package struct Table: Sendable, Equatable {
    /// What it is called.
    package var name: String
    /// The entity at the top of its hierarchy; `nil` for a table that is no entity's.
    package var entity: String?
    /// Rows in the new store.
    package var rows: Int
    /// Rows of them that no tree referenced: they were found on a page by looking. Where pages of two stores are
    /// mixed, also those whose page nothing vouches for.
    package var guessed: Int
    /// Rows that the table's own constraints refuse, by key.
    package var refused: [Int64]
    /// Values that are lost of rows that are there, by key: the columns.
    package var cut: [Int64: [String]]
    /// Keys that may be lost, where pages were.
    package var holes: [Hole]
  }

  /// Keys that pages had which cannot be read.
  package struct Hole: Sendable, Equatable {
    /// The keys.
    package var keys: ClosedRange<Int64>
    /// How many of them are not in the new store: at most so many objects are lost. `nil` where the
    /// greatest key is not known.
    package var missing: Int?
  }

  /// Files that were not beside the damaged store.
  package struct MissingFiles: Sendable, Equatable {
    /// How many are not there.
    package var count: Int
    /// How many objects name.
    package var of: Int
    /// The attributes that name them, such as `Recipe.photo`.
    package var properties: [String]
    /// What the folder of the damaged store is called, and what that of the new one has to be.
    package var folders: (own: String, new: String) { (own, new) }
    private let own: String
    private let new: String

    /// Those of a store in its folder.
    package init(
      count: Int, of: Int, properties: [String], folders: (own: String, new: String)
    ) {
      (self.count, self.of, self.properties) = (count, of, properties)
      (own, new) = folders
    }
  }

  /// A file or folder beside the store that cannot be read.
  package struct UnreadableFile: Sendable, Equatable {
    /// Where it is.
    package var path: String
    /// Why it cannot be read.
    package var reason: String
  }

  /// The damaged store.
  package var storePath: String
  /// The new one.
  package var outputPath: String
  /// The log that was read with it; `nil` where none was.
  package var logPath: String?
  /// Objects of each entity in the new store, by name.
  package var entities: [Entity] = []
  /// The tables that rows were found for, or lost of.
  package var tables: [Table] = []
  /// Rows that belong to no table that is known.
  package var unplaced = 0
  /// Places on pages that should be rows, and are not.
  package var unreadable = 0
  /// Rows that stood where another table's should, and pages where their table has other keys: what should be
  /// there is lost, or was found elsewhere.
  package var misplaced = 0
  /// Keys that an index of the damaged store holds and that are not in the new one, by table.
  package var missing: [String: [Int64]] = [:]
  /// Rows of which a page ends in a sector of zeros: it may not have been written to its end, or the value is so.
  package var zeroed = 0
  /// Rows of pages whose cells, freed blocks and fragments do not fill them, by table: such a page may be of two
  /// times, and its rows too.
  package var unbalanced: [String: Int] = [:]
  /// Rows of which an index of the damaged store says otherwise: one of the two is older, or damaged.
  package var doubtful = 0
  /// Whether something that belongs to the store is not in what was read: frames of its -wal, or its -journal.
  package var isPartial = false
  /// Whether another store's -wal was left out, so that what was saved only in the store's own one is missing.
  package var lacksOwnLog = false
  /// Whether pages of two stores are mixed, so that rows may be the other one's.
  package var isMixed = false
  /// Pages that the file should have and has not, where the schema does not say whose they were.
  package var missingPages = 0
  /// Pages of tables that are not known by name, and that cannot be read.
  package var unknownHoles = 0
  /// Keys that the store gave out and that no object has, by the entity at the top of the hierarchy, as
  /// far as its counters were there: no more can be lost, and objects that were deleted are among them.
  /// Empty where it is known of all pages whose they are.
  package var openKeys: [String: Int] = [:]
  /// Whether there are no rows of objects, and no counter of the store shows that a key was given out.
  package var gaveOutNoKey = false
  /// Entities whose table is not there though there were objects: the greatest key that the store gave out.
  package var gone: [String: Int] = [:]
  /// Whether their rows were looked for, too: ``gone`` counts those that were not found.
  package var isOfUndeletion = false
  /// Whether statements that make tables are lost, or it is not known whose links can be, and no model was at hand.
  package var needsModel = false
  /// Whether the links of ``undecided`` are without the names of relationships, since no model was at hand.
  package var lacksRelationships = false
  /// Whether several versions of the model were at hand.
  package var knowsVersions = false
  /// Whether the damaged store has no model in it that can be read.
  package var sourceLacksModel = false
  /// What of the support folder cannot be read and was left out.
  package var unreadableFiles: [UnreadableFile] = []
  /// Rows of the new store that no fetch finds, since their entity is not known, as sentences.
  package var unfetchedRows: [String] = []
  /// What of an XML or binary store is not in the file that it was read as, as sentences; `nil` for any other store.
  package var unread: [String]?
  /// Whether the model in the new store was made of the objects of such a store, and is not proved to be the app's.
  package var isModelMade = false
  /// Whether the store's files changed while they were read.
  package var isChanged = false
  /// Whether the new store opens, with or without its model.
  package var opens = false
  /// Why it does not; `nil` where it does.
  package var obstacle: String?
  /// Whether no model is in it.
  package var lacksModel = false
  /// Tables whose CREATE statement is gone and whose columns nothing proves, by name.
  package var lostTables: [String: SalvagedCopy.LostTable] = [:]
  /// Rows of ``unplaced`` that are links which several relationships could have: they are kept in a table of
  /// their own.
  package var undecided = 0
  /// Files of external data that objects name and that are not there.
  package var missingFiles: MissingFiles?
  /// Where the rows are from, page by page; empty unless it was asked for.
  package var pages: [SalvagedCopy.PageOrigin] = []
  /// What a person should know, as sentences.
  package var notes: [String] = []
  /// What a new store lacks, so that Core Data does not open it.
  package enum Lack: Sendable, Equatable {
    /// Tables that never held anything.
    case unusedTables
    /// Tables that may have held something.
    case tables
    /// Columns, whether tables as well or not.
    case columns
  }

  /// What neither store has of the tables and columns of the model, though it may have held something, as sentences.
  package var lacking: [String] = []
  /// What of its model's tables the new store lacks; `nil` if nothing.
  package var lacks: Lack?
  /// Whether the new store opens with its model, as Core Data would.
  package var isComplete = false

  /// What looks in the damaged store for rows whose table is gone, and for deleted ones.
  package var undeleteCommand: Advice? {
    (sourceLacksModel ? Remedy.undeleteByModel : .undelete)
      .command(for: .tableMissing, StorePlace(path: storePath))
  }

  /// Rows in the new store that no b-tree references, or whose page nothing vouches for.
  package var uncertain: Int { tables.reduce(0) { $0 + $1.guessed } }

  /// How many objects are in the new store.
  package var objects: Int { entities.reduce(0) { $0 + $1.objects } }

  /// Whether everything that is known of is in the new store, files of external data too.
  package var isWhole: Bool { !isLossy && missingFiles == nil }

  /// Whether anything is known to be lost, or in doubt, or nothing was saved.
  package var isLossy: Bool {
    isShort || isChanged || !unfetchedRows.isEmpty || !opens || objects == 0
      || !gone.isEmpty || !lacking.isEmpty || !unreadableFiles.isEmpty || unread?.isEmpty == false
  }

  /// Whether no object was ever saved in what was read, and its tables were read whole: the store is new, or all that
  /// it had is in a -wal that is missing.
  package var isOfEmptyStore: Bool {
    objects == 0 && gaveOutNoKey && !isShort && gone.isEmpty
      && tables.contains { $0.entity != nil } && tables.allSatisfy(\.holes.isEmpty)
  }

  /// Whether rows are known to be lost: all else that makes a report lossy is a doubt.
  package var lacksRows: Bool {
    unplaced > 0 || unreadable > 0 || !missing.isEmpty || missingPages > 0 || unknownHoles > 0
      || !gone.isEmpty
      || tables.contains {
        !$0.refused.isEmpty || !$0.cut.isEmpty || $0.holes.contains { $0.missing != 0 }
      }
  }

  /// Whether the rows that were read are not all that there should be, or are in doubt: it is known before the
  /// new store is opened.
  var isShort: Bool {
    lacksRows || isPartial || misplaced > 0 || doubtful > 0 || !unbalanced.isEmpty
      || !lostTables.isEmpty
  }
}

/// Links of a new store to objects that it does not have. They are reported with the result, since they must be
/// known before an app opens the store.
enum DanglingLinks {
  private static let mostListed = 5

  /// How many there are, in a sentence; `nil` where there are none.
  ///
  /// - Parameter facts: what was found out about the rows already.
  static func note(
    _ connection: Connection, _ schema: StoreSchema, knowing facts: ReadFacts? = nil
  ) throws -> String? {
    let audits = schema.audits(of: try DatabaseTables(connection))
    var found: [(name: String, count: Int)] = []
    for audit in audits.toOnes + audits.outside {
      // A column may hold what an object of another entity of the table left in it.
      let own = audit.storage.kind == .toOne ? audits.table(of: audit.entity)?.kindRows("t") : nil
      let known = own == nil ? facts?.dangling(audit) : nil
      guard known != nil || facts?.isSound(audit) != true else { continue }
      let count =
        try known ?? audit.counts(of: [.dangling], where: own, on: connection)[.dangling] ?? 0
      if count > 0 { found.append(("\(audit.entity).\(audit.relationship.name)", count)) }
    }
    guard !found.isEmpty else { return nil }
    found.sort { ($1.count, $0.name) < ($0.count, $1.name) }
    let names = found.prefix(mostListed).map { "\($0.name) \($0.count)" }
    let rest = found.count > mostListed ? " …" : ""
    return
      "References to missing objects (\(names.joined(separator: ", "))\(rest)): an app that follows one fails with an error. A repair of the new store empties them; which objects they named is then lost."
  }
}

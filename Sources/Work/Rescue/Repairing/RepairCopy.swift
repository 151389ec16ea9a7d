import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite
import Salvage

/// The copy of a store that is mended: page by page what the store is, or where its free pages, its
/// map of pages or an index are wrong, a file that SQLite writes again.
struct RepairCopy {
  let source: Store
  let kinds: Set<FindingKind>
  let meter: ProgressMeter
  /// Two paths that are free.
  let temporaries: [String]

  /// The finished copy.
  struct Made {
    let path: String
    let file: NewFile
    let connection: Connection
    /// Indexes that were rebuilt, with their tables.
    var indexes: [(name: String, table: String)] = []
    /// Indexes that cannot be made while objects are equal that must differ: their CREATE statements.
    var later: [(name: String, sql: String)] = []
    /// What a person should know, as sentences.
    var notes: [String] = []
  }

  func run() throws -> Made {
    guard let path = temporaries.first, let next = temporaries.last, next != path else {
      throw CoreDataError(.failed, "there is no place for a copy", path: source.path)
    }
    let file = try FileSystem.createEmpty(path)
    try clone(to: file)
    let names = Set((source.damage?.problems ?? []).compactMap(PageLayer.indexName))
    let wrong = kinds.contains(.indexWrong) ? try wrongIndexes(at: path, names) : []
    if kinds.contains(where: \.asksForNewFile) { return try renew(file, into: next, wrong) }
    let connection = try Self.open(path)
    connection.onProgress { [meter] in meter.shouldStop }
    var made = Made(path: path, file: file, connection: connection)
    do {
      try IndexMending(indexes: wrong).remake(&made)
      // What is wrong with the file besides may not have shown before.
      let isSound =
        try wrong.isEmpty
        || IntegrityCheck.problems(connection).compactMap(PageLayer.kind)
          .allSatisfy { !$0.asksForNewFile }
      if isSound { return made }
    } catch let error as SQLiteError where error.isDamage {}
    connection.close()
    return try renew(file, into: next, wrong)
  }

  /// As it is: what is read of a damaged store elsewhere is not its file.
  private func clone(to file: NewFile) throws {
    try meter.begin(.copy)
    let opened = try source.files.openForReading(wal: source.wal)
    try withExtendedLifetime(opened.snapshot) {
      try opened.connection.clone(source.files, readAs: opened.access, to: file, meter)
    }
  }

  /// For writing, through a journal that costs no memory: what fails is undone.
  static func open(_ path: String) throws -> Connection {
    // The log of changes, which is attached, has no journal: not defensive.
    let connection = try Connection(path: path, mode: .made, isDefensive: false)
    connection.limitValues()
    try connection.execute(
      """
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF;
      PRAGMA temp_store = FILE; PRAGMA cache_size = -12000; PRAGMA foreign_keys = OFF
      """)
    try StoreFunctions.define(on: connection)
    return connection
  }

  /// The indexes that SQLite's check names; where it names none, those that cannot be read.
  private func wrongIndexes(at path: String, _ names: Set<String>) throws -> [WrongIndex] {
    let connection = try Connection(path: path, mode: .immutable)
    let names =
      names.isEmpty
      ? Set(try IntegrityCheck.unreadableIndexes(connection).map(\.name)) : names
    let rows = try connection.rows(
      "SELECT name, tbl_name, sql, rootpage FROM sqlite_master WHERE type = 'index'")
    return rows.compactMap { row in
      guard row.count == 4, let name = row[0].text, let table = row[1].text,
        names.contains(name)
      else { return nil }
      return WrongIndex(
        name: name, table: table, sql: row[2].text, root: row[3].integer.flatMap(Int.init(exactly:))
      )
    }
  }

  /// Writes all rows into a new file, which has its own free pages, map of pages and indexes.
  private func renew(_ copy: NewFile, into next: String, _ wrong: [WrongIndex]) throws -> Made {
    let path = copy.path
    // SQLite takes no page of the list now that could be a table's.
    try copy.overwrite([UInt8](repeating: 0, count: 8), at: 32)
    let empty = try EmptyIndexPage(FileSystem.read(path, limit: 100))
    for index in wrong where index.isRemade {
      guard let root = index.root, root > 1 else { continue }
      try copy.overwrite(empty.bytes, at: (root - 1) * empty.bytes.count)
    }
    let file = try FileSystem.createEmpty(next)
    let old = try Self.open(path)
    old.onProgress { [meter] in meter.shouldStop }
    try Self.vacuum(old, into: next)
    old.close()
    StoreSuffix.removeAll(of: path)
    let connection = try Self.open(next)
    connection.onProgress { [meter] in meter.shouldStop }
    var made = Made(path: next, file: file, connection: connection)
    made.notes.append("SQLite rewrote the file: every page of it changed.")
    try IndexMending(indexes: wrong).remake(&made)
    return made
  }

  /// An index may call functions that only Core Data has: its keys are copied as they are, and the
  /// functions are not called.
  private static func vacuum(_ connection: Connection, into path: String) throws {
    for _ in 0..<20 {
      do {
        return try connection.run("VACUUM INTO ?", [.text(path)])
      } catch let error as SQLiteError where error.message.hasPrefix("no such function: ") {
        let name = error.message.dropFirst("no such function: ".count)
        try connection.defineNullFunction(String(name), isDeterministic: true)
      }
    }
    try connection.run("VACUUM INTO ?", [.text(path)])
  }
}

/// An index that does not agree with its table.
struct WrongIndex {
  let name: String
  let table: String
  /// Its CREATE statement; `nil` for one that SQLite makes by itself.
  let sql: String?
  /// The page that it begins with.
  let root: Int?

  /// Whether it can be made here: not one that calls a function which only Core Data has.
  var isRemade: Bool { sql.map { !$0.contains("NSCoreData") } ?? true }
}

/// The first page of an index without keys, in a file with that header.
struct EmptyIndexPage {
  let bytes: [UInt8]

  init(_ head: [UInt8]) throws {
    let header = FileHeader(head)
    guard let size = header.pageSize, head.count > 20 else {
      throw CoreDataError(.unreadable, "the header of the copy cannot be read")
    }
    let usable = size - Int(head[20])
    // A leaf; where its content begins, 65536 is written as 0.
    bytes =
      [
        0x0A, 0, 0, 0, 0, UInt8(truncatingIfNeeded: usable >> 8), UInt8(truncatingIfNeeded: usable),
        0,
      ]
      + [UInt8](repeating: 0, count: size - 8)
  }
}

/// Rebuilds indexes from their tables.
struct IndexMending {
  let indexes: [WrongIndex]

  /// Those that are there.
  func remake(_ made: inout RepairCopy.Made) throws {
    for index in indexes {
      try attempt(index, &made) { try $0.execute("REINDEX main.\(quoted(index.name))") }
    }
    // SQLite shows so many faults at a time.
    for _ in 0..<10 where !indexes.isEmpty {
      let known = Set(made.later.map(\.name))
      let left = Set(
        try IntegrityCheck.problems(made.connection).compactMap(PageLayer.indexName)
      ).subtracting(known)
      guard !left.isEmpty else { return }
      for name in left.sorted() {
        let row = try made.connection.rows(
          "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(name)]
        ).first
        guard let table = row?.first?.text else { continue }
        let index = WrongIndex(name: name, table: table, sql: row?.last?.text, root: nil)
        try attempt(index, &made) { try $0.execute("REINDEX main.\(quoted(name))") }
      }
    }
  }

  private func attempt(
    _ index: WrongIndex, _ made: inout RepairCopy.Made, _ body: (Connection) throws -> Void
  ) throws {
    do {
      try body(made.connection)
      if !made.indexes.contains(where: { $0.name == index.name }) {
        made.indexes.append((index.name, index.table))
      }
    } catch let error as SQLiteError where error.isConstraint {
      guard let sql = index.sql else { throw error }
      try made.connection.execute("DROP INDEX IF EXISTS main.\(quoted(index.name))")
      if !made.later.contains(where: { $0.name == index.name }) {
        made.later.append((index.name, sql))
      }
    } catch let error as SQLiteError where error.isEvaluation {
      made.notes.append(
        "The index \(index.name) was left as it is: it cannot be created here (\(error.message)).")
    }
  }
}

/// The room that a repair of some kinds of fault takes beside the store.
package enum RepairRoom {
  /// Bytes that must be free for a repair of these kinds.
  package static func bytesNeeded(for kinds: Set<FindingKind>, of path: String) -> Int {
    let size = StoreFiles(path: FileSystem.canonical(path)).size
    return kinds.contains(where: \.asksForNewFile) ? 2 * size : size + size / 4
  }

  /// Whether only files of external data are moved, so that the store stays the file that it is and
  /// no backup of it is made.
  package static func movesFilesAlone(_ kinds: Set<FindingKind>) -> Bool {
    kinds == [.externalOrphaned]
  }
}

/// A copy of a store that is being mended, and what each step needs for it.
///
/// The copy is `main` on the connection, the list of changes `log`. Every step first notes what it is
/// going to change, by the same rows that it then changes.
struct RepairWork {
  /// The store as it was, which is only read.
  let source: Store
  let connection: Connection
  let options: RepairOptions
  /// The kinds of fault that are to be mended.
  let kinds: Set<FindingKind>
  let meter: ProgressMeter

  /// Notes a change of each row; all but the kind is SQL.
  ///
  /// - Parameter rows: FROM and WHERE.
  /// - Returns: how many there are.
  @discardableResult
  func note(
    _ kind: FindingKind, entity: String, key: String, property: String, old: String,
    new: String = "NULL", _ rows: String
  ) throws -> Int {
    try connection.execute(
      """
      INSERT INTO log.changes (kind, entity, key, property, old, new)
      SELECT \(kind.rawValue.literal), \(entity), \(key), \(property), \(old), \(new) \(rows)
      """)
    return connection.changes
  }

  /// That an index which asks objects to differ could not be made.
  static func brokenIndex(_ name: String) -> String {
    "The index \(name) was not created: objects break its uniqueness constraint. A repair of uniqueness keeps one of them."
  }

  /// Notes one change.
  func note(_ change: RepairChange) throws {
    func value(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    try connection.run(
      """
      INSERT INTO log.changes (kind, entity, key, property, old, new) VALUES (?, ?, ?, ?, ?, ?)
      """,
      [
        .text(change.kind), value(change.entity), change.key.map { .integer($0) } ?? .null,
        value(change.property), value(change.old), value(change.new),
      ])
  }

  /// The name of the entity of a row, as SQL.
  func entity(of row: String, else name: String) -> String {
    "coalesce((SELECT name FROM log.entities WHERE number = \(row).Z_ENT), \(name.literal))"
  }
}

extension String {
  /// The text as SQL.
  var literal: String { Value.text(self).literal }
}

/// Files of external data that no object names, moved into a folder beside the store.
///
/// After the store is in place: a run that is killed before leaves some where they were, where they do
/// no harm. Nothing is ever deleted; what a backup or another store of the same folder still names stays.
struct OrphanedFiles {
  let files: StoreFiles
  let names: [String]

  /// Those of a store that neither it nor any store that shares its folder names.
  init(of store: Store, at target: String) throws {
    files = StoreFiles(path: target)
    let orphaned = store.modelSource == .raw ? [] : try store.externalData().orphaned
    let sharing = orphaned.isEmpty ? nil : SupportSharing(of: target)
    names = orphaned.filter { sharing?.isNamed($0) == false }
  }

  /// The changes that moving them is, for the list.
  var changes: [RepairChange] {
    names.map {
      RepairChange(
        kind: FindingKind.externalOrphaned.rawValue, property: $0,
        old: FileSystem.name(of: files.externalDataFolder), new: "moved aside")
    }
  }

  /// - Returns: the folder they are in now, `nil` where there were none; and which could not be moved,
  ///   as sentences.
  func move() throws -> (folder: String?, notes: [String]) {
    guard !names.isEmpty, let data = try ExternalFolder(files).folder() else { return (nil, []) }
    let place = StoreNames(files.path)
    let name = place.orphaned
    let target = try Folder(place.folder).createFolder(name)
    let notes = names.compactMap { name -> String? in
      do {
        guard try data.entry(name)?.kind == .file else { return nil }
        try data.renameExclusively(name, to: name, in: target)
        return nil
      } catch {
        return "The file \(name) could not be moved aside: \(error.clause)."
      }
    }
    for note in notes { LeftBehind.add("In \(data.path): \(note)") }
    return (place.path(name), notes)
  }
}

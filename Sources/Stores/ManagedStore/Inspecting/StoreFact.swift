import Files
import ManagedModel
import SQLite
import StoreTables

/// A file or folder that belongs to a store.
public struct StoreFile: Sendable, Equatable {
  /// What it is for.
  public enum Role: String, Sendable, CaseIterable {
    case main
    /// The write-ahead log, `-wal`.
    case log
    /// The log's index, `-shm`.
    case logIndex
    /// The rollback journal, `-journal`.
    case journal
    /// The hidden folder of external data, `.<name>_SUPPORT`.
    case support
  }

  /// What it is for.
  public var role: Role
  /// Where it is.
  public var path: String
  /// Its size; of a folder, that of the files in it.
  public var bytes: Int
  /// When it was last written to, in seconds since 2001-01-01 UTC.
  public var modified: Double?
  /// Files in it; 1 for a file.
  public var files = 1
}

/// What the header of the SQLite file says, with what its log changes.
public struct DatabaseHeader: Sendable, Equatable {
  /// Bytes of a page.
  public var pageSize: Int
  /// Pages in use and free.
  public var pages: Int
  /// Pages that a VACUUM would give back.
  public var freePages: Int
  /// `UTF-8`, `UTF-16le` or `UTF-16be`.
  public var encoding: String
  /// PRAGMA user_version: an app's own number; Core Data leaves it 0.
  public var userVersion: Int
  /// PRAGMA application_id.
  public var applicationID: Int
  /// Whether the header asks for a write-ahead log.
  public var isLogged: Bool
  /// 0 none, 1 full, 2 incremental, as Core Data has it.
  public var autoVacuum: Int
  /// The version of SQLite that wrote the file last, such as `3.43.2`.
  public var writer: String?
}

/// A row of Z_PRIMARYKEY beside what the entity's table holds.
public struct EntityNumber: Sendable, Equatable {
  /// Name as the row has it; a store that was migrated in place may keep an old one.
  public var name: String
  /// Z_ENT.
  public var number: Int64
  /// Z_ENT of the parent entity; 0 for a root.
  public var parent: Int64
  /// Z_MAX: the last key given out, kept by the root of a hierarchy.
  public var maximum: Int64
  /// The entity of the model that has the number; `nil` for history's own and CloudKit's.
  public var entity: String?
  /// The greatest key in the hierarchy's table, for a root.
  public var greatestKey: Int64?
}

/// A file of external data, or the lack of one.
public struct ExternalFile: Sendable, Equatable {
  /// How file and row fit.
  public enum State: String, Sendable {
    case referenced
    /// A row names it, and it is not there.
    case missing
    /// A row names it, and it is there, but cannot be read.
    case unreadable
    /// It is there, and no row names it.
    case orphaned
  }

  /// Name of the file in the folder of external data.
  public var name: String
  /// How file and row fit.
  public var state: State
  /// Its size; 0 where it is missing or cannot be read.
  public var bytes: Int
  /// The first object that names it.
  public var object: ObjectID?
  /// The attribute of that object.
  public var property: String?
}

extension StoreFiles {
  /// The files that are there, with their sizes, in the order of ``StoreFile/Role``.
  public func list() -> [StoreFile] {
    let places: [(StoreFile.Role, String)] = [
      (.main, path), (.log, walPath), (.logIndex, shmPath), (.journal, journalPath),
    ]
    var found = places.compactMap { role, path -> StoreFile? in
      guard let status = FileSystem.status(path), status.kind == .file else { return nil }
      return StoreFile(
        role: role, path: path, bytes: status.size, modified: FileSystem.modification(path))
    }
    if let support = try? openSupportFolder() {
      let size = support.size()
      found.append(
        StoreFile(
          role: .support, path: supportFolder, bytes: size.bytes,
          modified: FileSystem.modification(supportFolder), files: size.files))
    }
    return found
  }
}

extension Store {
  /// What the SQLite file's header says.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func databaseHeader() throws -> DatabaseHeader {
    let head = try FileSystem.read(files.path, limit: 100)
    let version = head.count >= 100 ? head[96..<100].reduce(0) { $0 << 8 | Int($1) } : 0
    return try reading {
      func number(_ name: String) throws -> Int {
        Int(try connection.value("PRAGMA \(name)")?.integer ?? 0)
      }
      return DatabaseHeader(
        pageSize: try number("page_size"), pages: try number("page_count"),
        freePages: try number("freelist_count"),
        encoding: try connection.value("PRAGMA encoding")?.text ?? "",
        userVersion: try number("user_version"), applicationID: try number("application_id"),
        isLogged: head.count >= 20 && head[18] == 2, autoVacuum: try number("auto_vacuum"),
        writer: version > 0
          ? "\(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)" : nil)
    }
  }

  /// The rows of Z_PRIMARYKEY, by number.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func entityNumbers() throws -> [EntityNumber] {
    try reading {
      try connection.rows(
        """
        SELECT Z_ENT, substr(Z_NAME, 1, 500), Z_SUPER, Z_MAX FROM Z_PRIMARYKEY
        ORDER BY Z_ENT LIMIT 10000
        """
      ).compactMap { row in
        guard row.count == 4, let number = row[0].integer else { return nil }
        let entity = entityNames[number]
        var greatest: Int64?
        if let entity, let table = layout.table(of: entity), table.isWholeTable,
          database.contains(table.table)
        {
          greatest = try connection.value("SELECT max(Z_PK) FROM \(quoted(table.table))")?.integer
        }
        return EntityNumber(
          name: row[1].text ?? "", number: number, parent: row[2].integer ?? 0,
          maximum: row[3].integer ?? 0, entity: entity, greatestKey: greatest)
      }
    }
  }

  /// Files of external data: those that are missing first, then those that cannot be
  /// read, then orphaned ones, then the largest.
  ///
  /// - Returns: at most `limit` files, and how many there are of each state.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func externalFiles(
    limit: Int = 1_000
  ) throws -> (files: [ExternalFile], report: ExternalDataReport) {
    var named: [String: ExternalFile] = [:]
    var report = ExternalDataReport()
    let folder = ExternalFolder(files)
    try reading {
      for table in entityTables {
        for entry in table.attributes where entry.attribute.allowsExternalBinaryDataStorage {
          let own = table.ownRows()
          let scan = own == nil ? try externalScan(of: table.table, [entry.column]) : nil
          let found =
            try externalNames(of: table.table, [entry.column], told: scan)
            ?? askedExternalNames(of: table.table, [entry.column], where: own)
          for row in found where named[row.name] == nil {
            var (bytes, state) = (0, ExternalFile.State.referenced)
            switch folder.place(of: row.name) {
            case .file(let file): bytes = file.size
            case .missing: state = .missing
            case .unreadable(let error):
              state = .unreadable
              report.unreadable.append(.init(name: row.name, reason: error.message))
            }
            named[row.name] = ExternalFile(
              name: row.name, state: state, bytes: bytes,
              object: ObjectID(entity: table.entity, key: row.key),
              property: entry.attribute.name)
          }
        }
      }
    }
    report.referenced = named.count
    report.unreadable.sort { $0.name < $1.name }
    var all = Array(named.values)
    (report.orphaned, report.unlisted) = try orphans(in: folder, besides: Set(named.keys))
    for name in report.orphaned {
      all.append(ExternalFile(name: name, state: .orphaned, bytes: folder.size(of: name)))
    }
    report.missing = all.filter { $0.state == .missing }.map(\.name).sorted()
    let ranks: [ExternalFile.State: Int] = [.missing: 0, .unreadable: 1, .orphaned: 2]
    func rank(_ file: ExternalFile) -> Int { ranks[file.state] ?? 3 }
    all.sort { (rank($0), -$0.bytes, $0.name) < (rank($1), -$1.bytes, $1.name) }
    return (Array(all.prefix(max(0, limit))), report)
  }
}

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

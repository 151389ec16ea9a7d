import ManagedModel
import SQLite
import StoreTables

/// The row of Z_METADATA: who made the store, and of which model.
public struct StoreMetadata: Sendable, Equatable {
  /// The store's identity (Z_UUID); object URIs contain it.
  public var uuid: String
  /// Everything in Z_PLIST; keys that an app put there are kept through a migration.
  public var values: [String: PropertyListValue]

  /// Makes metadata of a property list's entries.
  public init(uuid: String, values: [String: PropertyListValue]) {
    self.uuid = uuid
    self.values = values
  }

  /// Hash of each entity of the model that made the store, as Core Data wrote it.
  public var versionHashes: [String: VersionHash] {
    (values["NSStoreModelVersionHashes"]?.dictionary ?? [:]).compactMapValues {
      $0.data.flatMap { VersionHash(bytes: $0) }
    }
  }

  /// Identifiers of the model version that made the store.
  public var versionIdentifiers: [String] {
    switch values["NSStoreModelVersionIdentifiers"] {
    case .array(let items): items.compactMap(\.string)
    case .string(let text): [text]
    default: []
    }
  }

  /// NSStoreType: `SQLite` in every store that can be read here.
  public var storeType: String? { values["NSStoreType"]?.string }
  /// NSStoreModelVersionHashesDigest as Core Data wrote it, in Base64.
  public var digest: String? { values["NSStoreModelVersionHashesDigest"]?.string }
  /// NSStoreModelVersionChecksumKey as Core Data wrote it; `nil` in older stores.
  public var checksum: String? { values["NSStoreModelVersionChecksumKey"]?.string }

  /// Number of the framework that last saved the store: 419 is iOS 5, 1526 macOS 26.
  public var frameworkVersion: Int? {
    if case .integer(let number) = values["NSPersistenceFrameworkVersion"] {
      Int(number)
    } else {
      nil
    }
  }

  /// What to say of a database that has none of Core Data's tables.
  package static func noStore(_ path: String) -> CoreDataError {
    CoreDataError(
      .unreadable, code: .persistentStoreInvalidType,
      "an SQLite database, but not a Core Data store", path: path,
      hint: "It has no Z_METADATA and Z_PRIMARYKEY tables; open it with sqlite3.")
  }

  /// Reads the metadata of an open database.
  ///
  /// - Throws: ``CoreDataError`` when the database is no Core Data store, or its metadata is empty
  ///   or no property list.
  package init(_ connection: Connection, path: String) throws {
    let row: [Value]?
    do {
      let tables = try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
      guard Set(["Z_METADATA", "Z_PRIMARYKEY"]).isSubset(of: tables.compactMap { $0.first?.text })
      else {
        throw Self.noStore(path)
      }
      row = try connection.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1").first
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    }
    guard let row, row.count == 2 else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen, "the store's metadata (Z_METADATA) has no row",
        path: path)
    }
    let bytes = row[1].blob ?? row[1].text.map { Array($0.utf8) } ?? []
    guard !bytes.isEmpty else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "the store's metadata (Z_METADATA.Z_PLIST) is empty",
        path: path, hint: "Core Data would not open it either: take another copy of the store.")
    }
    let list: PropertyListValue
    do {
      list = try PropertyList.read(bytes)
    } catch {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "the store's metadata (Z_METADATA.Z_PLIST) is not a property list: \(error.message)",
        path: path)
    }
    guard case .dictionary(let values) = list else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "the store's metadata (Z_METADATA.Z_PLIST) is not a dictionary",
        path: path)
    }
    self.init(uuid: row[0].text ?? "", values: values)
  }

  /// Says to CloudKit mirroring that everything is to be fetched again.
  ///
  /// At its next start the mirroring marks all zones for a fetch and removes the key. Without it, what newer
  /// devices wrote into fields that the old model did not have never arrives (cloudkit.md).
  package static let zoneFetchKey = "PFCloudKitMetadataNeedsZoneFetchAfterClientMigrationKey"
  /// Says that a lightweight migration left columns to be dropped later, see ``DeferredColumn``.
  static let deferredKey = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

  /// Metadata of a model, over what is there: hashes, digest, checksum and identifiers change, nothing is deferred
  /// any more, and everything else stays.
  ///
  /// - Parameter needsZoneFetch: whether CloudKit mirroring has to fetch everything again.
  public func updated(for model: Model, needsZoneFetch: Bool = false) -> StoreMetadata {
    var copy = self
    copy.values[Self.deferredKey] = nil
    if needsZoneFetch { copy.values[Self.zoneFetchKey] = .dictionary([:]) }
    copy.values["NSStoreModelVersionHashes"] = .dictionary(
      model.versionHashes.mapValues { .data($0.bytes) })
    copy.values["NSStoreModelVersionHashesVersion"] = .integer(3)
    copy.values["NSStoreModelVersionHashesDigest"] = .string(model.versionHashesDigest)
    copy.values["NSStoreModelVersionChecksumKey"] = .string(model.versionChecksum)
    copy.values["NSStoreModelVersionIdentifiers"] = .array(
      model.versionIdentifiers.map { .string($0) })
    return copy
  }
}

extension CoreDataError {
  /// What an SQLite failure on a store means for the person.
  ///
  /// A statement that was interrupted on purpose is a cancellation, whatever it was part of.
  package init(sqlite error: SQLiteError, path: String, kind: Kind = .unreadable) {
    guard !error.isInterrupted else {
      self = .cancelled(path)
      return
    }
    let advice: Advice? =
      switch error.code {
      case 5, 6: "Another program is using the store: close it and try again."
      case 8: "The store or its folder is read-only."
      case 11, 26:
        "The file is damaged, or a -wal of another store is beside it: \(.deed("diagnosis"), of: [ShellText.quoted(path)]) shows which, and what helps."
      case 13: "The disk is full: free some space and try again."
      case 18:
        "An expression, of a recipe or of an index in the store, computes a value that is too long for a store of this size."
      case 14: "Check the permissions of the store and of its folder."
      default: nil
      }
    self.init(
      kind, code: .sqlite, "SQLite: \(error.message) (\(error.extendedCode))", path: path,
      advice: advice)
  }
}

/// What of a store's own bookkeeping cannot be read; the objects may be whole all the same.
package struct StoreFlaws: Sendable, Equatable {
  /// Why there is no metadata; `nil` where it was read.
  package var metadata: CoreDataError?
  /// Why the model in the store cannot be read; `nil` if it was read, or the store has none.
  package var modelCache: CoreDataError?

  /// Whether all of it was read.
  package var isEmpty: Bool { metadata == nil && modelCache == nil }

  /// Whether a database has any of the tables that every store has.
  static func isOfCoreData(_ connection: Connection) -> Bool {
    let own =
      (try? connection.value(
        """
        SELECT count(*) FROM sqlite_master
        WHERE type = 'table' AND name IN ('Z_METADATA', 'Z_PRIMARYKEY', 'Z_MODELCACHE')
        """))?.integer
    return own ?? 0 > 0
  }
}

extension Store {
  /// Columns that a deferred lightweight migration has still to drop, by table and name.
  public var deferredColumns: [DeferredColumn] {
    database.tables.sorted { $0.key < $1.key }.flatMap { table, columns in
      columns.compactMap { DeferredColumn($0.name, of: table) }.sorted { $0.name < $1.name }
    }
  }

  /// Says that a lightweight migration of the store is deferred; `nil` where none is.
  package var deferral: String? {
    let columns = deferredColumns
    let isNoted = metadata.values[StoreMetadata.deferredKey].map { $0.boolean != false } ?? false
    guard isNoted || !columns.isEmpty else { return nil }
    let names = columns.prefix(5).map { "\($0.table).\($0.formerName)" }.joined(separator: ", ")
    let rest = columns.count > 5 ? " and \(columns.count - 5) more" : ""
    let what =
      columns.isEmpty
      ? "The metadata say so; no column is left to be dropped."
      : columns.count == 1
        ? "1 column of a removed property is still to be dropped: \(names)."
        : "\(columns.count) columns of removed properties are still to be dropped: \(names)\(rest)."
    return
      "A lightweight migration of this store was deferred. \(what) The store is current and opens as it is. The app drops such columns when it finishes the deferred migration, and so does every migration by strata."
  }
}

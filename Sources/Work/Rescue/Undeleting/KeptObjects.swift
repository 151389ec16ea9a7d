import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite
import Salvage

/// Objects that no row of a store holds any more and that a backup beside it does.
///
/// What strata deletes it overwrites with zeros, so that nothing of it is left in the store's file: the backup that an
/// edit, a repair or a rollback left is where such objects are.
package struct KeptObjects: Sendable, Equatable {
  /// The backup.
  package let backup: StoreBackup
  /// How many objects there are, by entity.
  package let counts: [String: Int]

  /// How many backups are opened.
  private static let mostBackups = 8

  /// How many objects of all entities there are.
  package var count: Int { counts.values.reduce(0, +) }

  /// What a person should know of it.
  package var sentence: String {
    let entities = counts.sorted { $0.key < $1.key }.map {
      "\($0.key) \(NumberText.grouped($0.value))"
    }
    return
      "\(NumberText.counted(count, "object")) that the store no longer has \(count == 1 ? "is" : "are") in its backup \(FileSystem.name(of: backup.path)), left by a \(backup.origin.words): \(entities.joined(separator: ", "))."
  }

  /// Looks into the backups of a store that have its UUID and its model, the newest first.
  ///
  /// - Parameters:
  ///   - path: the store's main file.
  ///   - remains: shows which keys of the store are in use, and its UUID.
  ///   - model: the model that the store is read with.
  static func all(
    of path: String, _ remains: RemainsCopy, model: Model
  ) -> [KeptObjects] {
    // Where every key is in use nothing was deleted.
    let tables = remains.unused.filter { $0.value > 0 }.map(\.key)
    let uuid = try? remains.connection.value("SELECT Z_UUID FROM Z_METADATA")?.text
    guard !tables.isEmpty, let uuid else { return [] }
    return StoreBackup.all(of: path).prefix(mostBackups).compactMap { backup in
      // One that cannot be read has nothing to offer.
      guard let store = try? backup.opened(backup.path), store.metadata.uuid == uuid,
        store.metadata.versionHashes == model.versionHashes,
        let counts = try? counts(in: store, tables, remains), !counts.isEmpty
      else { return nil }
      return KeptObjects(backup: backup, counts: counts)
    }
  }

  private static func counts(
    in store: Store, _ tables: [String], _ remains: RemainsCopy
  ) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for table in tables where store.database.contains(table) {
      let living = remains.living(in: table)
      let rows = try store.connection.prepare(
        "SELECT Z_ENT, Z_PK FROM \(quoted(table)) NOT INDEXED")
      while try rows.step() {
        guard !living.contains(rows.integer(at: 1)),
          let name = store.entityNames[rows.integer(at: 0)]
        else { continue }
        counts[name, default: 0] += 1
      }
    }
    return counts
  }
}

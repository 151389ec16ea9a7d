import ManagedStore
import Migration

/// What an edit changed, for a person and for a log.
package struct EditReceipt: Sendable {
  /// Objects of one entity.
  package struct EntityCount: Sendable, Equatable {
    /// Name of the entity.
    package var entity: String
    /// Objects of which a property was set, or a relationship changed from the other side.
    package var changed = 0
    /// Objects that are gone.
    package var deleted = 0
  }

  /// What the app will send to iCloud because of it.
  package struct Mirrored: Sendable, Equatable {
    /// Objects whose changes it sends; with ``deletions`` nothing where the store keeps no history.
    package var changes: Int
    /// Objects that it deletes on all devices.
    package var deletions: Int
  }

  /// Path of the store that was edited.
  package let storePath: String
  /// Where the result is; the store itself, or the output file. `nil` where nothing was written.
  package internal(set) var resultPath: String?
  /// Objects of each entity that were changed or deleted, by name.
  package internal(set) var entities: [EntityCount] = []
  /// Stands for all of those objects as they were before: another number where one of them, or which they are, is
  /// another.
  package internal(set) var objectsNumber: Int?
  /// Number of the transaction in persistent history; `nil` where the store keeps none.
  package internal(set) var transaction: Int64?
  /// What the app will send; `nil` where the store is not mirrored.
  package internal(set) var mirrored: Mirrored?
  /// What was compared afterwards and found right.
  package internal(set) var verified: [MigrationReceipt.Verified] = []
  /// What else a person should know, as sentences.
  package internal(set) var notes: [String] = []
  /// The store's identity, which stays the same.
  package internal(set) var uuid = ""
  /// The old store, kept beside the new one; `nil` with an output.
  package internal(set) var backupPath: String?
  /// SHA-256 of the result's file and of the backup's.
  package internal(set) var checksums: (result: String?, backup: String?) = (nil, nil)
  /// Seconds in all, verification included.
  package internal(set) var seconds = 0.0
  /// Seconds spent on verification.
  package internal(set) var verificationSeconds = 0.0
  /// Size of the result.
  package internal(set) var bytes = 0
  /// Room that the edit takes beside the store.
  package internal(set) var bytesNeeded = 0
  /// Room that is there; `nil` where the file system does not say.
  package internal(set) var bytesFree: Int?

  /// Objects that were changed, in all.
  package var changed: Int { entities.reduce(0) { $0 + $1.changed } }
  /// Objects that are gone, in all.
  package var deleted: Int { entities.reduce(0) { $0 + $1.deleted } }
  /// Whether the store is as was asked already.
  package var isNothing: Bool { changed == 0 && deleted == 0 }

  init(storePath: String) { self.storePath = storePath }
}

extension EditReceipt.Mirrored {
  /// What will be sent, as a sentence.
  package var sentence: String {
    changes + deletions == 0
      ? "The store is mirrored to iCloud and keeps no history: the app will not notice the changes."
      : "The store is mirrored to iCloud: the app will send \(NumberText.counted(changes, "change")) and \(NumberText.counted(deletions, "deletion")) to all devices."
  }
}

import ManagedModel
import Migration

/// What a repair did.
package struct RepairReceipt: Sendable {
  /// Changes of one kind.
  package struct Kind: Sendable, Equatable {
    /// ``FindingKind`` by name, or `derived`.
    package var name: String
    /// How many changes.
    package var count: Int
    /// The first few.
    package var first: [RepairChange]
  }

  /// The store that was repaired, as it was given.
  package var storePath: String
  /// Where the result is: the store itself, or the output; `nil` where nothing was put in place.
  package var resultPath: String?
  /// The faults that were to be mended.
  package var faults: [Finding]
  /// What was changed, by kind.
  package var kinds: [Kind] = []
  /// Errors and warnings that are there afterwards.
  package var left: [Finding] = []
  /// What was compared and found right.
  package var verified: [MigrationReceipt.Verified] = []
  /// The store's identity.
  package var uuid: String = ""
  /// The old store, kept beside the new one.
  package var backupPath: String?
  /// The folder into which files were moved that no object names.
  package var orphanFolder: String?
  /// SHA-256 of the result's file and of the backup's, in hexadecimal.
  package var checksums: (result: String?, backup: String?) = (nil, nil)
  /// What a person should know, as sentences.
  package var notes: [String] = []
  /// Seconds in all.
  package var seconds = 0.0
  /// Seconds of them spent on verification.
  package var verificationSeconds = 0.0
  /// Size of the result in bytes.
  package var bytes = 0

  /// How many changes in all.
  package var count: Int { kinds.reduce(0) { $0 + $1.count } }

  /// Whether anything was mended, or would be.
  package var isDone: Bool { count > 0 }
}

/// A repair, with all its changes one by one.
package struct Repaired {
  /// What was done.
  package let receipt: RepairReceipt
  /// Every change; `nil` where there was nothing to mend.
  package let log: RepairLog?
}

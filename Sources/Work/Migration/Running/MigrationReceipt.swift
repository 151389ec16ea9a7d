import ManagedStore

/// What a finished migration did, for a person and for a log.
public struct MigrationReceipt: Sendable, Equatable {
  /// Objects of one entity before and after.
  public struct EntityCount: Sendable, Equatable {
    /// Destination entity; for removed objects the source entity.
    public var entity: String
    /// Objects of the source entity that became this one, and objects there now.
    public var before: Int
    /// Objects of the entity in the result.
    public var after: Int
    /// Objects that were taken over otherwise than as they are: a property of theirs came, went, or
    /// got another name or value. `nil` where code of a stage changed what nothing shows.
    public var changed: Int?
  }

  /// Something that was compared, and how often.
  public struct Verified: Sendable, Equatable {
    /// What was compared.
    public var what: String
    /// How many of them were found equal.
    public var count: Int

    /// What was compared, and how often.
    package init(what: String, count: Int) { (self.what, self.count) = (what, count) }
  }

  /// Path of the store that was migrated.
  public var storePath: String
  /// Where the result is: the store itself, or the output file.
  public var resultPath: String
  /// Name of the version the store had.
  public var from: String
  /// Name of the version it has now.
  public var to: String
  /// How the result came about.
  public var strategy: MigrationPlan.Strategy
  /// Objects of each entity, before and after.
  public var entities: [EntityCount]
  /// Links in the result, by `Entity.relationship`.
  public var links: [String: Int] = [:]
  /// What was lost, as the plan foretold it and the options allowed.
  public var losses: [Loss] = []
  /// What was compared after the run and found right.
  public var verified: [Verified] = []
  /// The store's identity, which stays the same.
  public var uuid: String
  /// Version checksum of the destination model.
  public var checksum: String
  /// The plan's remarks.
  public var notes: [String] = []
  /// Seconds in all, verification included.
  public var seconds: Double
  /// Seconds spent on verification.
  public var verificationSeconds: Double
  /// Size of the result.
  public var bytes: Int
  /// The old store, kept beside the new one; `nil` with `--output` or `--no-backup`.
  public var backupPath: String?
  /// Steps from version to version that it took.
  public var steps = 1
  /// Values in files of their own, as the result's rows name them.
  public var externalData = ExternalDataReport()
  /// SHA-256 of the result's file, in hexadecimal, as it was put in place.
  public var resultSHA256: String?
  /// SHA-256 of the backup's file, in hexadecimal; its -wal, where it has one, is not in it.
  public var backupSHA256: String?

  /// Objects that the result does not have any more: of entities that are gone, and those fewer than
  /// before of the others.
  public var dropped: Int { entities.reduce(0) { $0 + max(0, $1.before - $1.after) } }
  /// Objects that the result has besides those that were taken over.
  public var created: Int { entities.reduce(0) { $0 + max(0, $1.after - $1.before) } }

  /// Objects that were taken over otherwise than as they are; `nil` where nothing decides.
  public var changed: Int? {
    entities.reduce(0) { sum, count in sum.flatMap { sum in count.changed.map { sum + $0 } } }
  }
}

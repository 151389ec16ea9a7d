import ManagedModel
import ManagedStore

/// What a finished migration did, for a person and for a log.
public struct MigrationReceipt: Sendable, Equatable {
  public struct EntityCount: Sendable, Equatable {
    /// Destination entity; for removed objects the source entity.
    public var entity: String
    /// Objects of the source entity that became this one, and objects there now.
    public var before: Int
    public var after: Int

    public init(entity: String, before: Int, after: Int) {
      self.entity = entity
      self.before = before
      self.after = after
    }
  }

  public struct Verified: Sendable, Equatable {
    public var what: String
    public var count: Int

    public init(what: String, count: Int) {
      self.what = what
      self.count = count
    }
  }

  public var storePath: String
  /// Where the result is: the store itself, or the output file.
  public var resultPath: String
  public var from: String
  public var to: String
  public var strategy: MigrationPlan.Strategy
  public var entities: [EntityCount]
  /// Links in the result, by `Entity.relationship`.
  public var edges: [String: Int]
  public var losses: [Loss]
  /// What was compared after the run and found right.
  public var verified: [Verified]
  public var uuid: String
  public var checksum: String
  public var notes: [String]
  /// Seconds in all, and those of them spent on verification.
  public var seconds: Double
  public var verificationSeconds: Double
  public var bytes: Int
  /// The old store, kept beside the new one; `nil` with `--output` or `--no-backup`.
  public var backupPath: String?

  public init(
    storePath: String, resultPath: String, from: String, to: String,
    strategy: MigrationPlan.Strategy, entities: [EntityCount], edges: [String: Int] = [:],
    losses: [Loss] = [], verified: [Verified] = [], uuid: String, checksum: String,
    notes: [String] = [], seconds: Double, verificationSeconds: Double, bytes: Int,
    backupPath: String?
  ) {
    self.storePath = storePath
    self.resultPath = resultPath
    self.from = from
    self.to = to
    self.strategy = strategy
    self.entities = entities
    self.edges = edges
    self.losses = losses
    self.verified = verified
    self.uuid = uuid
    self.checksum = checksum
    self.notes = notes
    self.seconds = seconds
    self.verificationSeconds = verificationSeconds
    self.bytes = bytes
    self.backupPath = backupPath
  }
}

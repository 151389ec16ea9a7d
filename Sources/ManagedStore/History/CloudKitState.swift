/// How far CloudKit mirroring has got, as the tables that NSPersistentCloudKitContainer keeps in
/// the store (ANSCK…) show it.
///
/// Whatever a version of the framework does not keep is empty or `nil`.
public struct CloudKitState: Sendable, Equatable {
  /// A zone of records.
  public struct Zone: Sendable, Equatable {
    /// The zone's name; that of the private database is `com.apple.coredata.cloudkit.zone`.
    public var name: String
    /// The owner's record name; `__defaultOwner__` for the person's own.
    public var owner: String?
    /// Records that objects of the store have in it.
    public var records: Int
    /// When changes of it were last fetched.
    public var lastFetch: Double?
  }

  /// A run of the mirroring: ANSCKEVENT.
  public struct Event: Sendable, Equatable {
    /// What a run is for, by the numbers that ZCLOUDKITEVENTTYPE has for it.
    public enum Kind: Int64, Sendable {
      case setup = 0
      case `import` = 1
      case export = 2
    }

    /// `nil` for a number that is none of Core Data's.
    public var kind: Kind?
    /// When it began.
    public var start: Double?
    /// When it ended; `nil` while it runs, or when the app was ended in the middle.
    public var end: Double?
    /// Whether it did what it was to do.
    public var succeeded: Bool
    /// Objects that it moved.
    public var objects: Int?
    /// `CKErrorDomain 2` and the like; `nil` without an error.
    public var error: String?
  }

  /// Objects of one entity that have a record.
  public struct EntityRecords: Sendable, Equatable {
    /// The entity.
    public var entity: String
    /// Objects with a record.
    public var records: Int
    /// Of them, those that an export sends.
    public var pendingUploads: Int
    /// Of them, those that an export deletes in iCloud: such a row outlives its object.
    public var pendingDeletes: Int
  }

  /// What waits to be sent, and what of history the mirroring has still to look at.
  public var backlog = CloudKitBacklog()
  /// Zones that the store mirrors.
  public var zones: [Zone] = []
  /// Entities that have records, by name.
  public var entities: [EntityRecords] = []
  /// The last runs, newest first.
  public var events: [Event] = []
  /// The last import that succeeded.
  public var lastImport: Double?
  /// The last export that succeeded.
  public var lastExport: Double?

  /// Makes the state of a store that mirrors nothing yet.
  public init() {}
}

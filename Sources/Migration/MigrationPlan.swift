import ManagedModel
import ManagedStore

/// Everything a migration would do to one store, found out without writing a byte.
public struct MigrationPlan: Sendable, Equatable {
  /// One pair of versions on the way.
  public struct Step: Sendable, Equatable {
    /// Version names where they are known, else the store's file name or a model's path.
    public var from: String
    public var to: String
    public var source: Model
    public var destination: Model
    public var mapping: MappingModel
    /// Objects that each entity mapping takes, by the mapping's name.
    public var rows: [String: Int]
  }

  public enum Strategy: String, Sendable {
    /// A clone of the store is altered by SQL.
    case inPlace = "in-place"
    /// Objects are copied into a new file.
    case copy
  }

  public var storePath: String
  public var steps: [Step]
  public var losses: [Loss]
  public var checks: [DataCheck]
  public var strategy: Strategy
  /// Size of the store with its -wal, in bytes.
  public var storeBytes: Int
  /// Bytes that must be free beside the store (or beside the output) while it runs.
  public var bytesNeeded: Int
  /// Bytes that are free there; `nil` where the system does not tell.
  public var bytesFree: Int?
  /// Remarks that are neither losses nor failures: rules that were assumed, pending uploads.
  public var notes: [String]
  /// The destination model's own archive where it came as one: it goes into the store as it is.
  public var destinationArchive: [UInt8]?

  /// Whether the store is of the destination model already.
  public var isNothingToDo: Bool { steps.allSatisfy { $0.mapping.kind == .none } }

  /// Losses that the given allowances leave.
  public func unallowedLosses(_ allowed: Set<String>) -> [Loss] {
    losses.filter { !$0.isAllowed(by: allowed) }
  }
}

/// Values or objects of this store that a migration would drop.
public struct Loss: Sendable, Equatable {
  public var entity: String
  /// `nil` when whole objects go.
  public var property: String?
  /// Values, links or objects that would go; never 0.
  public var values: Int
  /// The first of them, as text.
  public var samples: [String]
  /// What was probably meant: a renaming identifier that is missing.
  public var suggestion: String?

  public init(
    entity: String, property: String? = nil, values: Int, samples: [String] = [],
    suggestion: String? = nil
  ) {
    self.entity = entity
    self.property = property
    self.values = values
    self.samples = samples
    self.suggestion = suggestion
  }

  /// What `--allow-loss` takes: `Entity` or `Entity.property`.
  public var name: String { property.map { "\(entity).\($0)" } ?? entity }

  /// A whole entity's name allows the loss of its properties too.
  public func isAllowed(by allowed: Set<String>) -> Bool {
    allowed.contains(name) || allowed.contains(entity)
  }
}

/// A rule of the destination model that this store's data would break.
public struct DataCheck: Sendable, Equatable {
  /// Core Data's code: 134110 or 134111.
  public var code: Int
  public var entity: String
  public var property: String?
  /// Objects that break the rule; never 0.
  public var rows: Int
  public var first: [ObjectID]
  public var message: String
  public var hint: String

  public init(
    code: Int, entity: String, property: String?, rows: Int, first: [ObjectID] = [],
    message: String, hint: String
  ) {
    self.code = code
    self.entity = entity
    self.property = property
    self.rows = rows
    self.first = first
    self.message = message
    self.hint = hint
  }
}

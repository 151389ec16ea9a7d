/// A save that persistent history remembers: when, by whom, and how much it changed.
public struct HistoryTransaction: Sendable, Equatable {
  /// The number that a history token holds (ATRANSACTION.Z_PK); later saves have greater ones.
  public var number: Int64
  /// Seconds since 2001-01-01 UTC; `nil` where the row has none.
  public var timestamp: Double?
  /// `transactionAuthor` of the context that saved.
  public var author: String?
  /// `name` of the context that saved.
  public var context: String?
  /// The process that saved.
  public var process: String?
  /// The bundle identifier of that process.
  public var bundle: String?
  /// Objects inserted, updated and deleted.
  public var counts = HistoryCounts()
}

/// How many objects were inserted, updated and deleted.
public struct HistoryCounts: Sendable, Equatable {
  /// Objects that were made.
  public var inserted = 0
  /// Objects of which a value changed.
  public var updated = 0
  /// Objects that went.
  public var deleted = 0

  /// All of them.
  public var total: Int { inserted + updated + deleted }
}

/// What one transaction did to one object.
public struct HistoryChange: Sendable, Equatable {
  /// The kinds of change, by the numbers that ACHANGE.ZCHANGETYPE has for them.
  public enum Kind: Int64, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
  }

  /// A value that history kept of a deleted object.
  public struct Tombstone: Sendable, Equatable {
    /// The attribute; `nil` where the model does not say whose value it is.
    public var property: String?
    /// The value as the attribute held it; as it is stored where the attribute is not known.
    public var value: PropertyValue
  }

  /// ACHANGE.Z_PK, by which the next page begins.
  public var number: Int64
  /// `nil` for a number that is none of Core Data's.
  public var kind: Kind?
  /// The object; of an entity called `Z_ENT 7` where the model has none of that number.
  public var object: ObjectID
  /// Names of the properties that an update wrote; `nil` where they cannot be determined. Of a to-many relationship
  /// the name ends in `?` where the bit may be another to-many's.
  public var properties: [String]?
  /// What is left of a deleted object.
  public var tombstones: [Tombstone] = []
}

/// What history knows of one author of transactions.
public struct HistoryAuthor: Sendable, Equatable {
  /// The author's name; `nil` for transactions without one.
  public var name: String?
  /// Transactions of that author.
  public var transactions: Int
  /// What all of them did.
  public var counts: HistoryCounts
  /// Timestamp of the oldest.
  public var first: Double?
  /// Timestamp of the newest.
  public var last: Double?
}

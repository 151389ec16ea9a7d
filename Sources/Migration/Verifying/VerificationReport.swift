import ManagedModel
import ManagedStore
import SQLite

/// What comparing a migrated store with its source brought to light.
public struct VerificationReport: Sendable, Equatable {
  /// Something that is not as the mapping says.
  public struct Difference: Sendable, Equatable {
    /// What of a store a difference is in.
    public enum Part: String, Sendable, CaseIterable {
      /// Objects, their values and links.
      case objects
      /// The file itself.
      case file
      /// Tables, columns, indexes, triggers and views.
      case schema
      /// Tables of the app, which no model asks for.
      case otherTables = "other-tables"
      /// Z_UUID.
      case uuid
      /// The property list in Z_METADATA.
      case metadata
      /// Z_MODELCACHE.
      case modelCache = "model-cache"
      /// Z_PRIMARYKEY.
      case primaryKey = "primary-key"
      /// Persistent history.
      case history
      /// Tables of CloudKit mirroring.
      case cloudKit = "cloudkit"
    }

    /// What it is in.
    public var part = Part.objects
    /// Destination entity; `nil` where it concerns the file.
    public var entity: String?
    /// Property, where it concerns one.
    public var property: String?
    /// What is wrong, as a clause.
    public var message: String
    /// Values, links or objects concerned.
    public var count: Int
    /// The first objects concerned.
    public var first: [ObjectID] = []
  }

  /// What is said of a file in which SQLite finds nothing wrong.
  static let integrity = "database integrity"

  /// Whether the file of the result was found to be sound.
  public var isFileSound: Bool { verified.contains { $0.what == Self.integrity } }

  /// Objects of each entity before and after.
  public var entities: [MigrationReceipt.EntityCount] = []
  /// Links in the result, by `Entity.relationship`.
  public var links: [String: Int] = [:]
  /// What was compared, and how often.
  public var verified: [MigrationReceipt.Verified] = []
  /// What is wrong; empty where everything is as it should be.
  public var differences: [Difference] = []
  /// What is odd in both stores, as sentences: no difference.
  public var notes: [String] = []

  /// Whether everything is as the mapping says.
  public var isEqual: Bool { differences.isEmpty }

  /// Adds what was compared by itself.
  mutating func add(_ other: VerificationReport) {
    verified += other.verified
    differences += other.differences
    notes += other.notes
    links.merge(other.links) { $1 }
  }

  mutating func fail(
    _ part: Difference.Part = .objects, entity: String?, property: String? = nil, message: String,
    count: Int = 1, first: [ObjectID] = []
  ) {
    differences.append(
      Difference(
        part: part, entity: entity, property: property, message: message, count: count, first: first
      ))
  }

  /// Says first what is wrong with the file of the result: nothing, or that.
  ///
  /// - Parameter problems: sentences, SQLite's as a rule.
  mutating func tell(integrity problems: [String]) {
    verified.removeAll { $0.what == Self.integrity }
    guard !problems.isEmpty else {
      return verified.insert(.init(what: Self.integrity, count: 1), at: 0)
    }
    differences.insert(
      Difference(
        part: .file, entity: nil,
        message: "the migrated file is damaged: \(problems.joined(separator: "; "))",
        count: problems.count), at: 0)
  }

  /// - Throws: ``CoreDataError`` for the first difference.
  func requireEqual(or reason: String) throws {
    guard let difference = differences.first else { return }
    throw CoreDataError(
      .failed, code: .migration, "verification failed: \(difference.message)",
      entity: difference.entity, property: difference.property,
      hint: "The store is as it was. Please report this: \(reason).")
  }

  /// Links of each relationship in `main`.
  mutating func countLinks(in schema: StoreSchema, _ connection: Connection) throws {
    for entity in schema.model.entities {
      guard let table = schema.entityTable(of: entity.name) else { continue }
      _ = try countObjects(table, connection)
    }
    for join in schema.joins {
      links["\(join.entity).\(join.relationship)"] = try connection.number(
        "SELECT count(*) FROM main.\(quoted(join.name))")
    }
  }

  /// Objects of exactly one entity, and the links that their rows keep, in one pass.
  ///
  /// - Parameter facts: what was found out about the rows already.
  mutating func countObjects(
    _ table: EntityTable, _ connection: Connection, knowing facts: ReadFacts? = nil
  ) throws -> Int {
    let links = table.relationships.compactMap { entry -> (name: String, column: String)? in
      entry.storage?.toOneColumn.map { (entry.relationship.name, $0) }
    }
    let empty = links.compactMap { facts?.nulls(in: $0.column, of: table) }
    if let rows = facts?.rows(of: table), empty.count == links.count {
      for (link, empty) in zip(links, empty) {
        self.links["\(table.entity).\(link.name)"] = rows - empty
      }
      return rows
    }
    let counts = ["count(*)"] + links.map { "count(\(quoted($0.column)))" }
    let row =
      try connection.rows(
        """
        SELECT \(counts.joined(separator: ", ")) FROM main.\(quoted(table.table))
        WHERE Z_ENT = \(table.entityID)
        """
      ).first ?? []
    for (link, value) in zip(links, row.dropFirst()) {
      self.links["\(table.entity).\(link.name)"] = Int(value.integer ?? 0)
    }
    return Int(row.first?.integer ?? 0)
  }
}

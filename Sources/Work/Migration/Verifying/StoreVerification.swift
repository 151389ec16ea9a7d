import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// Compares two stores of which one is said to have become the other.
public enum StoreVerification {
  /// What a comparison leaves out when it is asked to.
  public enum Ignored: String, Sendable, CaseIterable {
    /// What Core Data writes by itself whenever an app saves or opens the store: history, the last keys
    /// given out, metadata and CloudKit's tables. An app that goes on with a store changes them all.
    case bookkeeping
  }

  /// Compares values, links, order and external data by content; neither store is changed.
  ///
  /// - Parameters:
  ///   - before: the store as it was.
  ///   - after: the store as it is, opened with the destination model.
  ///   - mapping: what should have become of what; of kind none where both are of one version, and
  ///     everything should be as it was. Computed values are computed again; of a default
  ///     that is evaluated once any value is right that all rows share; what policies did is not known
  ///     here.
  ///   - ignored: what is not compared.
  ///   - isCancelled: asked now and then, also within long SQL statements.
  /// - Returns: what was compared, and every difference with its first objects. Where the file of `after`
  ///   is damaged that is one of them, and what is read of it is not to be relied on.
  /// - Throws: ``CoreDataError`` where a store cannot be read or lacks tables of its model (134020),
  ///   where a value cannot be computed here, as by a policy (134170), or when cancelled (134120).
  public static func compare(
    before: Store, after: Store, mapping: MappingModel, ignoring ignored: Set<Ignored> = [],
    isCancelled: @escaping () -> Bool = { false }
  ) throws -> VerificationReport {
    try withVerification(before, after, mapping, ignored, isCancelled) { verification in
      var report = try verification.run()
      // What was read then is a sound copy of what can be read.
      if after.isMended, let damage = after.damage { report.tell(integrity: damage.told) }
      report.notes += before.faults.map { "The first store: \($0)" }
      return report
    }
  }

  /// What differs beside the objects: tables, indexes and triggers, UUID, model cache, Z_PRIMARYKEY, metadata,
  /// history, CloudKit's tables and those of the app.
  ///
  /// The first store is attached to the connection of the second already, as `src`.
  ///
  /// - Parameters: as those of ``compare(before:after:mapping:ignoring:isCancelled:)``.
  /// - Throws: as that does.
  package static func bookkeeping(
    before: Store, after: Store, mapping: MappingModel, isCancelled: @escaping () -> Bool
  ) throws -> [VerificationReport.Difference] {
    try withVerification(before, after, mapping, [], isAttached: true, isCancelled) {
      try $0.runBookkeeping().differences
    }
  }

  private static func withVerification<Result>(
    _ before: Store, _ after: Store, _ mapping: MappingModel, _ ignored: Set<Ignored>,
    isAttached: Bool = false, _ isCancelled: @escaping () -> Bool,
    _ run: (Verification) throws -> Result
  ) throws -> Result {
    try after.refuseMissingTables(.unreadable, evenIfUnused: true)
    if let missing = DriftAnalysis(store: before).missing(taking: mapping.takenEntities).first {
      throw CoreDataError(
        .unreadable, code: missing.code, missing.message, path: before.path,
        entity: missing.entity, property: missing.property, advice: missing.advice)
    }
    // Of one version: every entity as it is.
    let mapping =
      mapping.kind == .none
      ? try Inference(source: before.model, destination: after.model, given: []).mapping()
      : try mapping.elementwise(from: before.model, to: after.model).takingDefaults(of: after)
    let connection = after.connection
    let external = ExternalFolder(after.files)
    do {
      try connection.defineFunction("strata_result", arguments: 1) { arguments in
        try ExternalContent.digest(arguments.first ?? .null, external)
      }
      if isAttached {
        try MigrationFunctions.define(on: connection, store: before)
      } else {
        try before.requireEncoding(of: after)
        try connection.attachSource(before)
      }
      // What it read before is read through the other connection from here on.
      try before.connection.execute("PRAGMA shrink_memory")
      defer { if !isAttached { try? connection.execute("DETACH DATABASE src") } }
      connection.onProgress(isCancelled)
      defer { connection.onProgress(nil) }
      var schemas = StepSchemas(store: before, mapping: mapping, result: after)
      let contents: MigratedContents
      if mapping.kind == .inferred {
        contents = MigratedContents(schemas)
      } else {
        let mapped = try MappingLayout(schemas, connection: connection)
        schemas.renumbered = mapped.renumbered
        contents = MigratedContents(mapped)
      }
      let step = MigrationStep(
        from: "", to: "", source: before.model, destination: after.model, mapping: mapping,
        rows: try StepSequence.rows(of: mapping, in: before))
      let verification = Verification(
        step: step, schemas: schemas, contents: contents, connection: connection,
        meter: ProgressMeter(isCancelled: isCancelled, report: { _ in }), filePath: after.wholeFile,
        sourcePath: before.wholeFile, isForeign: true,
        comparesBookkeeping: !ignored.contains(.bookkeeping))
      return try run(verification)
    } catch {
      throw StepSequence.translated(error, path: after.path)
    }
  }
}

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
  package static let integrity = "database integrity"

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
      hint: "The store is unchanged. Please report this: \(reason).")
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

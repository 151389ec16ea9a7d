import Files
import ManagedModel
import ManagedStore
import SQLite

/// A handler at work on a temporary store, in one transaction, and what must hold afterwards.
struct StageEdit {
  enum Phase: String {
    case willMigrate, didMigrate

    var part: MigrationProgress.Part { .init(kind: .edit, title: rawValue, unit: .items, total: 1) }
  }

  /// The store before the handler: a temporary one, or the person's, which is copied first.
  let store: Store
  /// Where external data is.
  let files: StoreFiles
  let version: String
  let phase: Phase
  let meter: ProgressMeter

  /// - Parameters:
  ///   - copy: where to copy the store to; `nil` edits it where it is.
  ///   - model: the model to open the result with; `nil`: the one in it.
  /// - Returns: the edited store, and where it is.
  func run(
    _ handler: MigrationStage.Handler, copyingTo copy: String?, as model: Model?
  ) throws -> (Store, String) {
    let path = copy ?? store.path
    if let copy {
      MigrationJournal.removeTemporary(copy)
      try StepRun.clone(store, to: FileSystem.createEmpty(copy), meter)
    }
    try meter.begin(.edit, title: phase.rawValue)
    let connection = try Connection(path: path, mode: .made)
    connection.onProgress { meter.shouldStop }
    // The file is thrown away when anything fails; a statement that fails alone is undone.
    try connection.execute(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
    try MigrationFunctions.define(on: connection, store: store)
    try connection.defineTriggerFunctions(in: store.triggerStatements)
    let context = StageContext(store: store, version: version, connection: connection, meter: meter)
    try connection.transaction {
      let before = try gaps(connection)
      do {
        try handler(context)
        try context.finish()
      } catch {
        throw translated(error)
      }
      try requireNoMore(than: before, connection)
      try meter.checkCancelled()
    }
    if let problem = try IntegrityCheck.problems(askingSQLite: connection, most: 1).first {
      throw CoreDataError(
        .failed, code: .migration, "the edited store is damaged: \(problem)",
        hint: "The store is unchanged.")
    }
    try connection.closeAsLogged()
    let edited = try Store(
      path: path, files: StoreFiles(path: path, externalDataOf: files), model: model)
    return (edited, path)
  }

  /// Objects without what their version asks of every object. Uniqueness is kept by the store's own indexes.
  private func gaps(
    _ connection: Connection
  ) throws -> [(rule: DestinationRule, rows: FoundRows)] {
    try store.schema.model.entities.flatMap { entity in
      guard !entity.isAbstract, let table = store.schema.entityTable(of: entity.name) else {
        return [(rule: DestinationRule, rows: FoundRows)]()
      }
      let rules =
        DestinationRule.refusing(table)
        + table.relationships.compactMap { DestinationRule.filled($0, in: table) }
      return try rules.broken(
        in: "main.\(quoted(table.table)) t", where: "t.Z_ENT = \(table.entityID)", key: "t.Z_PK",
        on: connection)
    }
  }

  /// What was broken before is no fault of the handler.
  private func requireNoMore(
    than before: [(rule: DestinationRule, rows: FoundRows)], _ connection: Connection
  ) throws {
    func place(_ rule: DestinationRule) -> [String] { [rule.entity, rule.property ?? ""] }
    let known = Dictionary(first: before.map { (place($0.rule), $0.rows.count) })
    let worse = try gaps(connection).filter { $0.rows.count > known[place($0.rule)] ?? 0 }
    guard
      let (rule, rows) = worse.min(by: {
        place($0.rule).lexicographicallyPrecedes(place($1.rule))
      })
    else { return }
    throw CoreDataError(
      .refused, code: .migration, "\(phase.rawValue) leaves \(rule.message), in \(rows.count) rows",
      entity: rule.entity, property: rule.property,
      hint: "Let \(phase.rawValue) set it. The store is unchanged.")
  }

  private func translated(_ error: any Error) -> CoreDataError {
    if let error = error as? SQLiteError { return StepSequence.translated(error, path: store.path) }
    let known = CoreDataError(error, or: .failed)
    if known.kind == .cancelled { return known }
    let place = [known.entity, known.property].compactMap { $0 }.joined(separator: ".")
    return CoreDataError(
      .failed, code: known.code ?? .migration,
      "\(phase.rawValue) of the stage at “\(version)” failed: \(known.message)"
        + (place.isEmpty ? "" : " (\(place))"), entity: known.entity, property: known.property,
      hint: "The store is unchanged.")
  }

  /// The rules of the next version, of the data that a handler left.
  ///
  /// - Throws: ``CoreDataError`` of kind refused with the check's code.
  static func requireFit(_ store: Store, for step: MigrationStep) throws {
    let checks = try StepAnalysis(step, of: store).checks()
    guard let check = checks.first(where: { !$0.isWarning }) else { return }
    throw check.refusal(
      " after the stage’s code", advice: "Let willMigrate set it right. The store is unchanged.")
  }

  /// Counts of the receipt, as the handler left them.
  static func count(_ store: Store, in report: inout VerificationReport) throws {
    let counts = try store.counts()
    for index in report.entities.indices {
      guard let count = counts[report.entities[index].entity] else { continue }
      report.entities[index].after = count
      report.entities[index].changed = nil
    }
    try report.countLinks(in: store.schema, store.connection)
    report.verified.append(.init(what: "rules after didMigrate", count: 1))
  }
}

/// Takes objects, and links between objects, out of a store.
package struct StageUnlinking {
  let schema: StoreSchema
  let connection: Connection

  /// Works on the main database of a connection.
  package init(schema: StoreSchema, connection: Connection) {
    (self.schema, self.connection) = (schema, connection)
  }

  /// Removes an object's row and every link to or from it.
  package func remove(_ id: ObjectID) throws {
    let key: [Value] = [.integer(id.key)]
    for entity in schema.model.entities {
      guard let table = schema.entityTable(of: entity.name) else { continue }
      for relationship in entity.relationships where !relationship.isTransient {
        guard let storage = table.storage(of: relationship.name) else { continue }
        let isOwner = schema.model.isKind(id.entity, of: entity.name)
        let isDestination = schema.model.isKind(id.entity, of: relationship.destination)
        let statements = storage.deletions(
          in: "main.", ofOwner: isOwner, ofDestination: isDestination)
        for sql in statements { try connection.run(sql, key) }
      }
    }
    guard let table = schema.entityTable(of: id.entity) else { return }
    try connection.run("DELETE FROM main.\(quoted(table.table)) WHERE Z_PK = ?1", key)
  }

  /// Empties a to-one on both sides.
  package func empty(_ relationship: Relationship, of id: ObjectID) throws {
    let key: [Value] = [.integer(id.key)]
    if let own = schema.storage(of: relationship.name, in: id.entity), own.kind == .toOne {
      try connection.run(own.emptying(in: "main.", where: "Z_PK = ?1"), key)
    }
    guard let (entity, back) = schema.inverse(of: relationship),
      let storage = schema.storage(of: back.name, in: entity), let column = storage.toOneColumn
    else { return }
    try connection.run(storage.emptying(in: "main.", where: "\(quoted(column)) = ?1"), key)
  }

  /// Takes an object that is about to be linked out of the one-to-one it is in.
  package func leave(_ relationship: Relationship, _ other: ObjectID) throws {
    guard !relationship.isToMany, let (_, back) = schema.inverse(of: relationship), !back.isToMany
    else { return }
    try empty(back, of: other)
  }
}

/// What goes along with objects that are deleted, by the delete rules of their relationships.
package struct DeletionReach {
  /// The objects and those that cascades take along, each once, in the order in which they are met.
  package private(set) var objects: [ObjectID] = []

  /// - Parameters:
  ///   - others: objects that go as well, so that no relationship to them denies it.
  ///   - related: the objects that a relationship of an object references.
  /// - Throws: ``CoreDataError`` of kind refused, 1600, where a relationship denies it to objects that stay.
  package init(
    of first: [ObjectID], beside others: Set<ObjectID> = [], in schema: StoreSchema,
    related: (_ relationship: String, _ id: ObjectID) throws -> [ObjectID]
  ) throws {
    var taken: Set<ObjectID> = []
    objects = first.filter { taken.insert($0).inserted }
    var denials: [(ObjectID, Relationship, Set<ObjectID>)] = []
    var next = 0
    while next < objects.count {
      let id = objects[next]
      next += 1
      for entry in schema.entityTable(of: id.entity)?.relationships ?? [] {
        let rule = entry.relationship.deleteRule
        guard rule == .cascade || rule == .deny else { continue }
        let others = try related(entry.relationship.name, id)
        if rule == .deny {
          if !others.isEmpty { denials.append((id, entry.relationship, Set(others))) }
        } else {
          objects += others.filter { taken.insert($0).inserted }
        }
      }
    }
    if let denial = denials.first(where: { !$0.2.subtracting(others).isSubset(of: taken) }) {
      throw CoreDataError(
        .refused, code: .validationRelationshipDeniedDelete,
        "\(denial.0) cannot be deleted while objects are in a relationship that denies it",
        entity: denial.0.entity, property: denial.1.name, hint: "Delete those first.")
    }
  }
}

extension StoreSchema {
  /// The objects that a relationship of an object references in `main` of a connection, in their order.
  ///
  /// - Parameter name: of the entity with that number.
  /// - Throws: ``CoreDataError`` where the store keeps no such relationship.
  package func relatedObjects(
    _ relationship: String, of id: ObjectID, on connection: Connection,
    naming name: (Int64) -> String?
  ) throws -> [ObjectID] {
    guard let storage = storage(of: relationship, in: id.entity),
      let destination = model.relationship(named: relationship, of: id.entity)?.destination,
      let other = table(of: destination)
    else { throw model.unknown(.relationship, relationship, of: id.entity) }
    let sql = storage.objects(in: other.name, schema: "main.")
    return try connection.rows(sql, [.integer(id.key)]).compactMap { row in
      guard row.count >= 2, let key = row[0].integer, let entity = row[1].integer.flatMap(name)
      else { return nil }
      return ObjectID(entity: entity, key: key)
    }
  }
}

import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// Conditions on links; each is SQL over a row `t`, and `nil` where it cannot be, or is known to be true of none.
extension SourceData {
  /// True for rows whose to-one references no object of its entity.
  func leadsNowhere(_ relationship: String, of entity: String) -> String? {
    guard let audit = store.audits().audit(of: relationship, in: entity),
      audit.storage.kind == .toOne, store.facts?.isSound(audit) != true
    else { return nil }
    return audit.isUnsound
  }

  /// True for rows of a one-to-one whose partner does not lead back.
  func isOneSided(_ relationship: String, of entity: String) -> String? {
    guard let own = store.model.relationship(named: relationship, of: entity),
      let inverse = own.inverse,
      // The columns of both sides are there.
      store.table(of: entity)?.toOneColumn(of: relationship) != nil,
      store.table(of: own.destination)?.toOneColumn(of: inverse) != nil
    else { return nil }
    return store.schema.disagreement(own, of: entity)
  }

  /// True for rows that have objects without a position in an ordered relationship.
  func hasNoPosition(_ relationship: String, of entity: String) -> String? {
    guard let storage = store.table(of: entity)?.storage(of: relationship),
      let position = storage.position, let unordered = storage.isUnordered,
      store.facts?.nulls(in: position, ofTable: storage.table) != 0
    else { return nil }
    // Few are: the table is looked through once, not for each object.
    return """
      t.Z_PK IN (SELECT t.\(quoted(storage.owner)) FROM \(quoted(storage.table)) t WHERE \(unordered))
      """
  }

  /// How many objects a relationship of a row references.
  func count(of relationship: String, from entity: String) -> String? {
    store.table(of: entity)?.storage(of: relationship)?.count(of: "t.Z_PK").sql
  }

  /// References with a key that no object of the entity has, in a table of links or the owner's key: with the
  /// objects at the other ends of the links, or the objects that have the owner's key.
  func brokenRows(of audit: LinkAudit) throws -> FoundRows? {
    guard store.facts?.isSound(audit) != true else { return nil }
    let rows = "\(audit.rows) WHERE \(audit.isUnsound)"
    return try store.reading {
      guard audit.storage.isJoin else {
        return try FoundRows(rows, columns: "t.Z_PK, t.Z_ENT", on: store.connection) { row in
          store.id(row, else: audit.destination)
        }
      }
      let ends = audit.keys.map(\.value) + audit.keys.prefix(1).map(\.isSound)
      return try FoundRows(
        rows, columns: ends.joined(separator: ", "), on: store.connection
      ) { row in
        let isFirst = row[2].integer == 1
        return row[isFirst ? 0 : 1].integer.map {
          ObjectID(entity: isFirst ? audit.entity : audit.destination, key: $0)
        }
      }
    }
  }
}

extension SourceData {
  /// Rows whose values are in files that cannot be had.
  struct UnavailableFiles {
    var rows = 0
    /// The first of these objects, and the names of their files.
    var first: [ObjectID] = []
    var files: [String] = []
    /// Why the first file cannot be read; `nil` where the files are not there.
    var reason: String?

    fileprivate mutating func add(_ object: ObjectID, _ file: String, _ reason: String?) {
      if rows == 0 { self.reason = reason }
      rows += 1
      guard first.count < 5 else { return }
      first.append(object)
      files.append(file)
    }
  }

  /// Rows of exactly one entity whose value is in a file that is not there, or that cannot be read.
  ///
  /// - Parameters:
  ///   - condition: what else is true of rows `t` that are meant.
  ///   - connection: has the source attached as `src`, and what the condition calls.
  private func rowsWithoutFile(
    _ attribute: String, of entity: String, where condition: String?, on connection: Connection?
  ) throws -> (missing: UnavailableFiles, unreadable: UnavailableFiles)? {
    guard let column = column(of: attribute, in: entity) else { return nil }
    var conditions = [MarkedBytes.isFile(column)] + [condition].compactMap { $0 }
    if let table = store.table(of: entity), let name = table.column(of: attribute),
      let keys = store.facts?.rowsInFiles(name, of: table)
    {
      guard !keys.isEmpty else { return nil }
      conditions.append("t.Z_PK IN (\(keys.list))")
    }
    guard let rows = rows(of: entity, where: conditions, in: connection == nil ? "" : "src.")
    else { return nil }
    return try store.reading {
      let statement = try (connection ?? store.connection).prepare(
        "SELECT t.Z_PK, \(MarkedBytes.reference(column)) \(rows) ORDER BY t.Z_PK")
      var (missing, unreadable) = (UnavailableFiles(), UnavailableFiles())
      let external = ExternalFolder(store.files)
      while try statement.step() {
        guard case .file(let name) = MarkedBytes(statement.bytes(at: 1)) else { continue }
        let object = ObjectID(entity: entity, key: statement.integer(at: 0))
        switch external.place(of: name) {
        case .file: continue
        case .missing: missing.add(object, name, nil)
        case .unreadable(let error): unreadable.add(object, name, error.message)
        }
      }
      return (missing, unreadable)
    }
  }

  /// Copies of an attribute whose value is in a file that is not there, or that cannot be read.
  ///
  /// - Parameters:
  ///   - condition: what is true of the rows `t` that are taken; `nil` of all.
  ///   - connection: has the source attached as `src`, and what the condition calls.
  func fileRules(
    _ former: Attribute, of from: String, for attribute: Attribute, in to: String,
    where condition: String? = nil, on connection: Connection? = nil
  ) throws -> [DestinationRule] {
    guard former.allowsExternalBinaryDataStorage,
      let found = try rowsWithoutFile(
        former.name, of: from, where: condition, on: condition == nil ? nil : connection)
    else { return [] }
    let folder = store.files.externalDataFolder
    return [
      (
        found.missing, "values in missing files",
        "Copy them from another copy of the store: into \(folder)."
      ),
      (
        found.unreadable, "values in files that cannot be read",
        "Make them readable for this user: in \(folder)."
      ),
    ].map { files, message, hint in
      let names = files.files.joined(separator: ", ") + (files.rows > files.files.count ? " …" : "")
      return DestinationRule(
        entity: to, property: attribute.name, conditions: files.files,
        message: "\(message): \(names)" + (files.reason.map { " (\($0))" } ?? ""), hint: hint,
        // A value that is to move into its row would lose even the file's name.
        isWarning: attribute.allowsExternalBinaryDataStorage,
        answer: .rows(FoundRows(count: files.rows, first: files.first)))
    }
  }
}

extension SourceData {
  /// Links kept elsewhere than in the row they start from which lead to no object: in join tables,
  /// and as the owner's key of a to-many without an inverse.
  ///
  /// - Parameter hint: what becomes of them.
  func brokenJoins(of mapping: MappingModel, hint: String) throws -> [DataCheck] {
    let kept = Set(mapping.entityMappings.filter { $0.destination != nil }.compactMap(\.source))
    return try store.audits().outside.compactMap { audit in
      let isKept =
        kept.contains(audit.entity)
        || audit.storage.isJoin && kept.contains(audit.destination)
      guard isKept, let broken = try brokenRows(of: audit), broken.count > 0 else { return nil }
      let table = audit.storage.table
      return DataCheck(
        code: .managedObjectReferentialIntegrity, entity: audit.entity,
        property: audit.relationship.name, rows: broken.count, first: broken.first,
        message: "references to missing objects, in \(table)", hint: hint,
        isWarning: true, asked: [table])
    }
  }
}

extension StepSchemas {
  /// Links of a relationship that goes on which are not in order. A migration carries them over as
  /// they are.
  ///
  /// - Parameter isValidated: whether NSMigrationManager counts a to-many's objects: they are asked for otherwise.
  func linkRules(
    _ relationshipMapping: RelationshipMapping, from: String, to: String, _ data: SourceData,
    isValidated: Bool = false
  ) -> [DestinationRule] {
    guard let name = relationshipMapping.source,
      let before = sourceModel.relationship(named: name, of: from),
      let after = destinationModel.relationship(named: relationshipMapping.name, of: to)
    else { return [] }
    var rules: [DestinationRule] = []
    func add(
      _ condition: String, _ message: String, hint: String,
      code: CoreDataError.Code = .migration
    ) {
      rules.append(
        DestinationRule(
          entity: to, property: after.name, conditions: [condition], code: code, message: message,
          hint: hint, isWarning: true))
    }
    if let gone = data.leadsNowhere(name, of: from) {
      rules.append(.dangling(after.name, of: to, where: gone))
    }
    let declarer = destinationModel.declaringEntity(of: after.name, in: to) ?? to
    // It takes a pass of its own, which only the plan of an inferred step has.
    if mapping.kind == .inferred, !isLoose(after.name, of: declarer),
      let oneSided = data.isOneSided(name, of: from)
    {
      add(
        oneSided, "links of a one-to-one whose two sides do not match",
        hint: "Both sides stay as they are. Set the relationship again in the app.")
    }
    if before.isOrdered, let unordered = data.hasNoPosition(name, of: from) {
      add(
        unordered, "ordered objects without a position",
        hint: "Their order is not known: they are sorted by their keys.")
    }
    // Fewer or more objects than a new or tighter count allows; an optional relationship may be empty.
    guard after.isToMany, !isValidated, let count = data.count(of: before.name, from: from) else {
      return rules
    }
    let hint = "Such objects cannot be saved: change them first, or loosen the rule."
    if after.minCount > 0, after.minCount > (before.isToMany ? before.minCount : 0) {
      // None at all is another matter: allowed, or found as missing.
      add(
        "\(count) BETWEEN 1 AND \(after.minCount - 1)",
        "fewer objects than the new minimum \(after.minCount)", hint: hint,
        code: .validationRelationshipLacksMinimumCount)
    }
    let limit = Int(after.maxCount)
    let former = before.maxCount == 0 ? Int.max : Int(before.maxCount)
    if limit > 0, after.maxCount != .max, limit < former {
      add(
        "\(count) > \(limit)", "more objects than the new maximum \(limit)", hint: hint,
        code: .validationRelationshipExceedsMaximumCount)
    }
    return rules
  }
}

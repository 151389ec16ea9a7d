import Files
import ManagedModel
import ManagedStore
import SQLite

/// Makes a new store in which deleted objects are back: everything else in it is as the store has it.
package struct Restoration {
  /// What became of it.
  package struct Report: Sendable, Equatable {
    /// An object that is back.
    package struct Object: Sendable, Equatable {
      /// It, in the new store.
      package var id: ObjectID
      /// Where it comes from.
      package var origin: RowOrigin
    }

    /// The new store, and what of the old one was not readable.
    package var salvage: SalvageReport
    /// Keys of the objects that are back, by entity.
    package var back: [String: [Int64]] = [:]
    /// How many of them may have been lost, and not deleted: what was found of them may be an earlier state.
    package var uncertain = 0
    /// How many of them have a new key, since nothing shows the old one, by entity.
    package var renamed: [String: Int] = [:]
    /// How many of them stood among rows of another time: their values may be those of then.
    package var former = 0
    /// How many of them are there in part: some of their values were overwritten, or may have been.
    package var partial = 0
    /// Which have another key there than among what was found: one of two rows with the same key.
    var moved: [ObjectID: Int64] = [:]
    /// The first of those that are back.
    package var first: [Object] = []
    /// Objects that a constraint of the new store refuses, by entity: another has their unique values.
    package var refused: [String: [Int64]] = [:]
    /// Whether something of the old store is lost or in doubt, or a deleted object could not be put back.
    package var isLossy: Bool { salvage.isLossy || !refused.isEmpty }
    /// To-one relationships that are empty now since what they named is not there, by entity and
    /// relationship.
    package var emptied: [String: Int] = [:]
    /// Links of many-to-many relationships that are back.
    package var links = 0
    /// Links of those that stood in freed room: each was there once, and nothing says until when.
    package var freedLinks = 0
    /// To-ones of other objects by which an object that is back may have been referenced, by entity and relationship: an
    /// app empties them when it deletes, and what they held is not known.
    package var unset: [String] = []
    /// How many living objects reference those that are back, by entity and relationship: what deleted the rows left the
    /// references as they were.
    package var referenced: [String: Int] = [:]

    /// How many objects are back, by entity.
    package var restored: [String: Int] { back.mapValues(\.count) }
    /// How many are back beside those in ``first``.
    package var more: Int { restored.values.reduce(0, +) - first.count }
  }

  /// Which objects are to be back.
  package enum Choice: Sendable {
    /// Every deleted one that was saved once and whose entity is known, of all entities or of one.
    case all(entity: String?)
    /// These, by their keys in ``Undeletion/store``.
    case only([ObjectID])
    /// Those that a predicate takes.
    case matching(RowFilter)

    /// Whether a person chose each object.
    var isOfSingles: Bool { if case .only = self { true } else { false } }
  }

  private let undeletion: Undeletion
  private static let mostListed = 1000

  /// - Parameter undeletion: what was found.
  package init(_ undeletion: Undeletion) { self.undeletion = undeletion }

  /// Writes the new store.
  ///
  /// - Parameter output: where it is to be; nothing may be there.
  /// - Throws: ``CoreDataError`` where an object that was chosen is not among those found, or is one that
  ///   lives; as ``StoreSalvage`` does.
  package func run(
    _ choice: Choice, output: String, isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (Double) -> Void = { _ in }
  ) throws -> Report {
    let chosen = try keys(choice)
    var options = StoreSalvage.Options()
    options.model = undeletion.model
    options.log = undeletion.log
    options.tellsLinks = true
    let empty = Report(salvage: SalvageReport(storePath: undeletion.path, outputPath: output))
    var report = empty
    let salvage = try StoreSalvage.run(
      path: undeletion.path, output: output, options: options, isCancelled: isCancelled,
      progress: progress
    ) { copy in
      report = try add(chosen, to: copy, empty)
    }
    report.salvage = salvage
    report.salvage.isOfUndeletion = true
    // Of a table that is missing, every object was looked for among the deleted ones.
    for (root, keys) in salvage.gone {
      let back = report.back.filter { undeletion.model.root(of: $0.key) == root }
      let left = keys - back.values.reduce(0) { $0 + $1.count }
      report.salvage.gone[root] = left > 0 ? left : nil
    }
    report.salvage.notes =
      report.renamed.sorted { $0.key < $1.key }.map { entity, count in
        "\(NumberText.counted(count, "object")) of \(entity) \(count == 1 ? "was restored under a new key, because the old one is" : "were restored under new keys, because the old ones are") unknown: references to \(count == 1 ? "it" : "them") were not restored."
      } + undeletion.missed.map(\.sentence) + undeletion.missingLinks.map(\.sentence)
      + report.salvage.notes
    return report
  }

  /// Reports where every restored object comes from, in the order of entities and keys.
  package func forEach(of report: Report, _ body: (Report.Object) throws -> Void) throws {
    for (entity, keys) in report.back.sorted(by: { $0.key < $1.key }) {
      for key in keys {
        let id = ObjectID(entity: entity, key: key)
        guard let origin = try undeletion.origin(of: id) else { continue }
        let own = ObjectID(entity: entity, key: report.moved[id] ?? key)
        try body(.init(id: own, origin: origin))
      }
    }
  }

  /// The keys that are chosen, by entity.
  private func keys(_ choice: Choice) throws -> [String: [Int64]] {
    if let distrust = undeletion.distrust, !choice.isOfSingles {
      throw CoreDataError(
        .refused, "what was found is not restored as a whole: \(distrust)", path: undeletion.path,
        hint: "Look at what was found, and choose single objects.")
    }
    var result: [String: [Int64]] = [:]
    switch choice {
    case .only(let objects):
      for object in objects {
        guard let origin = try undeletion.origin(of: object) else {
          throw CoreDataError(
            .usage, "there is no deleted object \(object)", path: undeletion.path,
            advice:
              "\(.deed("undeletion"), of: [ShellText.quoted(undeletion.path)]) lists them.")
        }
        guard origin.isOfDeleted else {
          throw CoreDataError(
            .usage,
            "\(object) is an earlier state of an object\(origin.key.map { " (p\($0))" } ?? ""), not a deleted one",
            path: undeletion.path, hint: "Name deleted objects only.")
        }
        result[object.entity, default: []].append(object.key)
      }
    case .matching(let filter):
      try read(filter.entity, filter) { result[$0.entity, default: []].append($0.key) }
    case .all(let entity):
      for name in entity.map({ [$0] }) ?? undeletion.entities.map(\.name) {
        try read(name, nil) { result[$0.entity, default: []].append($0.key) }
      }
    }
    return result.mapValues { Array(Set($0)).sorted() }
  }

  /// Gives every deleted object of an entity that was saved once, and whose entity is known.
  private func read(
    _ entity: String, _ filter: RowFilter?, _ body: (ObjectID) -> Void
  ) throws {
    var query = RowQuery(entity: entity, limit: 500, properties: [])
    query.filter = filter
    while true {
      let page = try undeletion.store.rows(query)
      for row in page.rows {
        if let origin = try undeletion.origin(of: row.id), origin.state == .deleted,
          origin.source.isSaved, origin.isEntityKnown
        {
          body(row.id)
        }
      }
      guard page.rows.count == query.limit, let last = page.rows.last else { return }
      query.anchor = .after(last.cursor)
    }
  }

  private func add(
    _ chosen: [String: [Int64]], to copy: SalvagedCopy, _ started: Report
  ) throws -> Report {
    var report = started
    let connection = copy.connection
    let schema = try (copy.schema ?? StoreSchema(model: undeletion.model))
      .fitted(to: DatabaseTables(connection)).schema
    try connection.run("ATTACH ? AS remains", [.text(undeletion.store.files.path)])
    try connection.execute(
      "BEGIN; CREATE TEMP TABLE back (name TEXT, pk INTEGER, PRIMARY KEY (name, pk))")
    for (entity, keys) in chosen.sorted(by: { $0.key < $1.key }) {
      guard let table = schema.table(of: entity) else { continue }
      for key in keys {
        let statement = try connection.cached(
          "INSERT OR IGNORE INTO main.\(quoted(table.name)) SELECT * FROM remains.\(quoted(table.name)) WHERE Z_PK = ?"
        )
        try statement.bind([.integer(key)])
        while try statement.step() {}
        guard connection.changes > 0 else {
          report.refused[entity, default: []].append(key)
          continue
        }
        let id = ObjectID(entity: entity, key: key)
        guard let origin = try undeletion.origin(of: id) else { continue }
        let own = try place(origin, at: key, in: table, connection)
        if own != key { report.moved[id] = own }
        try connection.run("INSERT INTO back VALUES (?, ?)", [.text(table.name), .integer(own)])
        report.back[entity, default: []].append(key)
        if origin.isLost { report.uncertain += 1 }
        if origin.isFormer { report.former += 1 }
        if !origin.hasAllValues { report.partial += 1 }
        if origin.key == nil { report.renamed[entity, default: 0] += 1 }
        if report.first.count < Self.mostListed {
          report.first.append(.init(id: ObjectID(entity: entity, key: own), origin: origin))
        }
      }
    }
    let audits = schema.audits(in: "main.")
    let outside = audits.outside
    for audit in audits.toOnes + outside where !audit.storage.isJoin {
      try mend(audit, schema, connection, &report)
    }
    let joins = outside.filter(\.storage.isJoin)
    for join in joins { report.links += try bringBack(join, from: join.storage.table, connection) }
    for join in joins {
      report.freedLinks += try bringBack(
        join, from: CarvedLinks.table(of: join.storage.table), connection)
    }
    try tellReferences(schema, connection, &report)
    try connection.execute("DROP TABLE back; COMMIT; DETACH remains")
    return report
  }

  /// Gives one of two rows with the same key that key, if it is free in the new store.
  private func place(
    _ origin: RowOrigin, at key: Int64, in table: StoreSchema.Table, _ connection: Connection
  ) throws -> Int64 {
    guard origin.certainty == .ambiguous, let own = origin.key, own != key else { return key }
    try connection.run(
      "UPDATE OR IGNORE main.\(quoted(table.name)) SET Z_PK = ? WHERE Z_PK = ?",
      [.integer(own), .integer(key)])
    return connection.changes > 0 ? own : key
  }

  /// Empties references of objects that are back and name nothing that is there; the other sides of
  /// one-to-ones that stay are set where they are empty. Which entity an object is of may be a guess here, so
  /// nothing is emptied for it.
  private func mend(
    _ audit: LinkAudit, _ schema: StoreSchema, _ connection: Connection, _ report: inout Report
  ) throws {
    let isBack = "t.Z_PK IN (SELECT pk FROM back WHERE name = ?1)"
    let table: [Value] = [.text(audit.storage.table)]
    func empty(_ condition: String) throws {
      try connection.run(audit.removal(where: "\(isBack) AND \(condition)"), table)
      guard connection.changes > 0 else { return }
      report.emptied["\(audit.entity).\(audit.relationship.name)", default: 0] += connection.changes
    }
    try audit.condition(.dangling).map(empty)
    guard let key = audit.keys.first, let other = schema.otherSide(of: audit.relationship),
      let partners = schema.entityTable(of: audit.destination)?.numbers,
      let isOneSided = schema.disagreement(
        audit.relationship, of: audit.entity, schemaName: "main.")
    else { return }
    let owners = "main.\(quoted(key.table)) t WHERE \(isBack)"
    try connection.run(
      other.completing(
        with: "\(owners) AND \(key.value) = o.Z_PK", in: "main.",
        where: """
          o.\(quoted(other.destination)) IS NULL AND o.Z_ENT IN (\(partners.list))
          AND o.Z_PK IN (SELECT \(key.value) FROM \(owners))
          """), table)
    // What names another by now is not taken from it.
    try empty(isOneSided)
  }

  /// Notes which to-ones, with a to-many as their inverse, reference objects that are back, and which of those that
  /// reference none are empty somewhere.
  private func tellReferences(
    _ schema: StoreSchema, _ connection: Connection, _ report: inout Report
  ) throws {
    for table in schema.tables {
      for column in table.columns {
        guard case .toOne(let entity, let name) = column.content,
          let relationship = schema.model.relationship(named: name, of: entity),
          schema.inverse(of: relationship)?.1.isToMany == true,
          let target = schema.table(of: relationship.destination)
        else { continue }
        let living = "\(quoted(table.name)) WHERE Z_PK NOT IN (SELECT pk FROM back WHERE name = ?1)"
        let back = "(SELECT pk FROM back WHERE name = ?2)"
        let place = entity + "." + name
        let count = try connection.value(
          "SELECT count(*) FROM \(living) AND \(quoted(column.name)) IN \(back)",
          [.text(table.name), .text(target.name)])?.integer
        if let count, count > 0 {
          report.referenced[place] = Int(count)
        } else if try connection.value(
          """
          SELECT 1 FROM \(living) AND \(quoted(column.name)) IS NULL AND EXISTS \(back) LIMIT 1
          """, [.text(table.name), .text(target.name)]) != nil
        {
          report.unset.append(place)
        }
      }
    }
    report.unset.sort()
  }

  /// Links that an object which is back had, where both ends are there.
  private func bringBack(
    _ join: LinkAudit, from source: String, _ connection: Connection
  ) throws -> Int {
    guard
      try connection.value(
        "SELECT 1 FROM remains.sqlite_master WHERE name = ?", [.text(source)]) != nil
    else { return 0 }
    let isBack = join.keys.enumerated().map { place, key in
      "\(key.value) IN (SELECT pk FROM back WHERE name = ?\(place + 1))"
    }
    try connection.run(
      """
      INSERT OR IGNORE INTO main.\(quoted(join.storage.table)) SELECT * FROM remains.\(quoted(source)) t \
      WHERE (\(isBack.joined(separator: " OR "))) AND \(join.isThere)
      """, join.keys.map { .text($0.destination) })
    return connection.changes
  }
}

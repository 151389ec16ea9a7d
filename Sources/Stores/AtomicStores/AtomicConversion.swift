import ManagedModel
import ManagedStore
import SQLite

/// What became of an atomic store's objects in the new one.
package struct AtomicReport: Sendable, Equatable {
  /// Objects of exactly each entity, in the order of the model's numbers.
  package var entities: [(name: String, objects: Int)] = []
  /// What was not converted as it stands, as sentences; those of the file's damage come first.
  package var losses: [String] = []
  /// What is wrong with the store and costs nothing.
  package var warnings: [String] = []
  /// What a person should know, as sentences.
  package var notes: [String] = []
  /// All that is wrong with the store.
  package var faults: [AtomicFault] = []
  /// Objects in all.
  package var objects: Int { entities.reduce(0) { $0 + $1.objects } }

  /// Whether both say the same.
  package static func == (one: AtomicReport, other: AtomicReport) -> Bool {
    one.entities.elementsEqual(other.entities, by: ==) && one.losses == other.losses
      && one.warnings == other.warnings && one.notes == other.notes
  }
}

/// Writes what an atomic store holds as a store of the SQLite type, with the same keys.
///
/// Core Data's own conversion gives new keys, so that object URIs that an app keeps elsewhere no longer hold.
package final class AtomicConversion {
  private let contents: AtomicContents
  private let names: AtomicModel
  private let model: Model
  private var links: [LinkPart] = []
  private var entityNames: [Int: String] = [:]
  private var forms: [Int: ObjectForm] = [:]
  private var tally = ConversionTally()

  /// A relationship as the model declares it, with the numbers that its links have in the private file.
  private struct LinkPart {
    /// The topmost entity that declares it.
    let declarer: String
    let relationship: Relationship
    /// The place of its inverse in the list; `nil` where it has none.
    var inverse: Int?
  }

  /// - Parameter names: a model for the store.
  package init(_ contents: AtomicContents, _ names: AtomicModel) {
    self.contents = contents
    self.names = names
    model = names.model
  }

  /// Writes the new store.
  ///
  /// - Parameters:
  ///   - path: where nothing may be.
  ///   - progress: called with how many objects are written; it throws to stop.
  /// - Throws: ``CoreDataError`` of kind failed, or what `progress` throws; nothing is left behind then.
  package func write(
    to path: String, progress: (Int) throws -> Void = { _ in }
  ) throws -> AtomicReport {
    do {
      try prepare()
      let writer = try StoreWriter(
        creating: path, model: model, uuid: contents.uuid?.uppercased(), metadata: metadata)
      // Nothing keeps objects of an atomic store apart.
      writer.allowsBrokenConstraints = true
      try writeObjects(writer, progress)
      try writeLinks(writer)
      try writer.finish()
      tally.brokenConstraints = writer.brokenConstraints
      return report()
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path, kind: .failed)
    }
  }

  /// The store's own metadata, but for what says that it is of another type.
  private var metadata: [String: PropertyListValue] {
    var values = contents.metadata ?? [:]
    for key in ["NSStoreType", "NSStoreUUID"] { values[key] = nil }
    return values
  }

  private func prepare() throws {
    for entity in model.entities {
      for relationship in entity.relationships
      where !relationship.isTransient
        && model.declaringEntity(of: relationship.name, in: entity.name) == entity.name
      {
        links.append(LinkPart(declarer: entity.name, relationship: relationship))
      }
    }
    for (index, link) in links.enumerated() {
      guard let inverse = link.relationship.inverse,
        let declarer = model.declaringEntity(of: inverse, in: link.relationship.destination)
      else { continue }
      links[index].inverse = links.firstIndex {
        $0.declarer == declarer && $0.relationship.name == inverse
      }
    }
    for (number, name) in contents.entities.enumerated() {
      guard let own = names.entities[name] else {
        tally.unknownEntities[name] = contents.schema.entities[name]?.objects ?? 0
        continue
      }
      entityNames[number] = own
    }
    // Links get the numbers of the model's relationships; those that it lacks are left out.
    try contents.connection.execute("CREATE TABLE known (written INTEGER PRIMARY KEY, own INTEGER)")
    for (number, written) in contents.relationships.enumerated() {
      guard let entity = entityNames[written.entity] else { continue }
      guard let name = ObjectForm.name(of: written.name, among: relationshipNames(of: entity)),
        let declarer = model.declaringEntity(of: name, in: entity),
        let own = links.firstIndex(where: {
          $0.declarer == declarer && $0.relationship.name == name
        })
      else {
        tally.unknownProperties.insert("\(entity).\(written.name)")
        continue
      }
      try contents.connection.run(
        "INSERT INTO known VALUES (?, ?)", [.integer(Int64(number)), .integer(Int64(own))])
    }
    try contents.connection.execute(
      """
      BEGIN;
      CREATE TABLE link AS SELECT k.own relationship, owner, destination, place
        FROM edge e JOIN known k ON k.written = e.relationship;
      CREATE INDEX linkByOwner ON link (relationship, owner, place);
      CREATE INDEX linkByDestination ON link (relationship, destination, owner);
      COMMIT
      """)
    try dropUnfitLinks()
    try countOneSided()
  }

  private func relationshipNames(of entity: String) -> [String] {
    model.relationships(of: entity).map(\.name)
  }

  /// Leaves out links to objects that the relationship cannot reference.
  private func dropUnfitLinks() throws {
    for (index, link) in links.enumerated() {
      let fitting = entityNames.filter {
        model.isKind($0.value, of: link.relationship.destination)
      }.keys.sorted()
      let list = fitting.map(String.init).joined(separator: ", ")
      let unfit = """
        FROM link WHERE relationship = \(index) AND NOT EXISTS
        (SELECT 1 FROM object o WHERE o.key = link.destination AND o.entity IN (\(list)))
        """
      let count = try contents.connection.value("SELECT count(*) \(unfit)")?.integer ?? 0
      guard count > 0 else { continue }
      tally.unfitLinks[place(of: link)] = Int(count)
      try contents.connection.execute("DELETE \(unfit)")
    }
  }

  private func countOneSided() throws {
    for (index, link) in links.enumerated() {
      guard let inverse = link.inverse else { continue }
      let count =
        try contents.connection.value(
          """
          SELECT count(*) FROM link e WHERE relationship = ? AND NOT EXISTS
          (SELECT 1 FROM link f WHERE f.relationship = ? AND f.destination = e.owner
            AND f.owner = e.destination)
          """, [.integer(Int64(index)), .integer(Int64(inverse))])?.integer ?? 0
      if count > 0 { tally.oneSided[place(of: link)] = Int(count) }
    }
  }

  private func place(of link: LinkPart) -> String {
    "\(link.declarer).\(link.relationship.name)"
  }

  private func writeObjects(_ writer: StoreWriter, _ progress: (Int) throws -> Void) throws {
    let objects = try contents.connection.prepare(
      "SELECT key, entity, content FROM object WHERE key IS NOT NULL ORDER BY key")
    let cursors = try targetCursors()
    var done = 0
    while try objects.step() {
      guard let key = objects.value(at: 0).integer, let number = objects.value(at: 1).integer,
        let bytes = objects.value(at: 2).blob, let form = form(of: Int(number))
      else { continue }
      if done % 1000 == 0 { try progress(done) }
      let (values, _) = try AtomicObject.values(bytes)
      var attributes: [String: AttributeValue] = [:]
      var unfit: [String: String] = [:]
      for (written, value) in values {
        guard let place = form.place(of: written) else {
          tally.unknownProperties.insert("\(form.entity).\(written)")
          continue
        }
        let attribute = place.attribute
        switch ConvertedValue(value, for: attribute) {
        case .value(let value): attributes[attribute.name] = value
        case .archived(let bytes):
          attributes[attribute.name] = .bytes(bytes)
          tally.archived[
            "\(form.entity).\(attribute.name)", default: (0, attribute.isArchived, attribute)
          ].count += 1
        case .unfit(let text):
          unfit[attribute.name] = text
          tally.unfit["\(form.entity).\(attribute.name)", default: 0] += 1
        }
        if case .object(_, let name, _) = value, !AtomicConversion.decoded.contains(name) {
          tally.classes[name, default: 0] += 1
        }
      }
      var targets: [String: ObjectID] = [:]
      var positions: [String: Int] = [:]
      for index in form.toOnes {
        guard let target = try cursors[index]?.target(of: key),
          let entity = entityNames[target.entity]
        else { continue }
        let name = links[index].relationship.name
        targets[name] = ObjectID(entity: entity, key: target.key)
        positions[name] = target.position
      }
      _ = try writer.insert(
        form.entity, key: key, attributes: attributes, unfit: unfit, toOne: targets,
        positions: positions)
      tally.objects[form.entity, default: 0] += 1
      done += 1
    }
  }

  /// Classes that Core Data decodes in a binary store without being asked to (since iOS 11 and macOS 10.13).
  private static let decoded: Set<String> = [
    "NSData", "NSMutableData", "NSNumber", "NSOrderedSet", "NSMutableOrderedSet", "NSDate",
    "NSArray", "NSMutableArray", "NSString", "NSMutableString", "NSUUID", "NSSet", "NSMutableSet",
    "NSDictionary", "NSMutableDictionary", "NSURL", "NSDecimalNumber",
    "NSDecimalNumberPlaceholder", "NSNull",
  ]

  /// How the objects of an entity of the file are read; `nil` where the model has no such entity.
  private func form(of number: Int) -> ObjectForm? {
    if let known = forms[number] { return known }
    guard let entity = entityNames[number] else { return nil }
    let lineage = Set(model.lineage(of: entity).map(\.name))
    let form = ObjectForm(
      entity, of: model, hasPlaces: names.source == .given,
      toOnes: links.indices.filter {
        !links[$0].relationship.isToMany && lineage.contains(links[$0].declarer)
      })
    forms[number] = form
    return form
  }

  /// What each to-one references, by its place in the list of links, for objects in the order of their keys.
  private func targetCursors() throws -> [Int: TargetCursor] {
    var cursors: [Int: TargetCursor] = [:]
    for (index, link) in links.enumerated() where !link.relationship.isToMany {
      let hasPositions = link.inverse.map { links[$0].relationship.isOrdered } ?? false
      cursors[index] = try TargetCursor(
        contents.connection, relationship: index, inverse: link.inverse, hasPositions: hasPositions)
    }
    return cursors
  }

  /// Links that no row of an object has: of pairs of to-manys from one side, with what the other has beside it.
  private func writeLinks(_ writer: StoreWriter) throws {
    for (index, link) in links.enumerated() where link.relationship.isToMany {
      if let inverse = link.inverse {
        guard links[inverse].relationship.isToMany, index <= inverse else { continue }
      }
      let isOrdered = link.inverse.map { links[$0].relationship.isOrdered } ?? false
      let position =
        isOrdered
        ? """
        (SELECT min(place) FROM link p WHERE p.relationship = ?2 AND p.destination = r.owner
          AND p.owner = r.target)
        """ : "NULL"
      let rows = try contents.connection.prepare(
        """
        SELECT r.owner, r.target, o.entity, \(position) FROM (
          SELECT owner, destination target, min(place) place, 0 side FROM link
          WHERE relationship = ?1 GROUP BY 1, 2
          UNION ALL SELECT destination, owner, NULL, 1 FROM link l WHERE relationship = ?2 AND NOT EXISTS
          (SELECT 1 FROM link m WHERE m.relationship = ?1 AND m.owner = l.destination AND m.destination = l.owner)
          GROUP BY 1, 2
        ) r JOIN object o ON o.key = r.owner ORDER BY r.owner, r.side, r.place, r.target
        """)
      try rows.bind([.integer(Int64(index)), .integer(Int64(link.inverse ?? -1))])
      var owner: ObjectID?
      var targets: [(key: Int64, position: Int?)] = []
      func flush() throws {
        guard let owner, !targets.isEmpty else { return }
        try writer.link(
          link.relationship.name, of: owner, to: targets.map(\.key),
          inversePositions: targets.map(\.position))
        targets = []
      }
      while try rows.step() {
        guard let key = rows.value(at: 0).integer, let target = rows.value(at: 1).integer,
          let entity = rows.value(at: 2).integer.flatMap({ entityNames[Int($0)] })
        else { continue }
        if owner?.key != key { try flush() }
        owner = ObjectID(entity: entity, key: key)
        targets.append((target, rows.value(at: 3).integer.map { Int($0) }))
      }
      try flush()
    }
  }

  private func report() -> AtomicReport {
    var report = AtomicReport()
    report.entities = model.entitiesInStoreOrder.compactMap { entity in
      tally.objects[entity.name].map { (entity.name, $0) }
    }
    report.losses = (contents.losses + tally.losses).map(\.sentence)
    report.warnings =
      (contents.warnings + tally.warnings).map(\.sentence) + tally.brokenConstraintWarnings
    report.faults = contents.losses + contents.warnings + tally.faults
    report.notes = names.notes(of: contents) + tally.notes
    return report
  }
}

import ManagedModel

/// A version of a model as Swift source has it: a VersionedSchema, or all there is.
public struct SourceVersion: Sendable {
  /// A class of the version.
  public struct Class: Sendable, Equatable {
    /// Its entity.
    public var entity: String
    /// Its whole name, such as `SchemaV1.Item`.
    public var name: String
    /// Where it is declared.
    public var place: SourcePlace
    /// Whether the version lists it, or reaches it by a relationship alone.
    public var isListed: Bool
    /// Whether it is declared within the version; one outside lives on when the version is frozen.
    public var isInside: Bool
    /// Lines of its properties, by name.
    public var lines: [String: Int]
    /// Properties whose default only a running program knows.
    public var computedDefaults: [String]
  }

  /// The name that `PATH@NAME` calls it by.
  public internal(set) var name: String
  /// What `versionIdentifier` says, or `1.0.0`.
  public let identifier: String
  /// Where it is declared; `nil` for one that has no declaration.
  public let place: SourcePlace?
  /// Its classes, by their entities.
  public let classes: [Class]
  /// The place of each entity's class among them.
  let classPlaces: [String: Int]
  /// The model, or why it could not be made.
  public let result: Result<Model, CoreDataError>
  /// What could not be seen of it, or was taken for granted.
  public let remarks: [SourceRemark]

  /// - Throws: why the classes are no sound model.
  public var model: Model { get throws(CoreDataError) { try result.get() } }

  /// Where an entity, or a property of it, is declared.
  public func place(of entity: String, property: String? = nil) -> SourcePlace? {
    guard let found = type(of: entity) else { return nil }
    guard let property else { return found.place }
    return found.lines[property].map { SourcePlace(path: found.place.path, line: $0) }
  }

  /// The class of an entity.
  package func type(of entity: String) -> Class? { classPlaces[entity].map { classes[$0] } }

  /// Whether another version has the very same classes.
  func hasClasses(of other: SourceVersion) -> Bool {
    Set(classes.map(\.name)) == Set(other.classes.map(\.name))
  }
}

extension SourceVersion {
  /// Most classes of one version.
  private static let classLimit = 20_000

  /// Puts the classes together, and whatever they reach.
  ///
  /// - Parameters:
  ///   - listed: places of the classes in the table.
  ///   - scope: the path of the VersionedSchema; empty for all there is.
  ///   - warnings: what the model shall warn of besides.
  init(
    name: String, identifier: String, place: SourcePlace?, listed: [Int], scope: [String],
    table: TypeTable, remarks given: [SourceRemark], warnings: [SourceRemark],
    readers: inout [Int: EntityReader]
  ) {
    var remarks = given
    var order: [Int] = []
    var byName: [String: Int] = [:]
    var queue = listed
    var next = 0
    while next < queue.count, order.count < Self.classLimit {
      let current = queue[next]
      next += 1
      let entry = table.entries[current]
      if let other = byName[entry.ownName] {
        if other != current {
          remarks.append(
            SourceRemark(
              entry.place(entry.declaration.line),
              "\(name): \(entry.name) and \(table.entries[other].name) are both named"
                + " \(entry.ownName); the second one was taken"))
        }
        continue
      }
      byName[entry.ownName] = current
      order.append(current)
      let reader = readers[current] ?? EntityReader(current, table)
      readers[current] = reader
      if let parent = reader.parent { queue.append(parent) }
      queue += reader.links.map(\.destination)
    }
    var entities: [String: Entity] = [:]
    for current in order {
      guard let reader = readers[current] else { continue }
      remarks += reader.remarks
      entities[reader.entity.name] = reader.entity
    }
    let all = order.compactMap { readers[$0] }
    Self.setInverses(all, &entities, &remarks)
    let isListed = Set(listed)
    classes = zip(order, all).map { current, reader in
      Class(
        entity: reader.entity.name, name: reader.entry.name,
        place: reader.entry.place(reader.entry.declaration.line),
        isListed: isListed.contains(current),
        isInside: scope.isEmpty || reader.entry.path.starts(with: scope),
        lines: reader.lines, computedDefaults: reader.computedDefaults)
    }.sortedByBytes(\.entity)
    classPlaces = Dictionary(classes.enumerated().map { ($1.entity, $0) }) { first, _ in first }
    self.name = name
    self.identifier = identifier
    self.place = place
    self.remarks = remarks
    result = Result { () throws(CoreDataError) in
      try Model(
        entities: Array(entities.values), versionIdentifiers: [identifier],
        warnings: (warnings + remarks).map(\.description))
    }
  }

  /// Sets the inverses that are stated, and those that two relationships alone between two classes
  /// are of each other.
  private static func setInverses(
    _ readers: [EntityReader], _ entities: inout [String: Entity], _ remarks: inout [SourceRemark]
  ) {
    /// Relationships without a stated inverse, by the entities from and to which they lead.
    var open: [[String]: [String]] = [:]
    var stated: Set<[String]> = []
    for reader in readers {
      let entity = reader.entity.name
      for link in reader.links {
        guard let path = link.inverse, let inverse = path.last else { continue }
        let destination = reader.table.entries[link.destination].ownName
        guard let owner = declarer(of: inverse, in: destination, entities) else {
          remarks.append(
            SourceRemark(
              reader.entry.place(link.line),
              "\(entity).\(link.name): its inverse \(destination).\(inverse) is not a relationship")
          )
          continue
        }
        set(inverse, on: link.name, of: entity, &entities)
        set(link.name, on: inverse, of: owner, &entities)
        stated.formUnion([[entity, link.name], [owner, inverse]])
      }
    }
    for reader in readers {
      let entity = reader.entity.name
      for link in reader.links where !stated.contains([entity, link.name]) {
        open[[entity, reader.table.entries[link.destination].ownName], default: []].append(
          link.name)
      }
    }
    for (pair, names) in open where names.count == 1 && pair[0] != pair[1] {
      guard let others = open[[pair[1], pair[0]]], others.count == 1 else { continue }
      set(others[0], on: names[0], of: pair[0], &entities)
    }
  }

  /// The entity that declares a relationship which another has.
  private static func declarer(
    of relationship: String, in entity: String, _ entities: [String: Entity]
  ) -> String? {
    var current = entities[entity]
    for _ in 0..<Model.maximumDepth {
      guard let entity = current else { return nil }
      if entity.relationship(named: relationship) != nil { return entity.name }
      current = entity.parent.flatMap { entities[$0] }
    }
    return nil
  }

  private static func set(
    _ inverse: String, on name: String, of entity: String, _ entities: inout [String: Entity]
  ) {
    guard
      let place = entities[entity]?.relationships.firstIndex(where: { $0.name == name })
    else { return }
    entities[entity]?.relationships[place].inverse = inverse
  }
}

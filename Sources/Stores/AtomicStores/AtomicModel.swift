import ManagedModel

/// Where the model comes from that an atomic store is read with.
package enum AtomicModelSource: Sendable, Equatable {
  /// Given, or found beside the store.
  case given
  /// Made of what the file shows; the entities whose hash the store states are proved.
  case rebuilt(proved: Set<String>)

  /// Whether it is none that was made of the objects.
  package var isGiven: Bool { self == .given }
}

/// A model for an atomic store, and what of the store's names is what in it.
package struct AtomicModel {
  /// The model.
  package let model: Model
  /// Where it comes from.
  package let source: AtomicModelSource
  /// Whether it has the hashes that the store states.
  package let matches: Bool
  /// The store's name of an entity to the model's.
  let entities: [String: String]

  /// - Parameter model: the store's own; without one it is made of the objects.
  /// - Throws: ``CoreDataError`` of kind incompatible where the model cannot be the store's.
  package init(_ model: Model?, for contents: AtomicContents) throws {
    if let model {
      self.model = model
      source = .given
    } else {
      let (made, proved) = try RebuiltModel.make(of: contents)
      self.model = made
      source = .rebuilt(proved: proved)
    }
    let stated = contents.versionHashes
    matches = !stated.isEmpty && self.model.versionHashes == stated
    var folded: [String: [String]] = [:]
    for entity in self.model.entities {
      folded[entity.name.uppercased(), default: []].append(entity.name)
    }
    var entities: [String: String] = [:]
    for name in contents.entities {
      if self.model.entity(named: name) != nil {
        entities[name] = name
      } else if let found = folded[name.uppercased()], found.count == 1 {
        entities[name] = found[0]
      }
    }
    self.entities = entities
    if contents.objects > 0, entities.isEmpty {
      throw CoreDataError(
        .incompatible, code: .persistentStoreIncompatibleSchema,
        "the model has none of the store's entities", path: contents.path,
        hint: "The store has \(contents.entityNames.prefix(5).joined(separator: ", ")).")
    }
    if contents.form == .binary, case .given = source { try requirePlaces(of: contents) }
  }

  /// A binary store has values in places: a model with another number of properties would give them other names.
  private func requirePlaces(of contents: AtomicContents) throws {
    for (name, entity) in contents.schema.entities.sorted(by: { $0.key < $1.key }) {
      guard let own = entities[name], entity.places != 0 else { continue }
      let places = BinaryPlaces(of: own, in: model)
      guard let count = entity.places, count == places.count else {
        throw CoreDataError(
          .incompatible, code: .persistentStoreIncompatibleSchema,
          "the objects have \(entity.places.map { "\($0)" } ?? "different numbers of") values, and the model's entity has \(places.count) properties",
          path: contents.path, entity: own,
          hint:
            "A binary store has no names of attributes: only the model that it was saved with shows them. Without --model they are shown as #0, #1 and so on."
        )
      }
    }
  }
}

/// The order in which a binary store keeps the values of an object: by the attributes of the root entity, then of each
/// below it on the way, by name; transient ones behind, then relationships (atomic-stores, 332 of 332 objects).
struct BinaryPlaces {
  /// Names of the stored attributes, in the order of their places.
  let attributes: [String]
  /// Properties in all.
  let count: Int

  init(of entity: String, in model: Model) {
    var seen: Set<String> = []
    var names: [String] = []
    var others: Set<String> = []
    for entity in model.lineage(of: entity) {
      for attribute in entity.attributes.sortedByBytes(\.name) {
        if attribute.isTransient {
          others.insert(attribute.name)
        } else if seen.insert(attribute.name).inserted {
          names.append(attribute.name)
        }
      }
      others.formUnion(entity.relationships.map(\.name))
      others.formUnion(entity.fetchedProperties.map(\.name))
    }
    attributes = names
    count = names.count + others.subtracting(seen).count
  }
}

/// A model made of what the objects of a store show.
enum RebuiltModel {
  /// - Returns: the model, and the entities whose version hash is the one that the store states.
  static func make(of contents: AtomicContents) throws -> (model: Model, proved: Set<String>) {
    let stated = contents.versionHashes
    var spelled: [String: String] = [:]
    for name in stated.keys.sorted() { spelled[name.uppercased()] = name }
    func name(_ written: String) -> String { spelled[written.uppercased()] ?? written }
    var entities: [String: Entity] = [:]
    for (written, shown) in contents.schema.entities {
      var entity = Entity(name(written))
      for (attribute, type) in shown.attributes.sorted(by: { $0.key < $1.key }) {
        entity.attributes.append(
          Attribute(
            attribute, try self.type(type, of: attribute, in: written, contents), optional: true))
      }
      for (relationship, link) in shown.relationships.sorted(by: { $0.key < $1.key }) {
        let link = link.flatMap { $0 }
        var made = Relationship(
          relationship,
          to: try link.map { name($0.destination) }
            ?? destination(of: relationship, in: written, contents).map(name) ?? entity.name,
          toMany: try link.map { $0.maximum != 1 }
            ?? isToMany(relationship, in: written, contents))
        made.isOptional = true
        made.minCount = link?.minimum ?? 0
        made.maxCount = link?.maximum ?? (made.isToMany ? 0 : 1)
        entity.relationships.append(made)
      }
      entities[entity.name] = entity
    }
    // What no object is of is known by its name alone.
    for name in stated.keys where entities[name] == nil { entities[name] = Entity(name) }
    for entity in entities.values {
      for relationship in entity.relationships where entities[relationship.destination] == nil {
        entities[relationship.destination] = Entity(relationship.destination)
      }
    }
    try setInverses(&entities, contents)
    let model = try Model(
      entities: Array(entities.values),
      versionIdentifiers: contents.metadata?["NSStoreModelVersionIdentifiers"]?.array?.compactMap(
        \.string) ?? [])
    let parents = try parents(in: model, contents)
    guard !stated.isEmpty, contents.form == .xml else {
      return (try below(parents, model), [])
    }
    let (tried, proved) = try OptionalityTrial.run(model, hashes: stated)
    return (try below(parents.filter { !proved.contains($0.key) }, tried), proved)
  }

  /// The entities that must be below another: a relationship to that one references objects of them.
  private static func parents(
    in model: Model, _ contents: AtomicContents
  ) throws -> [String: String] {
    let own = Dictionary(model.entities.map { ($0.name.uppercased(), $0.name) }) { first, _ in first
    }
    var parents: [String: String] = [:]
    for (number, written) in contents.relationships.enumerated() {
      guard let owner = own[contents.entities[written.entity].uppercased()],
        let destination = model.relationship(named: written.name, of: owner)?.destination
      else { continue }
      for found in try contents.destinations(of: number) {
        guard let entity = own[found.uppercased()], entity != destination, parents[entity] == nil
        else { continue }
        var top = destination
        while let next = parents[top] { top = next }
        if top != entity { parents[entity] = destination }
      }
    }
    return parents
  }

  /// The model with entities below others, which have what those have.
  private static func below(_ parents: [String: String], _ model: Model) throws -> Model {
    guard !parents.isEmpty else { return model }
    let entities = model.entities.map { entity in
      guard entity.parent == nil, let parent = parents[entity.name] else { return entity }
      var copy = entity
      copy.parent = parent
      var next: String? = parent
      var passed: Set<String> = [entity.name]
      while let name = next, passed.insert(name).inserted, let ancestor = model.entity(named: name)
      {
        copy.attributes.removeAll { ancestor.attribute(named: $0.name) != nil }
        copy.relationships.removeAll { ancestor.relationship(named: $0.name) != nil }
        next = ancestor.parent ?? parents[name]
      }
      return copy
    }
    return try Model(entities: entities, versionIdentifiers: model.versionIdentifiers)
  }

  private static let types: [String: AttributeType] = [
    "int16": .integer16, "int32": .integer32, "int64": .integer64, "bool": .boolean,
    "float": .float, "double": .double, "decimal": .decimal, "date": .date, "string": .string,
    "binary": .binary,
  ]

  private static func type(
    _ written: String, of attribute: String, in entity: String, _ contents: AtomicContents
  ) throws -> AttributeType {
    if let type = types[written] { return type }
    guard contents.form == .binary else { return .string }
    // By the values of the first objects.
    var found: Set<AttributeType> = []
    for value in try contents.values(of: attribute, in: entity, limit: 1000) {
      switch value {
      case .plain(let value), .known(let value, _), .object(.some(let value), _, _):
        found.insert(value.naturalType)
      default: found.insert(.transformable)
      }
    }
    if found.count == 1, let type = found.first { return type }
    return found == [.integer64, .double]
      ? .double
      : found == [.integer64, .boolean] ? .integer64 : .transformable
  }

  /// The entity of what a relationship references: of several the one with the fewest properties, as those below it
  /// have its own and more.
  private static func destination(
    of relationship: String, in entity: String, _ contents: AtomicContents
  ) throws -> String? {
    guard let number = contents.number(of: relationship, in: entity) else { return nil }
    return try contents.destinations(of: number).min {
      (contents.schema.entities[$0]?.places ?? 0, $0)
        < (contents.schema.entities[$1]?.places ?? 0, $1)
    }
  }

  private static func isToMany(
    _ relationship: String, in entity: String, _ contents: AtomicContents
  ) throws -> Bool {
    try contents.connection.value(
      "SELECT max(place) FROM edge WHERE relationship = ?",
      [.integer(Int64(contents.number(of: relationship, in: entity) ?? -1))]
    )?.integer ?? 0 > 0
  }

  /// The inverse of a relationship is the one of its destination that has its links the other way.
  private static func setInverses(
    _ entities: inout [String: Entity], _ contents: AtomicContents
  ) throws {
    let names = Dictionary(contents.entities.map { ($0.uppercased(), $0) }) { first, _ in first }
    func number(_ relationship: String, _ entity: String) -> Int64? {
      names[entity.uppercased()].flatMap { contents.number(of: relationship, in: $0) }.map(
        Int64.init)
    }
    var mirrored: [(count: Int64, one: (String, String), other: (String, String))] = []
    for entity in entities.values.sorted(by: { $0.name < $1.name }) {
      for relationship in entity.relationships {
        for candidate in entities[relationship.destination]?.relationships ?? []
        where candidate.destination == entity.name {
          guard let one = number(relationship.name, entity.name),
            let other = number(candidate.name, relationship.destination)
          else { continue }
          let count =
            try contents.connection.value(
              """
              SELECT count(*) FROM (SELECT 1 FROM edge e JOIN edge f ON f.relationship = ?2
                AND f.destination = e.owner AND f.owner = e.destination
              WHERE e.relationship = ?1 LIMIT 100000)
              """, [.integer(one), .integer(other)])?.integer ?? 0
          mirrored.append(
            (count, (entity.name, relationship.name), (relationship.destination, candidate.name)))
        }
      }
    }
    // Most links first; a pair without links only where neither has another to choose from.
    for pair in mirrored.sorted(by: {
      ($1.count, $0.one.0, $0.one.1, $0.other.1) < ($0.count, $1.one.0, $1.one.1, $1.other.1)
    }) {
      let isOnly =
        mirrored.count { $0.one == pair.one } == 1 && mirrored.count { $0.other == pair.other } == 1
      guard pair.count > 0 || isOnly, inverse(of: pair.one, entities) == nil,
        inverse(of: pair.other, entities) == nil
      else { continue }
      set(pair.other.1, of: pair.one, &entities)
      set(pair.one.1, of: pair.other, &entities)
    }
  }

  private static func inverse(
    of place: (String, String), _ entities: [String: Entity]
  ) -> String? {
    entities[place.0]?.relationship(named: place.1)?.inverse
  }

  private static func set(
    _ inverse: String, of place: (String, String), _ entities: inout [String: Entity]
  ) {
    guard
      let index = entities[place.0]?.relationships.firstIndex(where: { $0.name == place.1 })
    else { return }
    entities[place.0]?.relationships[index].inverse = inverse
  }
}

extension AttributeValue {
  /// The type of attribute that a value of a binary store is of by itself.
  fileprivate var naturalType: AttributeType {
    switch self {
    case .null: .transformable
    case .integer: .integer64
    case .boolean: .boolean
    case .double: .double
    case .decimal: .decimal
    case .string: .string
    case .date: .date
    case .bytes: .binary
    case .uuid: .uuid
    case .uri: .uri
    }
  }
}

extension AtomicContents {
  /// The number of a relationship in the private file.
  func number(of relationship: String, in entity: String) -> Int? {
    guard let owner = entities.firstIndex(of: entity) else { return nil }
    return relationships.firstIndex { $0.entity == owner && $0.name == relationship }
  }

  /// The entities of what a relationship references, by the names that the store has for them.
  func destinations(of relationship: Int) throws -> [String] {
    try connection.rows(
      """
      SELECT DISTINCT o.entity FROM edge e JOIN object o ON o.key = e.destination
      WHERE e.relationship = ? ORDER BY 1
      """, [.integer(Int64(relationship))]
    ).compactMap { row in
      row.first?.integer.flatMap { Int(exactly: $0) }.flatMap {
        entities.indices.contains($0) ? entities[$0] : nil
      }
    }
  }

  /// The first values of an attribute.
  func values(of attribute: String, in entity: String, limit: Int) throws -> [AtomicValue] {
    guard let number = entities.firstIndex(of: entity) else { return [] }
    var result: [AtomicValue] = []
    for row in try connection.rows(
      "SELECT content FROM object WHERE entity = ? ORDER BY place LIMIT ?",
      [.integer(Int64(number)), .integer(Int64(limit))])
    {
      guard let bytes = row.first?.blob else { continue }
      if let value = try AtomicObject.values(bytes).attributes[attribute] { result.append(value) }
    }
    return result
  }
}

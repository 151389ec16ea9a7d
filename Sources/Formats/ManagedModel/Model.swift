/// Values and errors are part of what this library says: who imports it has them.
@_exported import Values

/// A managed object model: the entities of a store and how they relate.
///
/// A value that was made is sound: names are unique, every parent exists and no entity is its own
/// ancestor, so that walks over the hierarchy end.
public struct Model: Sendable, Equatable {
  /// The entities, sorted by name in byte order.
  public private(set) var entities: [Entity]
  /// Identifiers that the model's author gave the version; free text, often empty.
  public let versionIdentifiers: [String]
  /// Configuration name to the names of its entities; the default one, of all, is not listed.
  public let configurations: [String: [String]]
  /// Fetch requests kept under a name, sorted by it.
  public let fetchRequests: [FetchRequestTemplate]
  /// What a reader met and did not understand, as sentences; never a reason to fail.
  public let warnings: [String]

  private let indexes: [String: Int]
  /// By each entity's place, where in it each attribute and relationship that it declares is.
  private let places: [[String: PropertyPlace]]
  private let children: [String: [String]]
  /// Places of the entities in the order of their numbers in a fresh store.
  private let storeOrder: [Int]

  /// Deepest hierarchy accepted; real ones stay below ten.
  public static let maximumDepth = 256

  /// Makes a model of entities in any order.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable when two entities, two properties of one entity
  ///   or two elements of one composite attribute share a name, a parent does not exist, or an entity would be its own ancestor.
  public init(
    entities: [Entity], versionIdentifiers: [String] = [],
    configurations: [String: [String]] = [:], fetchRequests: [FetchRequestTemplate] = [],
    warnings: [String] = []
  ) throws(CoreDataError) {
    let sorted = entities.sortedByBytes(\.name)
    var indexes: [String: Int] = [:]
    var places: [[String: PropertyPlace]] = []
    var children: [String: [String]] = [:]
    for (index, entity) in sorted.enumerated() {
      guard indexes.updateValue(index, forKey: entity.name) == nil else {
        throw CoreDataError(.unreadable, "two entities share a name", entity: entity.name)
      }
      if let parent = entity.parent { children[parent, default: []].append(entity.name) }
      let own = PropertyPlace.places(in: entity)
      if let name = own.repeated {
        throw CoreDataError(
          .unreadable, "two properties share a name", entity: entity.name, property: name)
      }
      places.append(own.places)
      let composites = entity.attributes.filter { !$0.elements.isEmpty }
      let paths = composites.flatMap { $0.storage.columns.map(\.attribute.name) }
      if !paths.isEmpty, let path = (entity.propertyNames + paths).firstRepeated {
        throw CoreDataError(
          .unreadable, "two elements of a composite attribute share a name",
          entity: entity.name, property: path)
      }
    }
    for entity in sorted {
      var depth = 0
      var current = entity
      while let parent = current.parent {
        guard let index = indexes[parent] else {
          throw CoreDataError(
            .unreadable, "the parent entity “\(parent)” does not exist", entity: current.name)
        }
        depth += 1
        guard depth <= Self.maximumDepth, parent != entity.name else {
          throw CoreDataError(
            .unreadable, "the entity is its own ancestor, or its hierarchy is too deep",
            entity: entity.name)
        }
        current = sorted[index]
      }
    }
    self.entities = sorted
    self.versionIdentifiers = versionIdentifiers
    self.configurations = configurations
    self.fetchRequests = fetchRequests
    self.warnings = warnings
    self.indexes = indexes
    self.places = places
    self.children = children
    let roots = sorted.filter { $0.parent == nil }.map(\.name)
    storeOrder = Self.preorder(from: roots, children).compactMap { indexes[$0] }
  }

  /// The same model, of which what is equal in another one takes its memory once: most of a bundle's
  /// versions is.
  func sharing(with other: Model) -> Model {
    var model = self
    for place in entities.indices {
      if let known = other.entity(named: entities[place].name), known == entities[place] {
        model.entities[place] = known
      }
    }
    return model
  }

  /// The entity of that name.
  public func entity(named name: String) -> Entity? {
    indexes[name].map { entities[$0] }
  }

  /// Names of the entities directly below `name`, sorted by name in byte order.
  public func children(of name: String) -> [String] { children[name] ?? [] }

  /// The entity and its ancestors, from the root down to the entity itself; empty when unknown.
  public func lineage(of name: String) -> [Entity] {
    var chain: [Entity] = []
    var current = entity(named: name)
    while let entity = current {
      chain.append(entity)
      current = entity.parent.flatMap { self.entity(named: $0) }
    }
    return chain.reversed()
  }

  /// Name of the topmost ancestor, or of the entity itself; it names the table in a store.
  public func root(of name: String) -> String {
    var root = name
    while let parent = indexes[root].flatMap({ entities[$0].parent }) { root = parent }
    return root
  }

  /// The entity and all its descendants, in pre-order, siblings in case-insensitive name order:
  /// the order in which Core Data numbers entities.
  public func subtree(of name: String) -> [String] {
    Self.preorder(from: [name], children)
  }

  private static func preorder(
    from names: [String], _ children: [String: [String]]
  ) -> [String] {
    var result: [String] = []
    var stack = inOrder(names).reversed() as [String]
    while let next = stack.popLast() {
      result.append(next)
      if let below = children[next] { stack.append(contentsOf: inOrder(below).reversed()) }
    }
    return result
  }

  /// All entities in the order of their numbers in a fresh store: pre-order over the hierarchies.
  public var entitiesInStoreOrder: [Entity] {
    storeOrder.map { entities[$0] }
  }

  /// Entities by name, in the order of siblings: where two share something, it is named for the first one.
  package var entitiesByName: [Entity] {
    Self.inOrder(entities.map(\.name)).compactMap(entity(named:))
  }

  /// Attributes an entity has, inherited ones first, each level in declaration order.
  public func attributes(of name: String) -> [Attribute] {
    inherited(by: name, \.attributes, \.name)
  }

  /// Relationships an entity has, inherited ones first, each level in declaration order.
  public func relationships(of name: String) -> [Relationship] {
    inherited(by: name, \.relationships, \.name)
  }

  /// What an entity and those above it declare; where both have a name, its own stands.
  private func inherited<Property>(
    by name: String, _ own: (Entity) -> [Property], _ propertyName: (Property) -> String
  ) -> [Property] {
    var result: [Property] = []
    for property in lineage(of: name).flatMap(own) {
      let name = propertyName(property)
      if let index = result.firstIndex(where: { propertyName($0) == name }) {
        result[index] = property
      } else {
        result.append(property)
      }
    }
    return result
  }

  /// The attribute of that name, own or inherited.
  public func attribute(named name: String, of entity: String) -> Attribute? {
    first(from: entity) { ownAttribute(named: name, at: $0) }
  }

  /// The relationship of that name, own or inherited.
  public func relationship(named name: String, of entity: String) -> Relationship? {
    first(from: entity) { index in
      guard case .relationship(let place)? = places[index][name] else { return nil }
      return entities[index].relationships[place]
    }
  }

  /// What a column holds, own or inherited: an attribute, or an element by its path
  /// `composite.element`.
  public func storedAttribute(named path: String, of entity: String) -> Attribute? {
    first(from: entity) { ownStoredAttribute(named: path, at: $0) }
  }

  /// Name of the entity in `entity`'s lineage that declares the property, or the composite attribute
  /// that a path `composite.element` goes into.
  public func declaringEntity(of property: String, in entity: String) -> String? {
    var topmost: String?
    var next = indexes[entity]
    while let index = next {
      switch places[index][property] {
      case .attribute, .relationship: topmost = entities[index].name
      case .fetchedProperty, nil:
        if ownStoredAttribute(named: property, at: index) != nil { topmost = entities[index].name }
      }
      next = entities[index].parent.flatMap { indexes[$0] }
    }
    return topmost
  }

  /// Whether an entity or one above it declares an attribute or a relationship of that name.
  package func declares(_ property: String, atOrAbove entity: String) -> Bool {
    first(from: entity) { index in
      switch places[index][property] {
      case .attribute, .relationship: true
      case .fetchedProperty, nil: nil
      }
    } ?? false
  }

  /// What `body` finds in an entity, else in the nearest of its ancestors.
  private func first<Found>(from entity: String, _ body: (Int) -> Found?) -> Found? {
    var next = indexes[entity]
    while let index = next {
      if let found = body(index) { return found }
      next = entities[index].parent.flatMap { indexes[$0] }
    }
    return nil
  }

  private func ownAttribute(named name: String, at index: Int) -> Attribute? {
    guard case .attribute(let place)? = places[index][name] else { return nil }
    return entities[index].attributes[place]
  }

  private func ownStoredAttribute(named path: String, at index: Int) -> Attribute? {
    if let whole = ownAttribute(named: path, at: index) { return whole.stored(at: path) }
    guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    return ownAttribute(named: String(path[..<dot]), at: index)?.stored(at: path)
  }

  /// Whether `name` is `ancestor` or below it.
  public func isKind(_ name: String, of ancestor: String) -> Bool {
    var place = indexes[name]
    while let index = place {
      if entities[index].name == ancestor { return true }
      place = entities[index].parent.flatMap { indexes[$0] }
    }
    return false
  }

  /// The order of siblings: by name without regard to case, then by bytes.
  private static func inOrder(_ names: [String]) -> [String] {
    guard names.count > 1 else { return names }
    return names.map { (lower: $0.lowercased(), name: $0) }.sorted { a, b in
      a.lower == b.lower
        ? a.name.precedes(b.name)
        : a.lower.precedes(b.lower)
    }.map(\.name)
  }
}

extension Model {
  /// What follows from the entities is not compared.
  public static func == (one: Model, other: Model) -> Bool {
    one.entities == other.entities && one.versionIdentifiers == other.versionIdentifiers
      && one.configurations == other.configurations && one.fetchRequests == other.fetchRequests
      && one.warnings == other.warnings
  }
}

/// A fetch request that a model keeps under a name.
public struct FetchRequestTemplate: Sendable, Equatable {
  /// Name under which an app asks for it.
  public var name: String
  /// Name of the entity fetched.
  public var entity: String?
  /// The predicate in predicate format.
  public var predicate: String?

  /// Makes a template; `predicate` is in predicate format.
  public init(_ name: String, entity: String? = nil, predicate: String? = nil) {
    self.name = name
    self.entity = entity
    self.predicate = predicate
  }
}

extension Model {
  /// Names of the configurations whose entities have just these hashes, sorted.
  ///
  /// A store that was added for one configuration states the hashes of that configuration's entities
  /// only. A configuration of all entities counts as none.
  package func configurations(
    matching hashes: [String: VersionHash], of own: [String: VersionHash]? = nil
  ) -> [String] {
    guard !configurations.isEmpty, !hashes.isEmpty else { return [] }
    let own = own ?? versionHashes
    return configurations.filter { _, members in
      let members = Set(members)
      return members.count < entities.count && own.filter { members.contains($0.key) } == hashes
    }.keys.sorted()
  }

  /// The model with the entities of one configuration only; `nil` where there is no such
  /// configuration, or where it has an entity without its parent, which no store can keep.
  package func restricted(to configuration: String) -> Model? {
    guard let names = configurations[configuration] else { return nil }
    let members = Set(names)
    return try? Model(
      entities: entities.filter { members.contains($0.name) },
      versionIdentifiers: versionIdentifiers, configurations: [configuration: names],
      fetchRequests: fetchRequests.filter { $0.entity.map(members.contains) ?? true },
      warnings: warnings)
  }
}

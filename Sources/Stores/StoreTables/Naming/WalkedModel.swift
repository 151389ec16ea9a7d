import ManagedModel

/// The state of a ``ModelWalk``: entities in the order of their IDs, with their keys and columns.
struct WalkedModel: Sendable {
  /// Columns of one entity, by what they are for; each is a place among its hierarchy's.
  struct OwnColumns: Sendable {
    var toOnes: [Int] = []
    /// Of to-many relationships without an inverse that lead here.
    var virtual: [Int] = []
    var entities: [Int] = []
    var orders: [Int] = []
    var attributes: [Int] = []
  }

  struct Entity: Sendable {
    let name: String
    let number: Int64?
    let parent: Int?
    let root: Int
    /// Where the entities below it end: it comes first of them.
    var end: Int
    var own = OwnColumns()
    /// Relationships that it declares and no entity above it, and the same by name.
    var links: [Int] = []
    var linksByName: [String: Int] = [:]
    var keys = LateTable()
    /// Attributes in the order in which an entity below it enters them, transient ones apart.
    var persistent: [WalkKey] = []
    var transient: [WalkKey] = []
    /// Relationships likewise, by ``Link/group``.
    var groups: [[WalkKey]] = Array(repeating: [], count: 5)
    /// Join tables that it names, by the relationship that does.
    var joins: [(relationship: String, table: StoreSchema.JoinTable)] = []
  }

  /// A relationship, in the entity that declares it.
  struct Link: Sendable {
    enum Inverse: Sendable {
      case none
      case link(Int)
      /// A transient one, or one that an attribute of its name hides: no store keeps it.
      case unkept
    }

    let owner: Int
    let relationship: Relationship
    let destination: Int?
    let key: WalkKey
    var inverse = Inverse.none
    var isDecided = false

    /// The order in which Core Data enters relationships among themselves.
    var group: Int {
      if relationship.isTransient { return relationship.isToMany ? 4 : 3 }
      guard relationship.isToMany else { return 0 }
      return relationship.isOrdered ? 2 : 1
    }
  }

  let model: Model
  var entities: [Entity] = []
  var links: [Link] = []
  /// Names of the keys, and which of them are relationships.
  private(set) var keyNames: [String] = []
  var linkOfKey: [Int32] = []
  /// Of each root, by its place: columns as they were made, with their rank in the table.
  var columns: [Int: [(rank: Int, column: StoreSchema.Column)]] = [:]
  private var names: [Int: NumberedNames] = [:]
  private(set) var places: [String: Int] = [:]
  /// Keys of all entities, inherited ones counted in each.
  private var keyTotal = 0

  /// Whether there are more keys than any real model has a tenth of: keys are not inherited then, for
  /// the memory that they take, and each entity's own relationships are visited by name.
  var isLarge: Bool { keyTotal > 4_000_000 }

  init(_ model: Model, _ numbers: [String: Int64]) {
    self.model = model
    let ordered = model.entitiesInStoreOrder
    entities.reserveCapacity(ordered.count)
    for (place, entity) in ordered.enumerated() {
      places[entity.name] = place
      let parent = entity.parent.flatMap { places[$0] }
      entities.append(
        Entity(
          name: entity.name, number: numbers[entity.name], parent: parent,
          root: parent.map { entities[$0].root } ?? place, end: place + 1))
    }
    for place in entities.indices.reversed() {
      guard let parent = entities[place].parent else { continue }
      entities[parent].end = max(entities[parent].end, entities[place].end)
    }
    let standing = ["_ent", "_pk", "_opt"].map { key($0) }
    for (place, entity) in ordered.enumerated() { makeProperties(of: place, entity, standing) }
    for place in links.indices { links[place].inverse = inverse(of: links[place]) }
  }

  mutating func key(_ name: String, link: Int? = nil) -> WalkKey {
    let hashes = NameHash.both(name)
    let key = WalkKey(place: Int32(keyNames.count), late: hashes.late, early: hashes.early)
    keyNames.append(name)
    linkOfKey.append(link.map { Int32($0) } ?? -1)
    return key
  }

  /// The name of a column, numbered where the hierarchy of an entity has it already.
  mutating func unused(_ name: String, in entity: Int) -> String {
    names[entities[entity].root, default: NumberedNames()].unused(name)
  }

  /// Adds a column to the table of an entity's hierarchy.
  ///
  /// - Returns: its place among the columns made, and its name.
  mutating func add(
    _ name: String, _ content: StoreSchema.Content, to entity: Int, rank: Int = 0,
    type: String = "INTEGER"
  ) -> (place: Int, name: String) {
    let root = entities[entity].root
    let column = unused(name, in: entity)
    let place = columns[root]?.count ?? 0
    columns[root, default: []].append(
      (rank, StoreSchema.Column(name: column, type: type, content: content)))
    return (place, column)
  }

  /// The table of a hierarchy: columns as they were made, sorted by their kind.
  func table(of root: Int) -> StoreSchema.Table {
    let made = columns[root] ?? []
    // The sort keeps the order of making within a rank: it compares places where ranks are equal.
    let sorted = made.indices.sorted { (made[$0].rank, $0) < (made[$1].rank, $1) }
    return StoreSchema.Table(
      name: StoreSchema.tableName(root: entities[root].name), root: entities[root].name,
      columns: sorted.map { made[$0].column })
  }
}

/// The properties of entities, and the keys that they make.
extension WalkedModel {
  /// Step 3 of the walk for one entity: its columns, and its keys in a late table.
  private mutating func makeProperties(
    of place: Int, _ entity: ManagedModel.Entity, _ standing: [WalkKey]
  ) {
    let above = isLarge ? nil : entities[place].parent.map { entities[$0] }
    entities[place].keys = LateTable()
    for key in above?.keys.keys ?? standing { entities[place].keys.enter(key) }
    enterAttributes(of: place, entity, above)
    enterRelationships(of: place, entity, above)
    keyTotal += entities[place].keys.count
  }

  /// Whether an entity above declares the property, too: its column is the one there.
  private func isInherited(_ property: String, by entity: ManagedModel.Entity) -> Bool {
    entity.parent.map { model.declares(property, atOrAbove: $0) } ?? false
  }

  private mutating func enterAttributes(
    of place: Int, _ entity: ManagedModel.Entity, _ above: Entity?
  ) {
    if let above {
      (entities[place].persistent, entities[place].transient) = (above.persistent, above.transient)
    }
    let attributes = entity.attributes
    let own = attributes.indices.filter { !isInherited(attributes[$0].name, by: entity) }
    /// Of the keys made here, from the first on, those that are passed on.
    var kept: [Bool] = []
    let first = keyNames.count
    // Attributes are large: they are looked at where they stand.
    let names = own.map { attributes[$0].name }
    for index in names.indices.sorted(by: { names[$0].precedes(names[$1]) }) {
      let (name, source) = (names[index], own[index])
      let key = key(name)
      kept.append(false)
      if attributes[source].isTransient {
        entities[place].transient.append(key)
        continue
      }
      entities[place].persistent.append(key)
      guard attributes[source].type == .composite else {
        kept[kept.count - 1] = addAttribute(
          name, name, attributes[source].type, of: entity.name, to: place)
        continue
      }
      // The elements of composites come before plain attributes: by composite, as they are listed.
      for leaf in attributes[source].storage.columns {
        let (path, type) = (leaf.attribute.name, leaf.attribute.type)
        if let base = leaf.path.last, addAttribute(base, path, type, of: entity.name, to: place) {
          entities[place].keys.enter(self.key(path))
          kept.append(false)
        }
      }
    }
    guard kept.contains(true) else { return }
    // Transient and composite ones cost places here, and are not passed on.
    var all = LateTable()
    for key in entities[place].persistent { all.enter(key) }
    for key in entities[place].transient { all.enter(key) }
    for key in all.keys where Int(key.place) >= first && kept[Int(key.place) - first] {
      entities[place].keys.enter(key)
    }
  }

  /// Adds the column of an attribute, or of an element by its path.
  ///
  /// - Returns: whether its type has one.
  private mutating func addAttribute(
    _ base: String, _ path: String, _ type: AttributeType, of entity: String, to place: Int
  ) -> Bool {
    guard let type = StoreSchema.columnType(of: type) else { return false }
    let column = add(
      "Z" + base.attributeColumnBase, .attribute(entity: entity, name: path), to: place,
      rank: type.rank, type: type.name)
    entities[place].own.attributes.append(column.place)
    return true
  }

  private mutating func enterRelationships(
    of place: Int, _ entity: ManagedModel.Entity, _ above: Entity?
  ) {
    if let above { entities[place].groups = above.groups }
    let own = entity.relationships.filter { !isInherited($0.name, by: entity) }
      .sortedByBytes(\.name)
    guard !own.isEmpty else { return }
    /// The keys of each own relationship, in the order in which they are entered.
    var keys: [Int32: [WalkKey]] = [:]
    for relationship in own {
      let destination = places[relationship.destination]
      let columns =
        relationship.isToMany || relationship.isTransient
        ? [] : addToOne(relationship, to: destination, of: place)
      let key = key(relationship.name, link: relationship.isTransient ? nil : links.count)
      let link = Link(
        owner: place, relationship: relationship, destination: destination, key: key)
      entities[place].groups[link.group].append(key)
      guard !relationship.isTransient else { continue }
      entities[place].links.append(links.count)
      entities[place].linksByName[relationship.name] = links.count
      links.append(link)
      keys[key.place] = columns + [key]
    }
    var all = LateTable()
    for key in entities[place].groups.joined() { all.enter(key) }
    for key in all.keys {
      for key in keys[key.place] ?? [] { entities[place].keys.enter(key) }
    }
  }

  /// Adds a to-one's columns, and makes their keys.
  private mutating func addToOne(
    _ relationship: Relationship, to destination: Int?, of place: Int
  ) -> [WalkKey] {
    let (entity, name) = (entities[place].name, relationship.name)
    let own = add("Z" + name.uppercased(), .toOne(entity: entity, name: name), to: place)
    entities[place].own.toOnes.append(own.place)
    var keys = [key("_" + own.name)]
    // Entities come before those below them, so that the end is known.
    if let destination, entities[destination].end > destination + 1,
      let number = entities[destination].number
    {
      let other = add(
        "Z\(number)_\(name.uppercased())", .toOneEntity(entity: entity, name: name), to: place)
      entities[place].own.entities.append(other.place)
      keys.append(key("_" + other.name))
    }
    return keys
  }

  /// The relationship of that name in an entity; where several above it have one, the topmost.
  private func link(named name: String, in entity: Int) -> Int? {
    var found: Int?
    var next: Int? = entity
    while let place = next {
      found = entities[place].linksByName[name] ?? found
      next = entities[place].parent
    }
    return found
  }

  private func inverse(of link: Link) -> Link.Inverse {
    guard let name = link.relationship.inverse, let destination = link.destination else {
      return .none
    }
    if let other = self.link(named: name, in: destination) { return .link(other) }
    let isThere = model.relationship(named: name, of: entities[destination].name) != nil
    return isThere ? .unkept : .none
  }
}

/// Core Data's walk over a model, from which all names of a store's tables and columns come.
///
/// Which relationship of a many-to-many names the join table, and in which order columns stand that
/// the walk adds, follows from the order of Core Data's dictionaries. The walk repeats it: each
/// entity's keys are made and entered into a ``LateTable``, and then all entities are visited by name,
/// each through an ``EarlyTable`` of its keys. The rules are those of store-format-2 §1 and §2; the
/// columns of 374 tables of real stores and the names of their 224 join tables are as computed.
package struct ModelWalk: Sendable {
  /// A bit of ACHANGE.ZCOLUMNS.
  package enum ChangeBit: Sendable, Equatable {
    /// A column of the entity's table.
    case column(StoreSchema.Column)
    /// A to-many relationship, by the entity that declares it.
    case toMany(entity: String, name: String)
  }

  /// A statement of a new store.
  enum Statement: Sendable, Equatable {
    /// The table at that place.
    case table(Int)
    /// The join table at that place.
    case join(Int)
  }

  /// The table of each hierarchy, in the order of entity IDs.
  package private(set) var tables: [StoreSchema.Table] = []
  /// The join tables, in the order in which a new store gets them.
  package private(set) var joins: [StoreSchema.JoinTable] = []
  /// The order in which a new store gets its tables: each root's, and after each entity's own the
  /// join tables that it names.
  private(set) var statements: [Statement] = []

  private let walked: WalkedModel

  /// Walks over a model.
  ///
  /// - Parameter numbers: Z_ENT of each entity; what belongs to one without is left out.
  package init(_ model: Model, numbers: [String: Int64]) {
    var walked = WalkedModel(model, numbers)
    walked.visitAll()
    for entity in walked.entities.indices {
      if walked.entities[entity].root == entity {
        statements.append(.table(tables.count))
        tables.append(walked.table(of: entity))
      }
      for join in walked.joinsNamed(by: entity) {
        statements.append(.join(joins.count))
        joins.append(join)
      }
    }
    self.walked = walked
  }

  /// The bits of ACHANGE.ZCOLUMNS for an entity, from the highest of the first byte on; empty for an
  /// unknown one.
  ///
  /// Six blocks: keys of to-ones, their entity IDs, order keys, attributes, to-many relationships that
  /// a column of another row holds, and many-to-many ones (store-format-2 §7). The order within the
  /// last two is not proved.
  package func changeBits(of entity: String) -> [ChangeBit] { walked.changeBits(of: entity) }
}

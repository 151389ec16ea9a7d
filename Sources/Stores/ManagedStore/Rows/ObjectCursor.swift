import ManagedModel
import SQLite
import StoreTables

/// Walks all objects of exactly one entity in key order, with everything they hold.
///
/// Relationships come from cursors that run beside the rows, all in the order of the owner's key,
/// so that a store of any size is read once, in flat memory, without a query an object.
public final class ObjectCursor {
  /// One object: attributes and relationships stand in the order of the cursor's table.
  public struct Object: Sendable {
    /// Z_PK.
    public var key: Int64
    /// One value for each of the table's ``EntityTable/attributes``.
    public var attributes: [PropertyValue]
    /// One entry for each of the table's ``EntityTable/relationships``.
    public var relationships: [RelatedObjects]
  }

  /// What a relationship of one object references.
  public enum RelatedObjects: Sendable, Equatable {
    /// The object it references; `nil` where it references none.
    case toOne(ObjectID?)
    /// In order where the relationship is ordered, else by entity name and key.
    case toMany([ObjectID])

    /// All of them.
    package var objects: [ObjectID] {
      switch self {
      case .toOne(let id): id.map { [$0] } ?? []
      case .toMany(let ids): ids
      }
    }
  }

  /// The entity whose objects are walked, with its columns.
  public let table: EntityTable
  private let store: Store
  private var rows: Statement?
  /// Key of the object that was read last.
  private var last: Int64?
  private var readers: [Reader] = []
  private let decoder: ValueDecoder
  private let shapes: [ValueShape]
  /// The columns of the attributes in a row of the statement; `nil` for those that are not read.
  private var places: [Int?] = []
  /// Whether single objects are asked for by their keys, in any order.
  private let isSeeking: Bool
  /// Names of the properties that are read; `nil` for all.
  private let properties: Set<String>?

  private enum Reader {
    case toOne(column: Int, destination: String)
    case toMany(RelatedCursor)
    case nothing(isToMany: Bool)
  }

  /// - Parameter fileLimit: most bytes of an external data file to read; `nil` for all. What is
  ///   longer is cut: ``DataValue/count`` is its whole size.
  /// - Throws: ``CoreDataError`` for an unknown entity, or when SQLite fails.
  public convenience init(_ store: Store, entity: String, fileLimit: Int? = nil) throws {
    try self.init(store, entity: entity, properties: nil, fileLimit: fileLimit)
  }

  /// The same for single objects, which ``object(_:)`` reads.
  package convenience init(seeking store: Store, entity: String, fileLimit: Int? = nil) throws {
    try self.init(store, entity: entity, properties: nil, fileLimit: fileLimit, isSeeking: true)
  }

  /// - Parameters:
  ///   - properties: names of those that are read; others have NULL or no object in their places.
  ///   - isSeeking: whether single objects are read, by ``object(_:)``.
  package init(
    _ store: Store, entity: String, properties: Set<String>?, fileLimit: Int?,
    isSeeking: Bool = false
  ) throws {
    self.properties = properties
    let table = try store.knownTable(of: entity)
    self.table = table
    self.store = store
    self.isSeeking = isSeeking
    shapes = table.attributes.map { ValueShape($0.attribute) }
    decoder = ValueDecoder(files: store.files, limit: nil, fileLimit: fileLimit)
    guard store.database.contains(table.table) else { return }
    try store.reading { try begin() }
  }

  /// Begins with the first object, or goes on behind the last one that was read.
  private func begin() throws {
    var columns = ["t.Z_PK"]
    func isRead(_ name: String) -> Bool { properties?.contains(name) ?? true }
    places = table.attributes.map { entry in
      guard isRead(entry.attribute.name) else { return nil }
      columns.append(entry.place(in: "t"))
      return columns.count - 1
    }
    var readers: [Reader] = []
    for entry in table.relationships {
      if !isRead(entry.relationship.name) {
        readers.append(.nothing(isToMany: entry.relationship.isToMany))
      } else if let toOne = store.toOneColumns(of: entry) {
        readers.append(
          .toOne(column: columns.count, destination: entry.relationship.destination))
        columns += toOne
      } else if let storage = entry.storage {
        readers.append(.toMany(try RelatedCursor(store, entry, storage, isSeeking: isSeeking)))
      } else {
        readers.append(.nothing(isToMany: entry.relationship.isToMany))
      }
    }
    let place = isSeeking ? "t.Z_PK = ?" : last.map { "t.Z_PK > \($0)" }
    let conditions = [table.ownRows("t"), place].compactMap { $0 }
    rows = try store.connection.prepare(
      """
      SELECT \(columns.joined(separator: ", ")) FROM \(quoted(table.table)) t \(store.tableOnly)
      \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
      ORDER BY t.Z_PK
      """)
    self.readers = readers
  }

  /// The next object; `nil` after the last.
  public func next() throws -> Object? {
    guard !isSeeking else { return nil }
    let object = try readAgain { try read() }
    last = object?.key ?? last
    return object
  }

  /// The object of a key; `nil` where the entity has none. Only of a cursor that was made for seeking.
  package func object(_ key: Int64) throws -> Object? {
    guard isSeeking else { return nil }
    return try readAgain {
      // Between two objects nothing is held: the file may be written to.
      defer { rows?.reset() }
      try rows?.bind([.integer(key)])
      return try read()
    }
  }

  private func readAgain(_ read: () throws -> Object?) throws -> Object? {
    guard rows != nil else { return nil }
    return try store.translating {
      do {
        return try read()
      } catch let error as SQLiteError where error.isDamage {
        // The page and what is on it is lost; what is behind it is read on.
        guard try store.mend() else { throw error }
        try begin()
        return try read()
      }
    }
  }

  private func read() throws -> Object? {
    guard let rows, try rows.step() else { return nil }
    let key = rows.integer(at: 0)
    // A tree in which keys do not rise leads in a circle, or to another's pages.
    if let last, key <= last { throw SQLiteError.disorder(of: table.table) }
    var attributes: [PropertyValue] = []
    attributes.reserveCapacity(shapes.count)
    for (shape, place) in zip(shapes, places) {
      attributes.append(
        place.map { decoder.decode(rows.stored(at: $0), as: shape) } ?? .value(.null))
    }
    var relationships: [RelatedObjects] = []
    relationships.reserveCapacity(readers.count)
    for reader in readers {
      switch reader {
      case .toOne(let column, let destination):
        relationships.append(.toOne(store.toOne(destination, rows, at: column)))
      case .toMany(let cursor): relationships.append(.toMany(try cursor.related(to: key)))
      case .nothing(let isToMany): relationships.append(isToMany ? .toMany([]) : .toOne(nil))
      }
    }
    return Object(key: key, attributes: attributes, relationships: relationships)
  }
}

/// The pairs of a to-many relationship in the order of the owner's key.
private final class RelatedCursor {
  private let statement: Statement
  private let names: [Int64: String]
  private let destination: String
  private let isOrdered: Bool
  private let isSeeking: Bool
  /// Whose pair comes next.
  private var owner: Int64?
  /// The entity of the last pair by its number: most are of one.
  private var entity: (number: Int64, name: String)?
  /// Room for the objects of one owner and their order keys.
  private var room: (ids: [ObjectID], orders: [Int64]) = ([], [])

  init(
    _ store: Store, _ entry: EntityTable.RelationshipColumns, _ storage: RelationshipStorage,
    isSeeking: Bool
  ) throws {
    self.isSeeking = isSeeking
    let links = storage.links(
      as: "l", hint: store.tableOnly, of: isSeeking ? "?1" : nil)
    let entity = store.destinationEntity(
      of: entry, storage, row: "l", key: links.destination.sql)
    let known =
      isSeeking
      ? "WHERE \(links.owner.sql) = ?1"
      : storage.isInDestinationRow ? "WHERE \(links.owner.sql) IS NOT NULL" : ""
    statement = try store.connection.prepare(
      """
      SELECT \(links.owner.sql), \(links.destination.sql), \(entity), \(links.position?.sql ?? "NULL")
      FROM \(links.from.sql) \(known) ORDER BY \(links.owner.sql)
      """)
    names = store.entityNames
    destination = entry.relationship.destination
    isOrdered = entry.relationship.isOrdered && storage.position != nil
    if !isSeeking { try store.sortingInLittleMemory { try step() } }
  }

  private func step() throws { owner = try statement.step() ? statement.integer(at: 0) : nil }

  /// Objects related to `key`; keys must be asked for in rising order, unless it seeks.
  func related(to key: Int64) throws -> [ObjectID] {
    if isSeeking {
      statement.reset()
      try statement.bind([.integer(key)])
      try step()
    }
    while let next = owner, next < key { try step() }
    guard owner == key else { return [] }
    // One object may reference hundreds of thousands: nothing of these is kept twice.
    var (found, orders) = room
    room = ([], [])
    defer {
      if found.count <= Self.mostKept {
        found.removeAll(keepingCapacity: true)
        orders.removeAll(keepingCapacity: true)
        room = (found, orders)
      }
    }
    var lastOrder: Int64 = 0
    var isInOrder = true
    while owner == key {
      let id = ObjectID(
        entity: entityName(statement.integer(at: 2)), key: statement.integer(at: 1))
      let order = isOrdered ? statement.integer(at: 3) : 0
      if let last = found.last {
        isInOrder = isInOrder && Self.precedes((lastOrder, last), (order, id))
      }
      found.append(id)
      lastOrder = order
      if isOrdered { orders.append(order) }
      try step()
    }
    if isInOrder {
      return found.count > Self.mostKept ? found : found.withUnsafeBufferPointer { Array($0) }
    }
    guard isOrdered else { return found.sorted { Self.precedes((0, $0), (0, $1)) } }
    return zip(orders, found).sorted { Self.precedes($0, $1) }.map(\.1)
  }

  private static let mostKept = 1000

  private func entityName(_ number: Int64) -> String {
    if let entity, entity.number == number { return entity.name }
    let name = names[number] ?? destination
    entity = (number, name)
    return name
  }

  private static func precedes(
    _ one: (order: Int64, id: ObjectID), _ other: (order: Int64, id: ObjectID)
  ) -> Bool {
    if one.order != other.order { return one.order < other.order }
    if one.id.entity != other.id.entity { return one.id.entity.precedes(other.id.entity) }
    return one.id.key < other.id.key
  }
}

/// Objects that somebody holds, by what they stand for: an object is one and the same however it is
/// come by, so that a value which is set in one place is never overwritten from another.
package struct LiveObjects {
  // Held, and let go of in turn: a weak reference costs an object more than making it. No object
  // may hold a reference back to the owner of this table.
  private var entries: [ObjectID: AnyObject] = [:]
  private var limit = 1_024

  /// None yet.
  package init() {}

  /// The object, while somebody holds it.
  package subscript(id: ObjectID) -> AnyObject? {
    get { entries[id] }
    set {
      entries[id] = newValue
      if entries.count >= limit { sweep() }
    }
  }

  /// Lets go of what nobody else holds; it is looked for again when as many have come as were kept.
  private mutating func sweep() {
    var unheld: [ObjectID] = []
    var index = entries.startIndex
    while index != entries.endIndex {
      if isKnownUniquelyReferenced(&entries.values[index]) { unheld.append(entries.keys[index]) }
      entries.formIndex(after: &index)
    }
    for id in unheld { entries[id] = nil }
    limit = max(1_024, entries.count * 2)
  }
}

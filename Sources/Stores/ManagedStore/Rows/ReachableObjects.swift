import ManagedModel
import SQLite
import StoreTables

/// Objects by the entities that they are of.
package struct ObjectSet: Sendable {
  private(set) var keys: [String: Set<Int64>] = [:]

  package init() {}

  /// - Returns: whether it was not there.
  mutating func insert(_ id: ObjectID) -> Bool {
    keys[id.entity, default: []].insert(id.key).inserted
  }

  /// Those of exactly an entity, in the order of their keys.
  package func keys(of entity: String) -> [Int64] { (keys[entity] ?? []).sorted() }

  /// Names of the entities that it has objects of.
  package var entities: Set<String> { Set(keys.keys) }
}

extension Store {
  /// The objects of some entities that a filter takes, those of subentities included.
  ///
  /// - Parameter predicate: NSPredicate text that fits each of the entities; `nil` for all objects.
  /// - Throws: ``CoreDataError`` for an unknown entity, a predicate that does not fit, or when SQLite fails.
  package func objects(
    of entities: [String], where predicate: String?, isCancelled: () -> Bool
  ) throws -> ObjectSet {
    var set = ObjectSet()
    for entity in entities {
      var query = RowQuery(entity: entity, limit: 5_000, properties: [])
      query.filter = try predicate.map { try RowFilter($0, entity: entity, store: self) }
      while true {
        try CoreDataError.check(isCancelled, path)
        let page = try rows(query)
        for row in page.rows { _ = set.insert(row.id) }
        guard page.rows.count == query.limit, let last = page.rows.last else { break }
        query.anchor = .after(last.cursor)
      }
    }
    return set
  }

  /// Adds everything that objects reach through relationships of some names, each object once.
  ///
  /// What a relationship references that is not there is in the set as well.
  ///
  /// - Parameter names: `recipes`, or `Person.recipes` for the one of that entity and those below it.
  /// - Throws: ``CoreDataError`` of kind usage for a name that no entity has, or when SQLite fails.
  package func addReachable(
    to set: inout ObjectSet, through names: [String], isCancelled: () -> Bool
  ) throws {
    let followed = try names.map(followed)
    var links: [String: [Statement]] = [:]
    var destinations: [String: [String]] = [:]
    var waiting = set.keys.flatMap { entity, keys in
      keys.map { ObjectID(entity: entity, key: $0) }
    }
    var count = 0
    while let object = waiting.popLast() {
      count += 1
      if count & 1023 == 0 { try CoreDataError.check(isCancelled, path) }
      if links[object.entity] == nil {
        let own = try self.links(of: object.entity, followed)
        links[object.entity] = own.map(\.statement)
        destinations[object.entity] = own.map(\.destination)
      }
      for (statement, destination) in zip(
        links[object.entity] ?? [], destinations[object.entity] ?? [])
      {
        try reading {
          // Between two objects nothing is held: the file may be written to.
          defer { statement.reset() }
          try statement.bind([.integer(object.key)])
          while try statement.step() {
            guard let id = toOne(destination, statement, at: 0), set.insert(id) else { continue }
            waiting.append(id)
          }
        }
      }
    }
  }

  /// A relationship that is followed: of any entity, or of one and those below it.
  private func followed(_ text: String) throws -> (entity: String?, name: String) {
    let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
    let (entity, name) = parts.count == 2 ? (parts[0], parts[1]) : (nil, text)
    let holders = try entity.map { [try knownTable(of: $0)] } ?? entityTables
    guard holders.contains(where: { $0.relationship(named: name) != nil }) else {
      throw CoreDataError(
        .usage, "no entity has a relationship “\(text.printable)”", path: path, property: name,
        hint: Nearest.question(
          name, in: Set(holders.flatMap { $0.relationships.map(\.relationship.name) }).sorted()))
    }
    return (entity, name)
  }

  /// Statements that find what an object with the key `?1` references.
  private func links(
    of entity: String, _ followed: [(entity: String?, name: String)]
  ) throws -> [(statement: Statement, destination: String)] {
    guard let table = layout.table(of: entity), database.contains(table.table) else { return [] }
    return try table.relationships.compactMap { entry in
      guard let storage = entry.storage,
        followed.contains(where: { wanted in
          wanted.name == entry.relationship.name
            && wanted.entity.map { model.isKind(entity, of: $0) } != false
        })
      else { return nil }
      let link = storage.links(as: "l", of: "?1")
      let number = destinationEntity(of: entry, storage, row: "l", key: link.destination.sql)
      let statement = try connection.prepare(
        """
        SELECT \(link.destination.sql), \(number) FROM \(link.from.sql)
        WHERE \(link.owner.sql) = ?1 AND \(link.destination.sql) IS NOT NULL
        """)
      return (statement, entry.relationship.destination)
    }
  }
}

import ManagedModel
import ManagedStore
import SQLite

/// Both sides of a migration step, down to tables and columns.
struct StepSchemas {
  let store: Store
  let mapping: MappingModel
  let sourceModel: Model
  let destinationModel: Model
  /// Tables of the destination.
  let destination: StoreSchema
  /// One-to-ones whose links are set when all objects are there.
  let loose: [OneToOne]
  /// Mappings (by name) whose objects get other keys: what refers to them by key cannot follow.
  var renumbered: Set<String> = []

  /// A step whose result is there: its own tables, columns and numbers are looked at.
  init(store: Store, mapping: MappingModel, result: Store) {
    self.store = store
    self.mapping = mapping
    sourceModel = store.model
    destinationModel = result.model
    destination = result.schema
    loose = mapping.looseOneToOnes(from: store.model, to: result.model)
  }

  init(store: Store, step: MigrationStep) {
    self.init(store: store, mapping: step.mapping, destination: step.destination)
  }

  init(store: Store, mapping: MappingModel, destination model: Model) {
    self.store = store
    self.mapping = mapping
    sourceModel = store.model
    destinationModel = model
    destination = StoreSchema(model: model)
    loose = mapping.looseOneToOnes(from: store.model, to: model)
  }

  /// SQL for what a destination column takes from a row `s` of a source entity; `nil` where the
  /// column belongs to another entity of the table, or starts out empty.
  func expression(for content: StoreSchema.Content, in entityMapping: EntityMapping) -> String? {
    guard let from = entityMapping.source, let to = entityMapping.destination,
      let table = store.table(of: from)
    else { return nil }
    switch content {
    case .attribute(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer),
        let attributeMapping = entityMapping.attribute(named: name),
        let attribute = destinationModel.storedAttribute(named: name, of: to)
      else { return nil }
      let literal = attributeMapping.defaultValue.map { $0.sqlLiteral(for: attribute) }
      guard let former = attributeMapping.source, let column = table.column(of: former) else {
        return literal
      }
      let value = attribute.stored(
        "s." + quoted(column), of: sourceModel.storedAttribute(named: former, of: from))
      return literal.map { "coalesce(\(value), \($0))" } ?? value
    case .toOne(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return nil }
      return isLoose(name, of: declarer) ? Self.empty : key(of: name, entityMapping, table)
    case .toOneEntity(let declarer, let name)
    where destinationModel.isKind(to, of: declarer) && isLoose(name, of: declarer):
      return Self.empty
    case .toOneEntity(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer),
        let key = key(of: name, entityMapping, table),
        let relationship = destinationModel.relationship(named: name, of: to)
      else { return nil }
      let number = entityNumber(of: name, relationship, entityMapping, table, key: key)
      // Where neither changes, the column stays as it is.
      if let former = entityMapping.relationship(named: name)?.source,
        let storage = table.storage(of: former), let entityColumn = storage.entityColumn,
        key == "s." + quoted(storage.destination), number == "s." + quoted(entityColumn)
      {
        return number
      }
      return "CASE WHEN \(key) IS NOT NULL THEN \(number) END"
    case .toOneOrder(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return nil }
      return order(of: name, entityMapping)
    case .owner(let owner, let name):
      guard let storage = ownerStorage(owner, name, table, of: to) else { return nil }
      let former = mapping.origins(of: name, in: owner, destinationModel).first.flatMap {
        sourceModel.declaringEntity(of: $0.name, in: $0.entity)
      }
      guard let isKept = isKept(storage.key, destination: owner, former: former) else {
        return storage.key
      }
      return "CASE WHEN \(isKept) THEN \(storage.key) END"
    case .ownerOrder(let owner, let name):
      return ownerStorage(owner, name, table, of: to)?.order
    }
  }

  /// What a column holds until its links are set.
  static let empty = "NULL"

  /// The destination's key of a to-one: its former column, or the one its inverse was kept in.
  func key(of name: String, _ entityMapping: EntityMapping, _ table: EntityTable) -> String? {
    guard let to = entityMapping.destination,
      let relationship = destinationModel.relationship(named: name, of: to)
    else { return nil }
    var column =
      inverseStorage(of: name, entityMapping, table).map { "s." + quoted($0.owner) }
      ?? inverseOwner(of: relationship)
    if let former = entityMapping.relationship(named: name)?.source,
      let own = table.toOneColumn(of: former)
    {
      column = "s." + quoted(own)
    }
    let former = entityMapping.relationship(named: name)?.source.flatMap { former in
      entityMapping.source.flatMap { sourceModel.relationship(named: former, of: $0)?.destination }
    }
    return column.map { column in
      guard
        let isKept = isKept(column, destination: relationship.destination, former: former)
      else {
        return column
      }
      return "CASE WHEN \(isKept) THEN \(column) END"
    }
  }

  /// SQL that is true for keys of objects that become objects of a destination entity; `nil` where
  /// all do.
  ///
  /// - Parameter former: the source entity that the objects are of, or of one below it; `nil` where
  ///   they can be any of the hierarchy.
  func isKept(_ key: String, destination entity: String, former: String?) -> String? {
    let root = destinationModel.root(of: entity)
    guard
      let any = former
        ?? destinationModel.subtree(of: root).lazy.compactMap({
          mapping.mapping(toDestination: $0)?.source
        }).first,
      let table = store.table(of: any)
    else { return nil }
    let others = sourceModel.subtree(of: former ?? sourceModel.root(of: any)).filter { source in
      guard sourceModel.entity(named: source)?.isAbstract == false else { return false }
      let to = mapping.mapping(fromSource: source)?.destination
      return to.map { !destinationModel.isKind($0, of: entity) } ?? true
    }.compactMap { store.table(of: $0)?.entityID }
    guard !others.isEmpty else { return nil }
    return """
      EXISTS (SELECT 1 FROM src.\(quoted(table.table)) d WHERE d.Z_PK = \(key)
      AND d.Z_ENT NOT IN (\(others.list)))
      """
  }

  /// Where the source keeps a to-one's inverse, when that is a column of this very table.
  private func inverseStorage(
    of name: String, _ entityMapping: EntityMapping, _ table: EntityTable
  ) -> RelationshipStorage? {
    guard let to = entityMapping.destination,
      let relationship = destinationModel.relationship(named: name, of: to),
      let inverse = relationship.inverse,
      let origin = mapping.origins(of: inverse, in: relationship.destination, destinationModel)
        .first, let storage = store.table(of: origin.entity)?.storage(of: origin.name)
    else { return nil }
    return storage.isInDestinationRow && storage.table == table.table ? storage : nil
  }

  /// SQL for the owner of a row in a to-many that goes on, where its links were kept elsewhere: the first
  /// one, of several.
  private func inverseOwner(of relationship: Relationship) -> String? {
    guard let inverse = relationship.inverse,
      destinationModel.relationship(named: inverse, of: relationship.destination)?.isToMany == true,
      let origin = mapping.origins(of: inverse, in: relationship.destination, destinationModel)
        .first,
      store.table(of: origin.entity)?.storage(of: origin.name)?.isInDestinationRow == false,
      let links = links(of: inverse, in: relationship.destination)
    else { return nil }
    return "(SELECT min(e.owner) FROM (\(links)) e WHERE e.destination = s.Z_PK)"
  }

  private func order(of name: String, _ entityMapping: EntityMapping) -> String? {
    guard let from = entityMapping.source, let table = store.table(of: from) else { return nil }
    return inverseStorage(of: name, entityMapping, table)?.position.map { "s." + quoted($0) }
  }

  /// SQL for the owner of a row in a to-many that has no inverse, and for the row's place there.
  ///
  /// A row has room for one owner: where the links were kept otherwise, the first one is taken, and
  /// those that go are counted among the losses.
  private func ownerStorage(
    _ owner: String, _ name: String, _ table: EntityTable, of entity: String
  ) -> (key: String, order: String?)? {
    guard let relationship = destinationModel.relationship(named: name, of: owner),
      destinationModel.isKind(entity, of: relationship.destination),
      let origin = mapping.origins(of: name, in: owner, destinationModel).first,
      let storage = store.table(of: origin.entity)?.storage(of: origin.name)
    else { return nil }
    if storage.isInDestinationRow, storage.table == table.table {
      return ("s." + quoted(storage.owner), storage.position.map { "s." + quoted($0) })
    }
    guard let links = links(of: name, in: owner) else { return nil }
    return (
      "(SELECT min(e.owner) FROM (\(links)) e WHERE e.destination = s.Z_PK)",
      relationship.isOrdered
        ? "(SELECT e.position FROM (\(links)) e WHERE e.destination = s.Z_PK ORDER BY e.owner LIMIT 1)"
        : nil
    )
  }

  /// SQL for the destination's Z_ENT of what a to-one leads to.
  private func entityNumber(
    of name: String, _ relationship: Relationship, _ entityMapping: EntityMapping,
    _ table: EntityTable, key: String
  ) -> String {
    func renumbered(_ sql: String, of entity: String) -> String {
      let cases = renumbering(of: store.table(of: entity)?.numbers ?? [])
        .filter { $0.old != $0.new }.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
      return cases.isEmpty ? sql : "CASE \(sql) \(cases) ELSE \(sql) END"
    }
    if let former = entityMapping.relationship(named: name)?.source,
      let entityColumn = table.storage(of: former)?.entityColumn, let from = entityMapping.source,
      let destination = sourceModel.relationship(named: former, of: from)?.destination
    {
      return renumbered("s." + quoted(entityColumn), of: destination)
    }
    guard
      let formerDestination = mapping.mapping(toDestination: relationship.destination)?.source
        ?? mapping.entityMappings.first(where: { candidate in
          candidate.source != nil
            && candidate.makes(relationship.destination, in: destinationModel)
        })?.source,
      let target = store.table(of: formerDestination)
    else { return "NULL" }
    return renumbered(
      "(SELECT d.Z_ENT FROM src.\(quoted(target.table)) d WHERE d.Z_PK = \(key))",
      of: sourceModel.root(of: formerDestination))
  }

  /// The mapping of every entity that goes on with its keys, and its number before and after: what refers to its
  /// objects by number and key follows these.
  var followers: [(mapping: EntityMapping, old: Int64, new: Int64)] {
    var seen: Set<Int64> = []
    return mapping.entityMappings.compactMap { entityMapping in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        !renumbered.contains(entityMapping.name), let old = store.table(of: from)?.entityID,
        let new = destination.numbers[to], seen.insert(old).inserted
      else { return nil }
      return (entityMapping, old, new)
    }
  }

  /// Old and new number of every entity that goes on with its keys.
  var renumbering: [(old: Int64, new: Int64)] { followers.map { ($0.old, $0.new) } }

  /// The same of some of the source's entities, by number.
  func renumbering(of numbers: [Int64]) -> [(old: Int64, new: Int64)] {
    numbers.compactMap { old in
      guard let from = store.entityNames[old] else { return nil }
      let taker = mapping.mappings(fromSource: from).lazy.filter { !renumbered.contains($0.name) }
        .compactMap { $0.destination.flatMap { destination.numbers[$0] } }.first
      return taker.map { (old, $0) }
    }
  }
}

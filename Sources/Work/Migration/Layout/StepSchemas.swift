import ManagedModel
import ManagedStore
import Mapping
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
    self.mapping = mapping.indexed
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
    self.mapping = mapping.indexed
    sourceModel = store.model
    destinationModel = model
    destination = StoreSchema(model: model)
    loose = mapping.looseOneToOnes(from: store.model, to: model)
  }

  /// What a destination column takes from a row of a source entity.
  func value(of content: StoreSchema.Content, in entityMapping: EntityMapping) -> ColumnValue {
    let nothing: ColumnValue = content.isOrder ? .position(nil) : .empty
    guard let from = entityMapping.source, let to = entityMapping.destination,
      let table = store.table(of: from)
    else { return nothing }
    switch content {
    case .attribute(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return .foreign }
      guard let attributeMapping = entityMapping.attribute(named: name),
        let attribute = destinationModel.storedAttribute(named: name, of: to)
      else { return .empty }
      let constant = attributeMapping.defaultValue?.constant(for: attribute)
      guard let former = attributeMapping.source, let column = table.column(of: former) else {
        return constant ?? .empty
      }
      let value = attribute.value(
        of: column, of: sourceModel.storedAttribute(named: former, of: from))
      return constant.map { .orElse(value, $0) } ?? value
    case .toOne(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return .foreign }
      guard !isLoose(name, of: declarer) else { return .later(first: nil) }
      return key(of: name, entityMapping, table) ?? .empty
    case .toOneEntity(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return .foreign }
      guard !isLoose(name, of: declarer) else { return .later(first: nil) }
      guard let key = key(of: name, entityMapping, table),
        let relationship = destinationModel.relationship(named: name, of: to)
      else { return .empty }
      let number = entityNumber(of: name, relationship, entityMapping, table, key: key)
      // Where neither changes, the column stays as it is.
      if let former = entityMapping.relationship(named: name)?.source,
        let storage = table.storage(of: former), let entityColumn = storage.entityColumn,
        key == .column(storage.destination), number == .column(entityColumn)
      {
        return number
      }
      if case .column(let name) = key { return .ifPresent(name, number) }
      return .lookup(
        "CASE WHEN \(key.sql ?? "NULL") IS NOT NULL THEN \(number.sql ?? "NULL") END",
        reading: key.reads.union(number.reads))
    case .toOneOrder(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return .position(nil) }
      let order = inverseStorage(of: name, entityMapping, table)?.position
      return .position(order.map { .column($0) })
    case .owner(let owner, let name):
      guard let storage = ownerStorage(owner, name, table, of: to) else { return .empty }
      let former = mapping.origins(of: name, in: owner, destinationModel).first.flatMap {
        sourceModel.declaringEntity(of: $0.name, in: $0.entity)
      }
      return storage.key.kept(
        where: isKept(storage.key.sql ?? "NULL", destination: owner, former: former))
    case .ownerOrder(let owner, let name):
      return .position(ownerStorage(owner, name, table, of: to)?.order)
    }
  }

  /// The destination's key of a to-one: its former column, or the one its inverse was kept in.
  func key(
    of name: String, _ entityMapping: EntityMapping, _ table: EntityTable
  ) -> ColumnValue? {
    guard let to = entityMapping.destination,
      let relationship = destinationModel.relationship(named: name, of: to)
    else { return nil }
    var value =
      inverseStorage(of: name, entityMapping, table).map { .column($0.owner) }
      ?? inverseOwner(of: relationship)
    if let former = entityMapping.relationship(named: name)?.source,
      let own = table.toOneColumn(of: former)
    {
      value = .column(own)
    }
    let former = entityMapping.relationship(named: name)?.source.flatMap { former in
      entityMapping.source.flatMap { sourceModel.relationship(named: former, of: $0)?.destination }
    }
    return value.map {
      $0.kept(
        where: isKept($0.sql ?? "NULL", destination: relationship.destination, former: former))
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

  /// The owner of a row in a to-many that goes on, where its links were kept elsewhere: the first one, of
  /// several.
  private func inverseOwner(of relationship: Relationship) -> ColumnValue? {
    guard let inverse = relationship.inverse,
      destinationModel.relationship(named: inverse, of: relationship.destination)?.isToMany == true,
      let origin = mapping.origins(of: inverse, in: relationship.destination, destinationModel)
        .first,
      store.table(of: origin.entity)?.storage(of: origin.name)?.isInDestinationRow == false,
      let links = links(of: inverse, in: relationship.destination)
    else { return nil }
    return Self.firstOwner(links)
  }

  /// The first owner of a row among links.
  private static func firstOwner(_ links: String) -> ColumnValue {
    .lookup(
      "(SELECT min(e.owner) FROM (\(links)) e WHERE e.destination = s.Z_PK)", reading: ["Z_PK"])
  }

  /// The owner of a row in a to-many that has no inverse, and the row's position there.
  ///
  /// A row has room for one owner: where the links were kept otherwise, the first one is taken, and
  /// those that go are counted among the losses.
  private func ownerStorage(
    _ owner: String, _ name: String, _ table: EntityTable, of entity: String
  ) -> (key: ColumnValue, order: ColumnValue?)? {
    guard let relationship = destinationModel.relationship(named: name, of: owner),
      destinationModel.isKind(entity, of: relationship.destination),
      let origin = mapping.origins(of: name, in: owner, destinationModel).first,
      let storage = store.table(of: origin.entity)?.storage(of: origin.name)
    else { return nil }
    if storage.isInDestinationRow, storage.table == table.table {
      return (.column(storage.owner), storage.position.map { .column($0) })
    }
    guard let links = links(of: name, in: owner) else { return nil }
    return (
      Self.firstOwner(links),
      relationship.isOrdered
        ? .lookup(
          "(SELECT e.position FROM (\(links)) e WHERE e.destination = s.Z_PK ORDER BY e.owner LIMIT 1)",
          reading: ["Z_PK"])
        : nil
    )
  }

  /// The destination's Z_ENT of what a to-one references.
  private func entityNumber(
    of name: String, _ relationship: Relationship, _ entityMapping: EntityMapping,
    _ table: EntityTable, key: ColumnValue
  ) -> ColumnValue {
    func changes(of entity: String) -> [Int64: Int64] {
      let pairs = renumbering(of: store.table(of: entity)?.numbers ?? [])
      return Dictionary(first: pairs.filter { $0.old != $0.new }.map { ($0.old, $0.new) })
    }
    if let former = entityMapping.relationship(named: name)?.source,
      let entityColumn = table.storage(of: former)?.entityColumn, let from = entityMapping.source,
      let destination = sourceModel.relationship(named: former, of: from)?.destination
    {
      let changes = changes(of: destination)
      return changes.isEmpty ? .column(entityColumn) : .renumbered(entityColumn, changes)
    }
    guard
      let formerDestination = mapping.mapping(toDestination: relationship.destination)?.source
        ?? mapping.entityMappings.first(where: { candidate in
          candidate.source != nil
            && candidate.makes(relationship.destination, in: destinationModel)
        })?.source,
      let target = store.table(of: formerDestination)
    else { return .constant(.null) }
    let number = """
      (SELECT d.Z_ENT FROM src.\(quoted(target.table)) d WHERE d.Z_PK = \(key.sql ?? "NULL"))
      """
    let changes = changes(of: sourceModel.root(of: formerDestination))
    return .lookup(
      changes.isEmpty ? number : ColumnValue.renumbering(number, changes), reading: key.reads)
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

/// What the tables of bookkeeping hold after a step. The result is `main` on a connection, the source is
/// attached as `src`.
extension StepSchemas {
  /// Entity numbers of the source that nothing has afterwards.
  var removedNumbers: [Int64] {
    let kept = Set(renumbering.map(\.old))
    return store.entityTables.map(\.entityID).filter { !kept.contains($0) }
  }

  /// Whether every entity has the number that it had, and none is gone.
  var keepsNumbers: Bool { renumbering.allSatisfy { $0.old == $0.new } && removedNumbers.isEmpty }

  /// The rows of Z_PRIMARYKEY, once all objects are there: Z_ENT, Z_NAME, Z_SUPER and Z_MAX.
  ///
  /// No key that was ever given out is given out again.
  func primaryKeys(on connection: Connection) throws -> [[Value]] {
    try destination.primaryKeyRows.map { row in
      var maximum: Int64 = 0
      if row.parent == 0, let table = destination.table(ofRoot: row.name) {
        for entityMapping in mappings(into: table) {
          guard let from = entityMapping.source,
            let number = store.schema.numbers[store.model.root(of: from)]
          else { continue }
          maximum = max(maximum, try PrimaryKeys(connection, in: "src.").given(number) ?? 0)
        }
        maximum = max(maximum, try PrimaryKeys(connection).used(in: table.name) ?? 0)
      }
      return [.integer(row.number), .text(row.name), .integer(row.parent), .integer(maximum)]
    }
  }
}

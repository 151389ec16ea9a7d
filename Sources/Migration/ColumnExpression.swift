import ManagedModel
import ManagedStore
import SQLite

/// Both sides of a migration step, down to tables and columns.
struct StepSchemas {
  let store: Store
  let mapping: MappingModel
  let sourceModel: Model
  let destinationModel: Model
  /// Tables of the destination, with join tables named from the side the source names them from.
  let destination: StoreSchema
  /// Mappings (by name) whose objects get other keys: what refers to them by key cannot follow.
  var renumbered: Set<String> = []

  init(store: Store, mapping: MappingModel, destination model: Model) {
    self.store = store
    self.mapping = mapping
    sourceModel = store.model
    destinationModel = model
    var schema = StoreSchema(model: model)
    schema = schema.replacing(
      joins: schema.joins.map { join in
        // Either side may name the table, as stores show: an existing one keeps its side.
        guard !join.isReflexive,
          let former = Self.sourceJoin(of: join, store: store, mapping: mapping),
          let entityMapping = mapping.mapping(toDestination: join.entity),
          let name = entityMapping.relationships.first(where: { $0.name == join.relationship })?
            .source, former.relationship != name
        else { return join }
        return join.turned(number: schema.numbers[join.inverseEntity] ?? 0)
      })
    destination = schema
  }

  /// The join table of the source that holds the same links.
  static func sourceJoin(
    of join: StoreSchema.JoinTable, store: Store, mapping: MappingModel
  )
    -> StoreSchema.JoinTable?
  {
    func find(_ entity: String, _ relationship: String) -> StoreSchema.JoinTable? {
      guard let entityMapping = mapping.mapping(toDestination: entity),
        let former = entityMapping.source,
        let name = entityMapping.relationships.first(where: { $0.name == relationship })?.source
      else { return nil }
      let declarer = store.model.declaringEntity(of: name, in: former) ?? former
      return store.schema.joins.first {
        ($0.entity == declarer && $0.relationship == name)
          || ($0.inverseEntity == declarer && $0.inverse == name)
      }
    }
    return find(join.entity, join.relationship) ?? find(join.inverseEntity, join.inverse)
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
        let attributeMapping = entityMapping.attribute(storedAs: name, in: destinationModel),
        let attribute = destination.storedAttribute(named: name, of: to)
      else { return nil }
      let literal = attributeMapping.defaultValue.map { $0.sqlLiteral(for: attribute) }
      guard let former = attributeMapping.source, let column = table.column(of: former) else {
        return literal
      }
      let value = convert("s." + quoted(column), former: former, in: from, to: attribute)
      return literal.map { "coalesce(\(value), \($0))" } ?? value
    case .toOne(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return nil }
      return key(of: name, entityMapping, table)
    case .toOneEntity(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer),
        let key = key(of: name, entityMapping, table),
        let relationship = destinationModel.relationship(named: name, of: to)
      else { return nil }
      return
        "CASE WHEN \(key) IS NOT NULL THEN \(entityNumber(of: name, relationship, entityMapping, table, key: key)) END"
    case .toOneOrder(let declarer, let name):
      guard destinationModel.isKind(to, of: declarer) else { return nil }
      return order(of: name, entityMapping)
    case .owner(let owner, let name):
      guard let storage = ownerStorage(owner, name, table, of: to) else { return nil }
      let column = "s." + quoted(storage.column)
      guard let isKept = isKept(column, destination: owner) else { return column }
      return "CASE WHEN \(isKept) THEN \(column) END"
    case .ownerOrder(let owner, let name):
      guard let storage = ownerStorage(owner, name, table, of: to) else { return nil }
      return storage.order.map { "s." + quoted($0) }
    }
  }

  /// A column that begins to allow external storage needs the mark that such columns have; one that
  /// ceases to loses it, and takes in what is in files.
  private func convert(
    _ column: String, former: String, in entity: String, to attribute: Attribute
  )
    -> String
  {
    guard let before = store.schema.storedAttribute(named: former, of: entity),
      before.allowsExternalBinaryDataStorage != attribute.allowsExternalBinaryDataStorage
    else { return column }
    return attribute.allowsExternalBinaryDataStorage
      ? "strata_inline(\(column))" : "strata_content(\(column))"
  }

  /// The destination's key of a to-one: its former column, or the one its inverse was kept in.
  private func key(of name: String, _ entityMapping: EntityMapping, _ table: EntityTable) -> String?
  {
    guard let to = entityMapping.destination,
      let relationship = destinationModel.relationship(named: name, of: to)
    else { return nil }
    var column = inverseStorage(of: name, entityMapping, table).map { "s." + quoted($0.column) }
    if let former = entityMapping.relationships.first(where: { $0.name == name })?.source,
      case .toOne(let own, _) = table.storage(of: former)
    {
      column = "s." + quoted(own)
    }
    return column.map { column in
      guard let isKept = isKept(column, destination: relationship.destination) else {
        return column
      }
      return "CASE WHEN \(isKept) THEN \(column) END"
    }
  }

  /// SQL that is true for keys of objects that go on; `nil` where all in that hierarchy do.
  func isKept(_ key: String, destination entity: String) -> String? {
    let root = destinationModel.root(of: entity)
    guard
      let former = destinationModel.subtree(of: root).lazy.compactMap({
        mapping.mapping(toDestination: $0)?.source
      }).first,
      let table = store.table(of: former)
    else { return nil }
    let removed = mapping.entityMappings.filter { $0.destination == nil }.compactMap(\.source)
      .compactMap { store.table(of: $0) }.filter { $0.table == table.table }.map(\.number)
    guard !removed.isEmpty else { return nil }
    return """
      EXISTS (SELECT 1 FROM src.\(quoted(table.table)) d WHERE d.Z_PK = \(key)
      AND d.Z_ENT NOT IN (\(removed.map(String.init).joined(separator: ", "))))
      """
  }

  /// Where the source keeps a to-one's inverse, when that is a column of this very table.
  private func inverseStorage(
    of name: String, _ entityMapping: EntityMapping, _ table: EntityTable
  )
    -> (column: String, order: String?)?
  {
    guard let to = entityMapping.destination,
      let relationship = destinationModel.relationship(named: name, of: to),
      let inverse = relationship.inverse,
      let other = mapping.mapping(toDestination: relationship.destination),
      let otherSource = other.source,
      let former = other.relationships.first(where: { $0.name == inverse })?.source,
      case .foreignKey(table.table, let column, let order) = store.table(of: otherSource)?
        .storage(of: former)
    else { return nil }
    return (column, order)
  }

  private func order(of name: String, _ entityMapping: EntityMapping) -> String? {
    guard let from = entityMapping.source, let table = store.table(of: from) else { return nil }
    if let storage = inverseStorage(of: name, entityMapping, table), let order = storage.order {
      return "s." + quoted(order)
    }
    return nil
  }

  private func ownerStorage(
    _ owner: String, _ name: String, _ table: EntityTable, of entity: String
  )
    -> (column: String, order: String?)?
  {
    guard let relationship = destinationModel.relationship(named: name, of: owner),
      destinationModel.isKind(entity, of: relationship.destination),
      let ownerMapping = mapping.mapping(toDestination: owner),
      let ownerSource = ownerMapping.source,
      let former = ownerMapping.relationships.first(where: { $0.name == name })?.source,
      case .foreignKey(table.table, let column, let order) = store.table(of: ownerSource)?
        .storage(of: former)
    else { return nil }
    return (column, order)
  }

  /// SQL for the destination's Z_ENT of what a to-one leads to.
  private func entityNumber(
    of name: String, _ relationship: Relationship, _ entityMapping: EntityMapping,
    _ table: EntityTable, key: String
  ) -> String {
    let renumbering = self.renumbering
    func renumbered(_ sql: String) -> String {
      let cases = renumbering.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
      return cases.isEmpty ? sql : "CASE \(sql) \(cases) END"
    }
    if let former = entityMapping.relationships.first(where: { $0.name == name })?.source,
      case .toOne(_, let entityColumn?) = table.storage(of: former)
    {
      return renumbered("s." + quoted(entityColumn))
    }
    guard
      let formerDestination = mapping.mapping(toDestination: relationship.destination)?.source
        ?? mapping.entityMappings.first(where: { candidate in
          candidate.source != nil
            && candidate.destination.map {
              destinationModel.isKind($0, of: relationship.destination)
            } == true
        })?.source,
      let target = store.table(of: formerDestination)
    else { return "NULL" }
    return renumbered("(SELECT d.Z_ENT FROM src.\(quoted(target.table)) d WHERE d.Z_PK = \(key))")
  }

  /// Old and new number of every entity that goes on with its keys.
  var renumbering: [(old: Int64, new: Int64)] {
    var seen: Set<Int64> = []
    return mapping.entityMappings.compactMap { entityMapping in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        !renumbered.contains(entityMapping.name), let old = store.table(of: from)?.number,
        let new = destination.numbers[to], seen.insert(old).inserted
      else { return nil }
      return (old, new)
    }
  }

  /// SQL for the pairs (owner, destination, position) of a destination relationship as the source
  /// keeps it; position is NULL where there is none.
  func edges(of relationship: String, in entity: String) -> String? {
    guard let entityMapping = mapping.mapping(toDestination: entity),
      let from = entityMapping.source,
      let former = entityMapping.relationships.first(where: { $0.name == relationship })?.source,
      let table = store.table(of: from), let storage = table.storage(of: former)
    else { return nil }
    switch storage {
    case .toOne(let column, _):
      let numbers = table.numbers.map(String.init).joined(separator: ", ")
      return """
        SELECT Z_PK AS owner, \(quoted(column)) AS destination, NULL AS position
        FROM src.\(quoted(table.table)) WHERE \(quoted(column)) IS NOT NULL AND Z_ENT IN (\(numbers))
        """
    case .foreignKey(let other, let column, let order):
      return """
        SELECT \(quoted(column)) AS owner, Z_PK AS destination, \(order.map { quoted($0) } ?? "NULL") AS position
        FROM src.\(quoted(other)) WHERE \(quoted(column)) IS NOT NULL
        """
    case .join(let join, let owner, let other, let order):
      return """
        SELECT \(quoted(owner)) AS owner, \(quoted(other)) AS destination, \(order.map { quoted($0) } ?? "NULL") AS position
        FROM src.\(quoted(join))
        """
    case .reflexive(let join, let first, let second):
      return """
        SELECT \(quoted(first)) AS owner, \(quoted(second)) AS destination, NULL AS position
        FROM src.\(quoted(join))
        """
    case .none: return nil
    }
  }
}

extension StoreSchema.JoinTable {
  /// The same links, in a table named by the other side.
  func turned(number: Int64) -> StoreSchema.JoinTable {
    var copy = self
    copy.name = "Z_\(number)\(inverse.uppercased())"
    copy.relationship = inverse
    copy.inverse = relationship
    (copy.entity, copy.inverseEntity) = (inverseEntity, entity)
    (copy.first, copy.second) = (second, first)
    (copy.firstOrder, copy.secondOrder) = (secondOrder, firstOrder)
    return copy
  }
}

import ManagedModel

extension RowFilter {
  /// The objects that a relationship of one object leads to, in the relationship's order where it
  /// has one; of them those that a predicate takes.
  ///
  /// It goes by the keys that the store keeps for the relationship, so it needs no inverse.
  package init(
    relatedTo object: ObjectID, by relationship: String, taking text: String? = nil,
    layout: StoreLayout
  ) throws {
    let owner = try layout.knownTable(of: object.entity)
    guard let entry = owner.relationships.first(where: { $0.relationship.name == relationship })
    else {
      throw CoreDataError(
        .usage, "the entity has no such relationship", entity: object.entity,
        property: relationship)
    }
    let destination = entry.relationship.destination
    let own = try text.map { try RowFilter($0, entity: destination, layout: layout) }
    let key = SQLText(value: .integer(object.key))
    let related: SQLText
    var order: SQLText?
    switch entry.storage {
    case .toOne(let column, _):
      related = "t.Z_PK = (SELECT \(name: column) FROM \(name: owner.table) WHERE Z_PK = \(key))"
    case .foreignKey(_, let column, let place):
      related = "t.\(name: column) = \(key)"
      order = place.map { "t.\(name: $0)" }
    case .join(let table, let first, let second, let place):
      related =
        "t.Z_PK IN (SELECT \(name: second) FROM \(name: table) WHERE \(name: first) = \(key))"
      order = place.map {
        """
        (SELECT j.\(name: $0) FROM \(name: table) j \
        WHERE j.\(name: first) = \(key) AND j.\(name: second) = t.Z_PK)
        """
      }
    case .reflexive(let table, let first, let second):
      related = """
        t.Z_PK IN (SELECT \(name: second) FROM \(name: table) WHERE \(name: first) = \(key) \
        UNION SELECT \(name: first) FROM \(name: table) WHERE \(name: second) = \(key))
        """
    case .none: related = "0"
    }
    self.init(
      text: text ?? "", entity: destination,
      condition: own.map { "(\(related) AND (\($0.condition)))" } ?? related)
    self.order = order
    isSeeking = true
  }
}

import ManagedModel

extension RowFilter {
  /// The objects that a relationship of one object references, in the relationship's order where it
  /// has one; of them those that a predicate takes.
  ///
  /// It uses the keys that the store keeps for the relationship, so it needs no inverse.
  package init(
    relatedTo object: ObjectID, by relationship: String, taking text: String? = nil,
    layout: StoreLayout
  ) throws(CoreDataError) {
    let owner = try layout.knownTable(of: object.entity)
    guard let entry = owner.relationship(named: relationship) else {
      throw layout.model.unknown(.relationship, relationship, of: object.entity)
    }
    let destination = entry.relationship.destination
    let own = try text.map { text throws(CoreDataError) in
      try RowFilter(text, entity: destination, layout: layout)
    }
    let (related, order) =
      entry.storage?.restriction(of: "t", to: SQLText(value: .integer(object.key))) ?? ("0", nil)
    self.init(
      text: text ?? "", entity: destination,
      condition: own.map { "(\(related) AND (\($0.condition)))" } ?? related, order: order,
      isSeeking: true)
  }
}

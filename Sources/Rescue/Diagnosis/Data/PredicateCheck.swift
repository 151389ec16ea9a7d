import ManagedModel
import ManagedStore

/// Rules for an attribute's value that are neither a bound nor a pattern, as NSPredicates.
struct PredicateCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try store.model.entities.flatMap { entity in
      try entity.attributes.flatMap { attribute in
        try attribute.validation.predicates.compactMap {
          try finding($0, attribute.name, of: entity.name)
        }
      }
    }
  }

  private func finding(
    _ text: String, _ attribute: String, of entity: String
  ) throws -> Finding? {
    // What strata's predicates do not know is not checked; Core Data's own know more.
    guard store.table(of: entity)?.column(of: attribute) != nil,
      let rule = (try? Predicate(format: text))?.about(attribute)
    else { return nil }
    let broken = "\(attribute) != nil AND NOT (\(rule))"
    guard let filter = try? RowFilter(broken, entity: entity, store: store) else { return nil }
    let count = try store.count(of: entity, filter: filter)
    guard count > 0 else { return nil }
    let first = try store.rows(
      RowQuery(entity: entity, limit: 5, properties: [], filter: filter))
    return Finding(
      .validation,
      "\(NumberText.counted(count, "object")) of \(entity).\(attribute) break the rule “\(text)”.",
      entity: entity, property: attribute, count: count,
      first: first.rows.map(\.id.description), in: place,
      remedy: .rows(entity: entity, predicate: broken))
  }
}

import ManagedModel

/// What cannot be inferred, and what to do about it.
extension Inference {
  /// Objects of one hierarchy share a table and its keys, so two tables cannot become one, unless a
  /// recipe says of each entity what becomes of it.
  func refuseMergedHierarchies() throws {
    for root in destination.entities where root.parent == nil {
      let subtree = Set(destination.subtree(of: root.name))
      let inferred = subtree.compactMap { entities.sources[$0] }.filter { former in
        // No objects are of an abstract entity.
        !isForRecipe || source.entity(named: former)?.isAbstract != true
      }
      let mapped = given.filter { $0.destination.map(subtree.contains) == true }
        .compactMap(\.source)
      let roots = Set((inferred + mapped).map(source.root(of:))).sorted()
      guard roots.count > 1, let first = inferred.min() else { continue }
      let target = entities.destinations[first] ?? root.name
      throw refusal(
        "the entities \(roots.joined(separator: " and ")) had no common parent and would share one, “\(root.name)”",
        entity: root.name,
        hint: isForRecipe
          ? "Map every one of them in the recipe, beginning with { \"source\": \"\(first)\", \"destination\": \"\(target)\" }."
          : "Keep the hierarchies apart, or merge them with a mapping of your own.")
    }
  }

  /// What to do, or what to write: an attribute takes an expression, a relationship a key path.
  func hint(
    _ advice: String, _ former: String, _ entity: String, _ property: String, isLink: Bool = false
  ) -> String {
    guard isForRecipe else { return advice + ", or use a mapping of your own." }
    let part =
      isLink
      ? "\"relationships\": { \"\(property)\": null or a key path of \(former) }"
      : "\"attributes\": { \"\(property)\": an expression over \(former) }"
    return advice
      + ", or write in the recipe: { \"source\": \"\(former)\", \"destination\": \"\(entity)\", \(part) }."
  }

  func refuseConflicts(_ conflicts: [String: [String]], entity: String) throws {
    guard let (name, claims) = conflicts.min(by: { $0.key < $1.key }) else { return }
    throw refusal(
      "several properties claim to be the former “\(name)”: \(claims.joined(separator: ", "))",
      entity: entity, property: claims.last, hint: "Let one of them keep the renaming identifier.")
  }

  func refusal(
    _ message: String, entity: String, property: String? = nil, hint: String
  ) -> CoreDataError {
    CoreDataError(
      .refused, code: .inferredMappingModel, "no mapping can be inferred: \(message)",
      entity: entity, property: property, hint: hint, reason: message)
  }
}

import ManagedModel

/// What cannot be inferred, and what to do about it.
extension Inference {
  /// Objects of one hierarchy share a table and its keys, so two tables cannot become one, unless a
  /// recipe says of each entity what becomes of it.
  func refuseMergedHierarchies() throws(CoreDataError) {
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
          : "Keep the hierarchies apart, or merge them with a recipe or a mapping model.",
        coreData:
          "Cannot merge multiple root entity source tables into one destination entity root table")
    }
  }

  /// What to do, or what to write: an attribute takes an expression, a relationship a key path.
  func hint(
    _ advice: String, _ former: String, _ entity: String, _ property: String, isLink: Bool = false
  ) -> String {
    guard isForRecipe else { return advice + ", or write a recipe or a mapping model." }
    let part =
      isLink
      ? "\"relationships\": { \"\(property)\": null or a key path of \(former) }"
      : "\"attributes\": { \"\(property)\": an expression over \(former) }"
    return advice
      + ", or write in the recipe: { \"source\": \"\(former)\", \"destination\": \"\(entity)\", \(part) }."
  }

  /// - Parameter side: the model that they are in: source or destination.
  func refuseSharedEntities(_ shared: [String: [String]], in side: String) throws(CoreDataError) {
    guard let (identifier, names) = shared.min(by: { $0.key < $1.key }) else { return }
    throw refusal(
      "the \(side) entities \(names.joined(separator: " and ")) have the same renaming identifier, “\(identifier)”",
      entity: names.last ?? identifier,
      hint: "Let one of them keep the renaming identifier, or map them in a recipe.",
      coreData: "Each \(side) entity must have a unique renaming identifier")
  }

  /// Core Data looks at the stored properties of the source entity, also where nothing of it changes.
  func refuseSharedProperties(of entity: String, from former: String) throws(CoreDataError) {
    let attributes = source.attributes(of: former).filter { !$0.isTransient }
    let relationships = source.relationships(of: former).filter { !$0.isTransient }
    let own = attributes.contains { $0.renamingIdentifier != nil }
    guard own || relationships.contains(where: { $0.renamingIdentifier != nil }) else { return }
    var holders: [String: [String]] = [:]
    for property in attributes {
      holders[property.canonicalName, default: []].append(property.name)
    }
    for property in relationships {
      holders[property.canonicalName, default: []].append(property.name)
    }
    let shared = holders.filter { $0.value.count > 1 }.min { $0.key < $1.key }
    if let shared { throw sharing(shared.key, shared.value, of: entity) }
  }

  /// Says which properties of the source share an identifier.
  func sharing(_ identifier: String, _ names: [String], of entity: String) -> CoreDataError {
    refusal(
      "the source properties \(names.joined(separator: " and ")) have the same renaming identifier, “\(identifier)”",
      entity: entity, property: names.first { $0 != identifier } ?? names.last,
      hint:
        "Remove the renaming identifier from one of them in the source version, which does not change its version hash, or write a recipe.",
      coreData: "Each property must have a unique renaming identifier")
  }

  /// - Parameter sentence: Core Data's own reason.
  func refusal(
    _ message: String, entity: String, property: String? = nil, hint: String,
    coreData sentence: String
  ) -> CoreDataError {
    let reason = "\(message) (“\(sentence)”)"
    return CoreDataError(
      .refused, code: .inferredMappingModel, "no mapping can be inferred: \(reason)",
      entity: entity, property: property, hint: hint, reason: reason)
  }
}

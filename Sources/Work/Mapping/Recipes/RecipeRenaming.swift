import ManagedModel

/// Puts the renaming identifiers that a recipe adds into a model; no hash knows them.
struct RecipeRenaming {
  let text: RecipeSource
  let source: Model
  let destination: Model

  func applying(_ renames: [(from: RecipeWord, to: RecipeWord)]) throws -> Model {
    guard !renames.isEmpty else { return destination }
    var entities = Dictionary(first: destination.entities.map { ($0.name, $0) })
    // What is around an element is renamed before it.
    let depth = { (rename: (from: RecipeWord, to: RecipeWord)) in rename.to.text.count { $0 == "." }
    }
    for (from, to) in renames.sorted(by: { depth($0) < depth($1) }) {
      let old = try place(from, in: source, "source")
      let new = try place(to, in: destination, "destination")
      switch (old.property, new.property) {
      case (nil, nil):
        entities[new.entity]?.renamingIdentifier = source.entity(named: old.entity)?.canonicalName
      case (let formerly?, let property?):
        try rename(formerly, of: old.entity, to: property, of: new.entity, &entities, at: to)
      default:
        throw text.wrong(
          "an entity is renamed to an entity, a property to a property", to.range,
          hint: "Write \"Entity\": \"Entity\" or \"Entity.property\": \"Entity.property\".")
      }
    }
    return try Model(
      entities: Array(entities.values), versionIdentifiers: destination.versionIdentifiers,
      configurations: destination.configurations, fetchRequests: destination.fetchRequests,
      warnings: destination.warnings)
  }

  private func rename(
    _ formerly: String, of former: String, to property: String, of entity: String,
    _ entities: inout [String: Entity], at word: RecipeWord
  ) throws {
    // An inherited property is declared further up.
    guard
      let holder = destination.declaringEntity(
        of: String(property.prefix { $0 != "." }), in: entity)
    else { return }
    if property.contains(".") || formerly.contains(".") {
      try renameElement(formerly, of: former, to: property, of: holder, &entities, at: word)
    } else if let attribute = source.attribute(named: formerly, of: former),
      let index = entities[holder]?.attributes.firstIndex(where: { $0.name == property })
    {
      entities[holder]?.attributes[index].renamingIdentifier = attribute.canonicalName
    } else if let relationship = source.relationship(named: formerly, of: former),
      let index = entities[holder]?.relationships.firstIndex(where: { $0.name == property })
    {
      entities[holder]?.relationships[index].renamingIdentifier = relationship.canonicalName
    } else {
      throw text.wrong("an attribute cannot be renamed to a relationship, nor back", word.range)
    }
  }

  /// An element is renamed within its composite, which is the former one or renamed along with it.
  private func renameElement(
    _ formerly: String, of former: String, to property: String, of holder: String,
    _ entities: inout [String: Entity], at word: RecipeWord
  ) throws {
    let old = formerly.split(separator: ".").map(String.init)
    let new = property.split(separator: ".").map(String.init)
    let index = entities[holder]?.attributes.firstIndex { $0.name == new.first }
    guard let index, var whole = entities[holder]?.attributes[index], let first = old.first,
      var before = source.attribute(named: first, of: former), old.count == new.count
    else {
      throw text.wrong(
        "an identifier renames an element within its composite only", word.range,
        hint:
          "Give \(property) a value instead: \"attributes\": { \"\(property)\": \"\(formerly)\" }.")
    }
    func isSame(_ now: Attribute, _ before: Attribute) -> Bool {
      [before.canonicalName, before.name].contains(now.canonicalName)
    }
    var path: [WritableKeyPath<Attribute, Attribute>] = []
    var now = whole
    for (name, formerName) in zip(new, old).dropFirst() {
      guard isSame(now, before) else {
        throw text.wrong(
          "“\(now.name)” is not the former “\(before.name)”", word.range,
          hint: "Rename the composite attribute too, or give \(property) a value.")
      }
      guard let place = now.elements.firstIndex(where: { $0.name == name }),
        let element = before.element(named: formerName)
      else { return }
      path.append(\Attribute.elements[place])
      (now, before) = (now.elements[place], element)
    }
    guard let last = path.dropFirst().reduce(path.first, { $0?.appending(path: $1) }) else {
      return
    }
    whole[keyPath: last].renamingIdentifier = before.canonicalName
    entities[holder]?.attributes[index] = whole
  }

  private func place(
    _ word: RecipeWord, in model: Model, _ side: String
  ) throws -> (entity: String, property: String?) {
    let parts = word.text.split(separator: ".", maxSplits: 1).map(String.init)
    let first = RecipeWord(text: parts.first ?? "", range: word.range)
    let entity = try text.entity(first, in: model, side).name
    guard parts.count == 2 else { return (entity, nil) }
    guard
      model.attribute(at: parts[1], of: entity) != nil
        || model.relationship(named: parts[1], of: entity) != nil
    else {
      throw text.wrong(
        model.unknownName(
          .property, parts[1], of: entity, calling: "the \(side) entity \(entity)",
          spelled: { "\(entity).\($0)" }), word.range)
    }
    return (entity, parts[1])
  }
}

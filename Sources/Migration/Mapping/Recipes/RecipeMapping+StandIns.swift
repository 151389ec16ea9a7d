import ManagedModel

extension RecipeMapping {
  func standIn(in mapping: inout MappingModel) throws {
    var changed = mapping
    var written: [RecipeDocument.Mapping] = []
    var made: [String] = []
    for index in mapping.entityMappings.indices {
      var entityMapping = mapping.entityMappings[index]
      guard let policy = entityMapping.policy,
        let standIn = document.policies.first(where: { $0.name.text == policy })
      else { continue }
      entityMapping.policy = nil
      let inference = Inference(
        source: source, destination: destination,
        given: mapping.entityMappings.map { .init(source: $0.source, destination: $0.destination) })
      written.append(standIn.mapping)
      try apply(standIn.mapping, to: &entityMapping, inference)
      changed.entityMappings[index] = entityMapping
      if let entity = mapping.entityMappings[index].destination, entityMapping.destination == nil,
        !changed.entityMappings.contains(where: { $0.destination == entity }),
        let kept = destination.entity(named: entity)
      {
        // The entity goes on, without these objects.
        changed.entityMappings.append(inference.added(kept))
      }
      for var also in standIn.mapping.also {
        also.source =
          also.source ?? entityMapping.source.map { RecipeWord(text: $0, range: also.range) }
        written.append(also)
        let extra = try self.entityMapping(also, pair(also), inference)
        changed.entityMappings.append(extra)
        if let entity = extra.destination { made.append(entity) }
      }
    }
    for entity in made { replaceAddition(of: entity, in: &changed) }
    try check(written, in: changed)
    mapping = changed
  }

  /// Takes out the mapping by which an entity began without objects, now that it has some; links
  /// that were to follow it follow whichever mapping made them.
  private func replaceAddition(of entity: String, in mapping: inout MappingModel) {
    let added = mapping.entityMappings.filter { $0.source == nil && $0.destination == entity }
    guard !added.isEmpty else { return }
    mapping.entityMappings.removeAll { $0.source == nil && $0.destination == entity }
    for index in mapping.entityMappings.indices {
      for link in mapping.entityMappings[index].relationships.indices
      where added.contains(where: {
        $0.name == mapping.entityMappings[index].relationships[link].through
      }) {
        mapping.entityMappings[index].relationships[link].through = nil
      }
    }
  }

  /// What a class would have done to the mapping that names it.
  private func apply(
    _ standIn: RecipeDocument.Mapping, to mapping: inout EntityMapping, _ inference: Inference
  ) throws {
    guard let from = mapping.source else {
      throw text.wrong(
        "the stand-in is for “\(mapping.name)”, which has no source objects", standIn.range)
    }
    if standIn.isDeletion == true {
      try refuseMore(than: standIn)
      let name = mapping.name
      mapping = EntityMapping(name: name, kind: .remove, source: from, destination: nil)
      mapping.isDeletionIntended = true
      return
    }
    guard let to = mapping.destination else { return }
    let values = RecipeValues(text: text, source: source, destination: destination, entity: from)
    if let condition = standIn.condition {
      mapping.condition = try values.expression(condition)
      mapping.isDeletionIntended = true
    }
    if let distinct = standIn.distinct { mapping.distinct = try values.expression(distinct) }
    for made in try values.attributes(standIn.attributes, of: to) {
      mapping.attributes.removeAll { $0.name == made.name }
      mapping.attributes.append(made)
    }
    for relationship in standIn.relationships {
      let made = try values.relationship(relationship, of: to)
      mapping.relationships.removeAll { $0.name == made.name }
      mapping.relationships.append(made)
    }
    mapping.children += try standIn.children.map { try values.child($0, of: to) }
    mapping.userInfo.merge(standIn.userInfo) { _, new in new }
  }
}

import ManagedModel

/// A recipe and the two models it is for, while a mapping model is made of them.
struct RecipeMapping {
  let text: RecipeSource
  let document: RecipeDocument
  let source: Model
  /// With the renaming identifiers that the recipe adds.
  let destination: Model
  /// Entities with properties that have one of those.
  private let renamed: Set<String>

  /// - Throws: ``CoreDataError`` of kind usage for a renaming of what is not there.
  init(_ recipe: Recipe, from source: Model, to destination: Model) throws {
    text = recipe.source
    document = recipe.document
    self.source = source
    let changed = try RecipeRenaming(text: recipe.source, source: source, destination: destination)
      .applying(recipe.document.renames)
    self.destination = changed
    renamed = Set(
      destination.entities.filter { entity in
        guard let now = changed.entity(named: entity.name) else { return false }
        return now.attributes != entity.attributes || now.relationships != entity.relationships
      }.flatMap { changed.subtree(of: $0.name) })
  }

  func mapping() throws -> MappingModel {
    let pairs = try document.mappings.map { try pair($0) }
    let inference = Inference(
      source: source, destination: destination, given: pairs,
      words: .init(renamed: renamed, followers: followers(pairs)))
    var mappings = try zip(document.mappings, pairs).map { mapping, pair in
      try entityMapping(mapping, pair, inference)
    }
    try refuseContradictions(pairs)
    let inferred: MappingModel
    do {
      inferred = try inference.mapping()
    } catch {
      throw error.at(path: text.path)
    }
    mappings += inferred.entityMappings
    let result = MappingModel(
      kind: .recipe,
      entityMappings: mappings.filter { $0.kind != .remove }
        + mappings.filter { $0.kind == .remove }, userInfo: document.userInfo)
    try check(document.mappings, in: result)
    return result
  }

  /// Sides of one-to-ones whose other side alone is given links, by entity: what is written goes
  /// before what is inferred.
  private func followers(_ pairs: [Inference.Given]) -> [String: Set<String>] {
    var written: Set<[String]> = []
    for (mapping, pair) in zip(document.mappings, pairs) {
      guard let to = pair.destination else { continue }
      for name in mapping.relationships.map(\.name.text) {
        if let declarer = destination.declaringEntity(of: name, in: to) {
          written.insert([declarer, name])
        }
      }
    }
    guard !written.isEmpty else { return [:] }
    var result: [String: Set<String>] = [:]
    for pair in destination.oneToOnes {
      for (side, other) in [(pair.first, pair.second), (pair.second, pair.first)]
      where written.contains([side.entity, side.name])
        && !written.contains([other.entity, other.name])
      {
        for entity in destination.subtree(of: other.entity) {
          result[entity, default: []].insert(other.name)
        }
      }
    }
    return result
  }

  /// The entities that a mapping is about, known to be there and to have objects.
  func pair(_ mapping: RecipeDocument.Mapping) throws -> Inference.Given {
    let from = try mapping.source.map { try entity($0, in: source, "source") }
    let to = try mapping.destination.map { try entity($0, in: destination, "destination") }
    if mapping.isDeletion == true {
      guard from != nil, to == nil else {
        throw text.wrong(
          "a deletion names the source entity alone",
          mapping.range.lowerBound..<mapping.range.lowerBound + 1,
          hint: "Write { \"source\": \"\(from ?? to ?? "Entity")\", \"delete\": true }.")
      }
      try refuseMore(than: mapping)
    } else if to == nil, from == nil || mapping.isDeletion == nil {
      throw text.wrong(
        "the mapping does not say what its objects become",
        mapping.range.lowerBound..<mapping.range.lowerBound + 1,
        hint: "Add \"destination\": with an entity, or \"delete\": true.")
    }
    return Inference.Given(source: from, destination: to)
  }

  /// A deletion takes all objects: to delete some, say which ones stay.
  func refuseMore(than mapping: RecipeDocument.Mapping) throws {
    guard case .expression(_, let word) = mapping.condition else { return }
    throw text.wrong(
      "a deletion takes all objects of its entity", word.range,
      hint: "To delete some, map the entity and give the condition of those that stay: \"where\".")
  }

  private func entity(_ word: RecipeWord, in model: Model, _ side: String) throws -> String {
    let entity = try text.entity(word, in: model, side)
    guard !entity.isAbstract else {
      throw text.wrong(
        "“\(word.text)” is abstract: no object is of exactly this entity", word.range,
        hint: "Map the entities below it.")
    }
    return entity.name
  }

  func entityMapping(
    _ mapping: RecipeDocument.Mapping, _ pair: Inference.Given, _ inference: Inference
  ) throws -> EntityMapping {
    guard let to = pair.destination else {
      let from = pair.source ?? ""
      var result = EntityMapping(
        name: mapping.name?.text ?? "IEM_Remove_\(from)", kind: .remove, source: from,
        destination: nil)
      result.isDeletionIntended = mapping.isDeletion == true
      result.userInfo = mapping.userInfo
      result.policy = mapping.policy
      return result
    }
    guard let from = pair.source, let entity = destination.entity(named: to) else {
      return try added(mapping, to, inference)
    }
    let values = RecipeValues(text: text, source: source, destination: destination, entity: from)
    let attributes = try values.attributes(mapping.attributes, of: to)
    let relationships = try mapping.relationships.map { try values.relationship($0, of: to) }
    let isCopy = inference.isCopy(to, from: from)
    let kind = Self.kind(
      isCopy: isCopy,
      isChanged: !attributes.isEmpty || !relationships.isEmpty || mapping.condition != nil,
      isCustom: mapping.distinct != nil || !mapping.children.isEmpty)
    var result = EntityMapping(
      name: mapping.name?.text ?? "\(from)To\(to)", kind: mapping.kind ?? kind, source: from,
      destination: to)
    do {
      let named = Set(attributes.map(\.name))
      let others = try inference.attributes(of: to, from: from, byName: isCopy, skipping: named)
      result.attributes = destination.storedAttributes(of: entity.name).compactMap { attribute in
        (attributes + others).first { $0.name == attribute.name }
      }
      let linked = Set(relationships.map(\.name))
      let created = Set(mapping.children.map(\.relationship.text)).subtracting(linked)
      var links = relationships
      links += try inference.relationships(
        of: to, from: from, byName: isCopy, skipping: linked.union(created))
      links += created.map { Self.link($0, of: to, from: from, inference) }
      result.relationships = destination.relationships(of: entity.name).compactMap { relationship in
        links.first { $0.name == relationship.name }
      }
    } catch {
      throw text.located(error, at: mapping.range.lowerBound..<mapping.range.lowerBound + 1)
    }
    result.condition = try mapping.condition.flatMap { try values.expression($0) }
    result.isDeletionIntended = result.condition != nil && mapping.isDeletion != false
    result.distinct = try mapping.distinct.flatMap { try values.expression($0) }
    result.children = try mapping.children.map { try values.child($0, of: to) }
    result.policy = mapping.policy
    result.userInfo = mapping.userInfo
    return result
  }

  /// A relationship that a tree hangs on: it may keep the links it had, and needs none.
  static func link(
    _ name: String, of to: String, from: String, _ inference: Inference
  ) -> RelationshipMapping {
    let others = Set(inference.destination.relationships(of: to).map(\.name)).subtracting([name])
    let inferred = try? inference.relationships(
      of: to, from: from, byName: inference.isCopy(to, from: from), skipping: others)
    return inferred?.first ?? RelationshipMapping(name: name, source: nil)
  }

  /// What a mapping is called where the recipe does not say: objects that come otherwise than one of
  /// one are a policy's work.
  static func kind(isCopy: Bool, isChanged: Bool, isCustom: Bool) -> EntityMapping.Kind {
    isCustom ? .custom : isCopy && !isChanged ? .copy : .transform
  }

  /// A mapping without source objects has nothing to compute with.
  private func added(
    _ mapping: RecipeDocument.Mapping, _ to: String, _ inference: Inference
  ) throws -> EntityMapping {
    let isBare =
      mapping.attributes.isEmpty && mapping.relationships.isEmpty && mapping.children.isEmpty
      && mapping.condition == nil && mapping.distinct == nil
    guard isBare, let entity = destination.entity(named: to) else {
      throw text.wrong(
        "without a \"source\" the entity has no objects, and nothing can be computed",
        mapping.range.lowerBound..<mapping.range.lowerBound + 1,
        hint: "Add \"source\": with the entity whose objects these are made of.")
    }
    var result = inference.added(entity)
    result.name = mapping.name?.text ?? result.name
    result.kind = mapping.kind ?? result.kind
    result.policy = mapping.policy
    result.userInfo = mapping.userInfo
    return result
  }

  /// "self" references what another mapping makes of the same object: there must be one.
  private func checkSelf(_ written: RecipeDocument.Mapping, in result: MappingModel) throws {
    guard let from = written.source?.text, let to = written.destination?.text else { return }
    for relationship in written.relationships {
      guard let word = relationship.from, word.text == RelationshipMapping.ofSourceObject,
        let target = destination.relationship(named: relationship.name.text, of: to)?.destination
      else { continue }
      let isMade = result.entityMappings.contains { mapping in
        mapping.source == from && mapping.makes(target, in: destination)
      }
      guard !isMade else { continue }
      throw text.wrong(
        "no mapping makes a \(target) of \(from): “self” refers to nothing", word.range,
        hint:
          "Add { \"source\": \"\(from)\", \"destination\": \"\(target)\" }, or give a key path of \(from)."
      )
    }
  }

  private func refuseContradictions(_ pairs: [Inference.Given]) throws {
    let kept = Set(pairs.filter { $0.destination != nil }.compactMap(\.source))
    for (mapping, pair) in zip(document.mappings, pairs) {
      if pair.destination == nil, let source = pair.source, kept.contains(source) {
        throw text.wrong(
          "“\(source)” is deleted here and mapped elsewhere",
          mapping.source?.range ?? mapping.range, hint: "Leave one of them out.")
      }
    }
  }

  /// Names of mappings are distinguished, and name mappings that are there.
  func check(_ written: [RecipeDocument.Mapping], in result: MappingModel) throws {
    var names: Set<String> = []
    for mapping in result.entityMappings where !names.insert(mapping.name).inserted {
      let place = written.last {
        $0.name?.text == mapping.name
          || ($0.source?.text == mapping.source && $0.destination?.text == mapping.destination)
      }
      throw text.wrong(
        "two mappings are called “\(mapping.name)”", place?.name?.range ?? place?.range ?? 0..<1,
        hint: "Give one of them a \"name\": of its own.")
    }
    for mapping in written { try checkSelf(mapping, in: result) }
    for relationship in written.flatMap(\.relationships) {
      guard let through = relationship.through, !names.contains(through.text) else { continue }
      throw text.wrong(
        "there is no mapping “\(through.text)”", through.range,
        hint: Nearest.hint(through.text, in: names.sorted()))
    }
  }
}

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
      try apply(standIn.mapping, to: &entityMapping)
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
    _ standIn: RecipeDocument.Mapping, to mapping: inout EntityMapping
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

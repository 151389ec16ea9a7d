extension Model {
  /// Reads a compiled model: the bytes of a .mom, or of a store's model cache once inflated. The archive of Xcode 3's
  /// model editor, which is the `elements` of an .xcdatamodel, is read as well.
  ///
  /// What is met and not understood becomes one of ``warnings``. Properties come sorted by name,
  /// as an archive keeps them in no order of meaning.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable.
  public init(archive bytes: [UInt8]) throws(CoreDataError) {
    try self.init(keyedArchive: KeyedArchive(bytes))
  }

  /// Reads the model that an archive holds, such as one within another document.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where it holds something else.
  package init(keyedArchive: KeyedArchive) throws(CoreDataError) {
    if let root = keyedArchive.root.value.object, root.has(EditorModel.package),
      !root.has(CompiledModelReader.entities)
    {
      self = try EditorModel(keyedArchive).model
      return
    }
    var reader = CompiledModelReader(archive: keyedArchive)
    self = try reader.model()
  }
}

/// Turns the objects of an archived NSManagedObjectModel into a model.
struct CompiledModelReader {
  /// The key by which the root of such an archive names its entities.
  static let entities = "NSEntities"

  private let archive: KeyedArchive
  var properties: CompiledPropertyReader

  init(archive: KeyedArchive) {
    self.archive = archive
    properties = CompiledPropertyReader(
      budget: 1_000_000 + min(archive.objects.count, 1 << 40) * 64)
  }

  mutating func model() throws(CoreDataError) -> Model {
    guard let root = archive.root.value.object, root.has(Self.entities) else {
      throw CoreDataError(
        .unreadable, "a keyed archive, but not of a managed object model",
        hint: "a mapping model (.cdm) is an archive too; give the model instead")
    }
    let descriptions = root[Self.entities].entries
    try properties.charge(descriptions.count * 32)
    var entities: [String: Entity] = [:]
    var contents: [String: [CompiledProperty]] = [:]
    for (key, reference) in descriptions {
      guard let object = reference.value.object else {
        throw CoreDataError(
          .unreadable, "the archive contains no entity under its name", entity: key)
      }
      let entity = try entity(object, name: object["NSEntityName"].string ?? key)
      guard entities.updateValue(entity, forKey: entity.name) == nil else {
        throw CoreDataError(.unreadable, "two entities share a name", entity: entity.name)
      }
      contents[entity.name] = try properties.read(object["NSProperties"], of: entity.name)
    }
    declare(contents, in: &entities)
    return try Model(
      entities: Array(entities.values),
      versionIdentifiers: root["NSVersionIdentifiers"].elements.compactMap(\.string)
        .filter { !$0.isEmpty }.sorted(),
      configurations: configurations(root["NSConfigurations"]),
      fetchRequests: try fetchRequests(root["NSFetchRequestTemplates"]),
      warnings: properties.warnings)
  }

  private mutating func entity(
    _ object: ArchivedObject, name: String
  ) throws(CoreDataError) -> Entity {
    var entity = Entity(name, parent: object["NSSuperentity"].object?["NSEntityName"].string)
    entity.isAbstract = object["NSIsAbstract"].boolean ?? false
    entity.className = object["NSClassNameForEntity"].string
    entity.renamingIdentifier = CompiledPropertyReader.renaming(object, name: name)
    entity.versionHashModifier = object["NSVersionHashModifier"].nonEmptyString
    entity.userInfo = try properties.userInfo(object)
    entity.uniquenessConstraints = try names(object["NSUniqueTuples"])
    entity.compoundIndexes = try names(object["NSCompoundIndexes"])
    entity.fetchIndexes = try fetchIndexes(object["NSFetchIndexDescriptions"], of: name)
    return entity
  }

  /// Leaves to each entity what it declares itself.
  ///
  /// The archive lists inherited properties again in each subentity: as the same object, as a proxy,
  /// or as a copy. A property that differs from the inherited one of its name is an override.
  private func declare(
    _ contents: [String: [CompiledProperty]], in entities: inout [String: Entity]
  ) {
    let byName = contents.mapValues { list in
      Dictionary(list.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    for (name, list) in contents {
      var ancestors: [String] = []
      var current = entities[name]?.parent
      while let parent = current, ancestors.count < Model.maximumDepth {
        ancestors.append(parent)
        current = entities[parent]?.parent
      }
      for property in list {
        let inherited = ancestors.lazy.compactMap { byName[$0]?[property.name] }.first
        if let inherited, property.isProxy || property.content == inherited.content { continue }
        switch property.content {
        case .attribute(let value): entities[name]?.attributes.append(value)
        case .relationship(let value): entities[name]?.relationships.append(value)
        case .fetched(let value): entities[name]?.fetchedProperties.append(value)
        }
      }
    }
  }

  private mutating func names(_ value: ArchivedValue) throws(CoreDataError) -> [[String]] {
    try properties.charge(value.references.count)
    return try value.elements.map { tuple throws(CoreDataError) in
      try properties.charge(tuple.references.count)
      return tuple.elements.compactMap { $0.string ?? $0.object?["NSPropertyName"].string }
    }
  }

  private mutating func fetchIndexes(
    _ value: ArchivedValue, of entity: String
  ) throws(CoreDataError) -> [FetchIndex] {
    try properties.charge(value.references.count)
    return try value.elements.compactMap(\.object).map { object throws(CoreDataError) in
      let name = object["NSIndexName"].string ?? ""
      let elements = object["NSIndexElements"]
      try properties.charge(elements.references.count)
      var index = FetchIndex(
        name,
        elements: try elements.elements.compactMap(\.object).map { element throws(CoreDataError) in
          var expression: String?
          if let described = element["NSIndexedProperty"].object, described.has("NSExpression") {
            expression = try properties.expression(
              described["NSExpression"], "the index “\(name)”", entity: entity)
          }
          return FetchIndex.Element(
            property: expression == nil ? element["NSPropertyName"].string : nil,
            expression: expression,
            kind: element["NSFetchIndexElementType"].integer == 1 ? .rtree : .binary,
            isAscending: element["NSAscending"].boolean ?? true)
        })
      index.partialPredicate = try properties.predicate(
        object["NSPartialIndexPredicate"], "the index “\(name)”", entity: entity)
      return index
    }
  }

  private mutating func configurations(
    _ value: ArchivedValue
  ) throws(CoreDataError) -> [String: [String]] {
    var result: [String: [String]] = [:]
    for (name, reference) in value.entries {
      let members = reference.value
      try properties.charge(1 + members.references.count)
      result[name] = members.elements
        .compactMap { $0.string ?? $0.object?["NSEntityName"].string }.sorted()
    }
    return result
  }

  private mutating func fetchRequests(
    _ value: ArchivedValue
  ) throws(CoreDataError) -> [FetchRequestTemplate] {
    var result: [FetchRequestTemplate] = []
    for (name, reference) in value.entries {
      try properties.charge(8)
      let request = reference.value.object
      result.append(
        FetchRequestTemplate(
          name,
          entity: request?["NSEntity"].object?["NSEntityName"].string
            ?? request?["NSEntityName"].string,
          predicate: try properties.predicate(
            request?["NSPredicate"] ?? .null, "the fetch request “\(name)”", entity: nil)))
    }
    return result.sorted { $0.name < $1.name }
  }
}

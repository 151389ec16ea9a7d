extension Model {
  /// The models that an app merges into one, as `mergedModel(from:)` does: the entities of all of them.
  ///
  /// An entity that several have is taken once where it is the same in all of them, which its version hash says.
  ///
  /// - Throws: ``CoreDataError`` of kind refused that names the entity of which two models have different ones;
  ///   of kind unreadable where the entities of all make no model.
  public init(merging models: [Model]) throws(CoreDataError) {
    var entities: [Entity] = []
    var hashes: [String: VersionHash] = [:]
    for model in models {
      let own = model.versionHashes
      for entity in model.entities {
        guard let known = hashes[entity.name] else {
          hashes[entity.name] = own[entity.name]
          entities.append(entity)
          continue
        }
        guard known == own[entity.name] else {
          throw CoreDataError(
            .refused, "can’t merge models with two different entities of one name",
            entity: entity.name,
            hint: "Name versions of the models that the app merges: PATH@VERSION.")
        }
      }
    }
    var configurations: [String: [String]] = [:]
    for (name, members) in models.flatMap(\.configurations) {
      let known = configurations[name] ?? []
      configurations[name] = known + members.filter { !known.contains($0) }
    }
    var requests: [FetchRequestTemplate] = []
    for request in models.flatMap(\.fetchRequests)
    where !requests.contains(where: { $0.name == request.name }) {
      requests.append(request)
    }
    var identifiers: [String] = []
    for identifier in models.flatMap(\.versionIdentifiers) where !identifiers.contains(identifier) {
      identifiers.append(identifier)
    }
    try self.init(
      entities: entities, versionIdentifiers: identifiers, configurations: configurations,
      fetchRequests: requests, warnings: models.flatMap(\.warnings))
  }
}

import ManagedModel
import ManagedStore

/// The part of an app's models that one store keeps: the entities of its configuration.
///
/// Every way of planning goes through here, since a store that was added for one configuration has
/// tables and hashes of that configuration's entities only, whatever the models have besides.
struct StorePart: Sendable {
  /// `nil` where the store is of whole models.
  let configuration: String?

  /// A version of the model, cut down to the configuration where it has one of that name.
  func model(_ whole: Model) -> Model {
    configuration.flatMap { whole.restricted(to: $0) } ?? whole
  }

  /// The versions of the model, each cut down.
  func versions(_ whole: ModelVersions) -> ModelVersions {
    guard configuration != nil else { return whole }
    return ModelVersions(
      whole.versions.map {
        ModelVersions.Version(
          name: $0.name, model: model($0.model), path: $0.path, archive: $0.archive)
      }, unreadable: whole.unreadable, path: whole.path)
  }

  /// What a mapping between whole models does to the part of a store.
  ///
  /// Objects that would become objects of an entity outside go, and are reported as a loss; what comes
  /// of objects outside stays away.
  func mapping(_ whole: MappingModel, from source: Model, to destination: Model) -> MappingModel {
    guard configuration != nil, whole.kind != .none else { return whole }
    let (before, after) = (self.model(source), self.model(destination))
    var part = whole
    part.entityMappings = whole.entityMappings.compactMap { entityMapping in
      var own = entityMapping
      if let from = own.source, before.entity(named: from) == nil {
        guard let to = own.destination, after.entity(named: to) != nil else { return nil }
        return EntityMapping(name: own.name, kind: .add, source: nil, destination: to)
      }
      guard let to = own.destination, after.entity(named: to) == nil else { return own }
      guard own.source != nil else { return nil }
      own.kind = .remove
      own.destination = nil
      (own.attributes, own.relationships, own.children) = ([], [], [])
      return own
    }
    func making(_ mapping: MappingModel) -> Set<String> {
      Set(mapping.entityMappings.filter { $0.source != nil && $0.destination != nil }.map(\.name))
    }
    let gone = making(whole).subtracting(making(part))
    for index in part.entityMappings.indices {
      for place in part.entityMappings[index].relationships.indices {
        let through = part.entityMappings[index].relationships[place].through
        // No relationship leads from one store to another.
        guard let through, gone.contains(through) else { continue }
        let name = part.entityMappings[index].relationships[place].name
        part.entityMappings[index].relationships[place] = RelationshipMapping(
          name: name, source: nil)
      }
    }
    return MappingModel(
      kind: part.kind, entityMappings: part.entityMappings, userInfo: part.userInfo)
  }

  /// A step of the store; of kind none where nothing that the store keeps changes.
  func step(_ whole: MigrationStep) -> MigrationStep {
    guard configuration != nil else { return whole }
    var step = whole
    step.source = model(whole.source)
    step.destination = model(whole.destination)
    step.mapping =
      step.source.versionHashes == step.destination.versionHashes && whole.handlers == nil
      ? MappingModel(kind: .none, entityMappings: [])
      : mapping(whole.mapping, from: whole.source, to: whole.destination)
    return step
  }
}

extension Store {
  /// What of an app's models the store keeps.
  var part: StorePart { StorePart(configuration: configuration) }

  /// Whether a whole version of an app's model made the store.
  func isMade(by model: Model) -> Bool {
    let hashes = metadata.versionHashes
    return model.versionHashes == hashes || part.model(model).versionHashes == hashes
  }
}

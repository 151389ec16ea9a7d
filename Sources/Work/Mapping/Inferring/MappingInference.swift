import ManagedModel
import ModelWriting

/// Works out the mapping that Core Data would infer between two models.
public enum MappingInference {
  /// - Throws: ``CoreDataError`` of kind refused, code 134190, naming the entity and property whose
  ///   change cannot be inferred, and the way out.
  public static func mapping(
    from source: Model, to destination: Model
  )
    throws(CoreDataError) -> MappingModel
  {
    try mapping(
      from: source, to: destination, hashes: (source.versionHashes, destination.versionHashes))
  }

  /// The same for models whose hashes are known: a search through versions asks thousands of times.
  static func mapping(
    from source: Model, to destination: Model,
    hashes: (source: [String: VersionHash], destination: [String: VersionHash])
  ) throws(CoreDataError) -> MappingModel {
    try Inference(source: source, destination: destination, hashes: hashes).mapping()
  }
}

extension MappingInference {
  /// What can be inferred between two models when every change that cannot is set aside.
  package struct Remainder: Sendable {
    /// The mapping of all other changes; `nil` where not even that much can be inferred.
    package var mapping: MappingModel?
    /// The destination, in which what was set aside counts as new.
    package var destination: Model
    /// Each change that keeps a mapping from being inferred, in the order they are met.
    package var refusals: [CoreDataError]
  }

  /// Finds every change that cannot be inferred, where inference itself stops at the first.
  package static func remainder(from source: Model, to destination: Model) -> Remainder {
    var rest = Remainder(destination: destination, refusals: [])
    // What the source's renaming identifiers refuse no change of the destination sets aside.
    let strict = Inference(source: source, destination: destination)
    do { try strict.refuseSharedEntities(strict.entities.sharedSources, in: "source") } catch {
      rest.refusals.append(error)
    }
    for entity in destination.entities {
      guard let former = strict.entities.sources[entity.name] else { continue }
      do { try strict.refuseSharedProperties(of: entity.name, from: former) } catch {
        rest.refusals.append(error)
      }
    }
    rest.setAside(comingFrom: source) { destination in
      try Inference(source: source, destination: destination, allowsSharing: true).mapping()
    }
    return rest
  }

  /// The same with what is written down for the two versions.
  package static func remainder(
    from source: Model, to destination: Model, documents: MappingDocuments,
    names: (from: String, to: String)
  ) -> Remainder {
    var rest = Remainder(destination: destination, refusals: [])
    rest.setAside(comingFrom: source) { destination in
      try documents.mapping(from: source, to: destination, names: names)
        ?? Inference(source: source, destination: destination).mapping()
    }
    return rest
  }
}

extension MappingInference.Remainder {
  /// Sets one refused change after the other aside, until a mapping is made.
  fileprivate mutating func setAside(
    comingFrom source: Model, _ mapping: (Model) throws -> MappingModel
  ) {
    while refusals.count < 100 {
      do {
        self.mapping = try mapping(destination)
        return
      } catch {
        let error = CoreDataError(error, or: .failed)
        guard error.kind == .refused,
          !refusals.contains(where: {
            $0.entity == error.entity && $0.property == error.property
          })
        else { return }
        refusals.append(error)
        guard
          let next = destination.settingAside(error.property, of: error.entity, comingFrom: source)
        else { return }
        destination = next
      }
    }
  }
}

extension Attribute {
  /// Gives the element at a path below it a renaming identifier.
  fileprivate mutating func setAside(_ path: ArraySlice<String>, as identifier: String) {
    guard let name = path.first else {
      renamingIdentifier = identifier
      return
    }
    guard let place = elements.firstIndex(where: { $0.name == name }) else { return }
    elements[place].setAside(path.dropFirst(), as: identifier)
  }
}

extension Model {
  /// The model with a renaming identifier that nothing has, so that the property, or the entity
  /// itself, counts as new; no hash knows it.
  fileprivate func settingAside(
    _ property: String?, of entity: String?, comingFrom source: Model
  ) -> Model? {
    guard let entity else { return nil }
    let holder = property.flatMap { declaringEntity(of: $0, in: entity) } ?? entity
    var entities = self.entities
    guard let index = entities.firstIndex(where: { $0.name == holder }) else { return nil }
    let nothing = "\u{1}"
    if let property {
      let name = String(property.prefix { $0 != "." })
      if name != property,
        let place = entities[index].attributes.firstIndex(where: { $0.name == name })
      {
        let path = property.split(separator: ".").map(String.init)
        entities[index].attributes[place].setAside(path.dropFirst(), as: nothing)
      } else if let place = entities[index].attributes.firstIndex(where: { $0.name == property }) {
        entities[index].attributes[place].renamingIdentifier = nothing
      } else if let place = entities[index].relationships.firstIndex(where: {
        $0.name == property
      }) {
        entities[index].relationships[place].renamingIdentifier = nothing
      } else {
        return nil
      }
    } else if let twins = entityAlignment(from: source, isEqual: false).sharedDestinations.values
      .first(where: { $0.contains(entity) })
    {
      for name in twins.dropFirst() {
        guard let place = entities.firstIndex(where: { $0.name == name }) else { continue }
        entities[place].renamingIdentifier = nothing + name
      }
    } else {
      // Of hierarchies that become one, the one with the most properties goes on.
      let former = entityAlignment(from: source).sources
      let roots = Dictionary(grouping: subtree(of: entity).filter { former[$0] != nil }) {
        source.root(of: former[$0] ?? $0)
      }
      func size(_ root: String) -> Int {
        source.subtree(of: root).reduce(0) { $0 + source.attributes(of: $1).count }
      }
      guard roots.count > 1, let kept = roots.keys.max(by: { (size($0), $1) < (size($1), $0) })
      else { return nil }
      for name in roots.filter({ $0.key != kept }).values.joined() {
        guard let place = entities.firstIndex(where: { $0.name == name }) else { continue }
        entities[place].renamingIdentifier = nothing
      }
    }
    return try? Model(
      entities: entities, versionIdentifiers: versionIdentifiers, configurations: configurations,
      fetchRequests: fetchRequests, warnings: warnings)
  }
}

/// Which element of a composite attribute is which of a former one, down to what has a column.
///
/// Elements are identified by canonical names within their composite, as properties do within their entity.
package struct ElementAlignment {
  /// An element and the one it was; both are named by their whole path.
  ///
  /// One of them is a composite itself where a composite became a plain element, or the other way
  /// round; `former` is `nil` for an element that is new.
  package struct Pair: Equatable {
    package var element: Attribute
    package var former: Attribute?

    /// Whether neither is a composite.
    var isPlain: Bool { element.type != .composite && former?.type != .composite }
  }

  package private(set) var pairs: [Pair] = []
  /// Renaming identifiers that several former elements have, with the paths of these.
  private(set) var shared: [String: [String]] = [:]

  /// - Parameters:
  ///   - composite: the attribute as it is, or an element by its path.
  ///   - former: the composite attribute that it was.
  ///   - byName: whether elements are identified by their names alone.
  ///   - given: paths of elements that have a value already, and claim none.
  package init(
    _ composite: Attribute, from former: Attribute, byName: Bool = false, given: Set<String> = []
  ) { align(composite, former, byName: byName, given, depth: 0) }

  private mutating func align(
    _ composite: Attribute, _ former: Attribute, byName: Bool, _ given: Set<String>, depth: Int
  ) {
    guard depth <= AttributeStorage.maximumDepth else { return }
    let old = former.elements.filter(\.isStored)
    let new = composite.elements.filter(\.isStored)
    let names = NameAlignment(
      source: old.map { ($0.name, byName ? $0.name : $0.canonicalName) },
      destination: new.filter { !given.contains(AttributeStorage.path(composite.name, $0.name)) }
        .map { ($0.name, byName ? $0.name : $0.canonicalName) })
    for (identifier, sharers) in names.sharedSources {
      shared[AttributeStorage.path(former.name, identifier)] = sharers.map {
        AttributeStorage.path(former.name, $0)
      }
    }
    for element in new {
      let named = composite.pathed(element)
      guard let before = names.sources[element.name].flatMap(former.element(named:)) else {
        pairs += named.storage.columns.map { Pair(element: $0.attribute, former: nil) }
        continue
      }
      let formerNamed = former.pathed(before)
      if element.type == .composite, before.type == .composite {
        align(named, formerNamed, byName: byName, given, depth: depth + 1)
      } else {
        pairs.append(Pair(element: named, former: formerNamed))
      }
    }
  }
}

/// Renaming identifiers that nothing comes of.
///
/// An entity whose hash is the one of before is taken as it is: its properties have the same names,
/// or are in the place of composites that had others. Where two of them exchange their names, Core
/// Data uses the names, and so does strata.
package enum IgnoredIdentifiers {
  /// A sentence for each property that holds something else than its identifier says.
  package static func sentences(from source: Model, to destination: Model) -> [String] {
    let hashes = (source: source.versionHashes, destination: destination.versionHashes)
    return destination.entities.flatMap { entity -> [String] in
      guard let hash = hashes.source[entity.name], hash == hashes.destination[entity.name] else {
        return []
      }
      let places = destination.formerComposites(of: entity.name, in: source)
      let properties =
        entity.attributes.map { ($0.name, $0.canonicalName) }
        + entity.relationships.map { ($0.name, $0.canonicalName) }
      return properties.compactMap { name, asked in
        let taken = places[name] ?? name
        guard asked != name, asked != taken,
          source.attribute(named: asked, of: entity.name) != nil
            || source.relationship(named: asked, of: entity.name) != nil
        else { return nil }
        return
          "\(entity.name).\(name) has the renaming identifier “\(asked)”, but nothing in the entity’s version hash changed: Core Data copies the entity as it is, and “\(name)” gets the values of “\(taken)”. A recipe can rename it."
      }
    }
  }
}

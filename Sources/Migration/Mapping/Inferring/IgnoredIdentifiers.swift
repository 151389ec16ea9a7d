import ManagedModel

/// Renaming identifiers that nothing comes of.
///
/// An entity whose hash is the one of before is taken as it is: its properties have the same names,
/// or are in the place of composites that had others. Where two of them exchange their names, Core
/// Data uses the names, and so does strata.
enum IgnoredIdentifiers {
  /// A sentence for each property that holds something else than its identifier says.
  static func sentences(from source: Model, to destination: Model) -> [String] {
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

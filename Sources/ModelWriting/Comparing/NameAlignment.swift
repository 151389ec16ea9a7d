/// Which thing of an older version is which of a newer one, by renaming identifiers.
///
/// As in Core Data's inference a destination's counterpart is the source with the same canonical name:
/// the renaming identifier, or the name where none is set. Several destinations may have one
/// counterpart: each takes its values. An identifier that names nothing in the source makes the thing
/// new, even where a source has its name.
///
/// Where no source has the identifier, one of that *name* is taken, if no other destination has it:
/// Core Data would drop its values (``byFormerName``).
///
/// Core Data refuses sources that share an identifier (``sharedSources``). Where that is not asked, as
/// in a comparison or with a recipe, the one of the same name is meant, and one that nobody claims by
/// its name goes to whoever else has the identifier.
package struct NameAlignment: Sendable, Equatable {
  /// Destination name to source name.
  package private(set) var sources: [String: String] = [:]
  /// Source name to destination name: of several the one of the same name, or else the first.
  package private(set) var destinations: [String: String] = [:]
  /// Identifiers that more than one source has, with the names of these.
  package private(set) var sharedSources: [String: [String]] = [:]
  /// Identifiers that more than one destination has, with the names of these.
  package private(set) var sharedDestinations: [String: [String]] = [:]
  /// Destinations whose identifier is the name of a source that has another identifier.
  package private(set) var byFormerName: Set<String> = []

  /// A thing's name, and the one its renaming identifier gives it, or the same again.
  package typealias Named = (name: String, canonicalName: String)

  /// Aligns two versions' things by their canonical names.
  package init(source: [Named], destination: [Named]) {
    if Self.areOwn(source), Self.areOwn(destination) {
      let names = Set(source.map(\.name))
      for item in destination where names.contains(item.name) { sources[item.name] = item.name }
      destinations = sources
      return
    }
    let byCanonicalName = Dictionary(grouping: source, by: \.canonicalName).mapValues {
      $0.map(\.name)
    }
    sharedSources = byCanonicalName.filter { $0.value.count > 1 }
    sharedDestinations = Dictionary(grouping: destination, by: \.canonicalName)
      .filter { $0.value.count > 1 }.mapValues { $0.map(\.name) }
    let names = Set(source.map(\.name))
    let wanted = Set(destination.map(\.name))
    /// Sharers of an identifier whose own names nobody has any more.
    var left = sharedSources.mapValues { $0.filter { !wanted.contains($0) }.sorted() }
    for item in destination {
      let candidates = byCanonicalName[item.canonicalName] ?? []
      if candidates.count <= 1 {
        sources[item.name] = candidates.first
      } else if candidates.contains(item.name) {
        sources[item.name] = item.name
      } else if let first = left[item.canonicalName]?.first {
        left[item.canonicalName]?.removeFirst()
        sources[item.name] = first
      } else {
        sources[item.name] =
          candidates.contains(item.canonicalName) ? item.canonicalName : candidates.min()
      }
    }
    let claimed = Set(sources.values)
    for item in destination
    where sources[item.name] == nil && names.contains(item.canonicalName)
      && !claimed.contains(item.canonicalName)
    {
      sources[item.name] = item.canonicalName
      byFormerName.insert(item.name)
    }
    for item in destination {
      guard let source = sources[item.name] else { continue }
      if destinations[source] == nil || source == item.name { destinations[source] = item.name }
    }
  }

  /// Whether each has its own name, and no two the same: then nobody claims what is another's.
  private static func areOwn(_ items: [Named]) -> Bool {
    items.allSatisfy { $0.name == $0.canonicalName } && Set(items.map(\.name)).count == items.count
  }

  /// The same names are the same things, whatever identifiers say.
  package init(sameNames source: [String], _ destination: [String]) {
    self.init(source: source.map { ($0, $0) }, destination: destination.map { ($0, $0) })
  }
}

extension Model {
  /// Which entity of `source` is which of this model.
  ///
  /// - Parameter isEqual: whether the two have equal version hashes: the names are the same then, and
  ///   no identifier is asked, as Core Data opens a store without asking any.
  package func entityAlignment(from source: Model, isEqual: Bool? = nil) -> NameAlignment {
    if isEqual ?? (source.versionHashes == versionHashes) {
      return NameAlignment(sameNames: source.entities.map(\.name), entities.map(\.name))
    }
    return NameAlignment(
      source: source.entities.map { ($0.name, $0.canonicalName) },
      destination: entities.map { ($0.name, $0.canonicalName) })
  }
}

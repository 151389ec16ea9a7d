/// Which thing of an older version is which of a newer one, by canonical names.
///
/// A destination's counterpart is the source with the same canonical name, or failing that the one
/// whose name is the destination's canonical name. An identifier that names nothing in the source
/// makes the thing new, even where a source has its name.
package struct NameAlignment: Sendable, Equatable {
  /// Destination name to source name.
  package private(set) var sources: [String: String] = [:]
  /// Source name to destination name.
  package private(set) var destinations: [String: String] = [:]
  /// Sources that more than one destination claims, with all claimants; the first in the list has it.
  package private(set) var conflicts: [String: [String]] = [:]

  package typealias Named = (name: String, canonicalName: String)

  package init(source: [Named], destination: [Named]) {
    var byCanonicalName: [String: String] = [:]
    var names: Set<String> = []
    for item in source {
      byCanonicalName[item.canonicalName] = item.name
      names.insert(item.name)
    }
    var claims: [String: [String]] = [:]
    for item in destination {
      if let claimed = byCanonicalName[item.canonicalName]
        ?? (names.contains(item.canonicalName) ? item.canonicalName : nil)
      {
        claims[claimed, default: []].append(item.name)
      }
    }
    for (source, claimants) in claims {
      // The one that kept its name has the better claim.
      let ordered = claimants.filter { $0 == source } + claimants.filter { $0 != source }
      if ordered.count > 1 { conflicts[source] = ordered }
      if let first = ordered.first {
        sources[first] = source
        destinations[source] = first
      }
    }
  }
}

extension Model {
  /// Which entity of `source` is which of this model.
  package func entityAlignment(from source: Model) -> NameAlignment {
    NameAlignment(
      source: source.entities.map { ($0.name, $0.canonicalName) },
      destination: entities.map { ($0.name, $0.canonicalName) })
  }
}

/// Which thing of an older version is which of a newer one, by canonical names.
///
/// A destination's counterpart is the source with the same canonical name, or failing that the one
/// whose name is the destination's canonical name. An identifier that names nothing in the source
/// makes the thing new, even where a source has its name.
///
/// Sources may share an identifier, as copies made in Xcode do that kept the original's: of these
/// the one of the same name is meant, and one that nobody claims by its name goes to whoever else
/// has the identifier. So a version is always aligned with itself, name by name.
package struct NameAlignment: Sendable, Equatable {
  /// Destination name to source name.
  package private(set) var sources: [String: String] = [:]
  /// Source name to destination name.
  package private(set) var destinations: [String: String] = [:]
  /// Sources that more than one destination claims, with all claimants; the first in the list has it.
  package private(set) var conflicts: [String: [String]] = [:]

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
    let names = Set(source.map(\.name))
    let wanted = Set(destination.map(\.name))
    var claims: [String: [String]] = [:]
    /// Sharers of an identifier whose own names nobody has any more.
    var left: [String: [String]] = [:]
    for (identifier, sharers) in byCanonicalName where sharers.count > 1 {
      left[identifier] = sharers.filter { !wanted.contains($0) }.sorted()
    }
    for item in destination {
      let candidates = byCanonicalName[item.canonicalName] ?? []
      let claimed: String?
      if candidates.count > 1 {
        if candidates.contains(item.name) {
          claimed = item.name
        } else if let first = left[item.canonicalName]?.first {
          left[item.canonicalName]?.removeFirst()
          claimed = first
        } else {
          claimed = candidates.contains(item.canonicalName) ? item.canonicalName : candidates.min()
        }
      } else {
        claimed =
          candidates.first ?? (names.contains(item.canonicalName) ? item.canonicalName : nil)
      }
      if let claimed { claims[claimed, default: []].append(item.name) }
    }
    var losers: [String] = []
    for (source, claimants) in claims {
      // The one that kept its name has the better claim.
      let ordered = claimants.filter { $0 == source } + claimants.filter { $0 != source }
      if ordered.count > 1 {
        conflicts[source] = ordered
        losers += ordered.dropFirst()
      }
      if let first = ordered.first {
        sources[first] = source
        destinations[source] = first
      }
    }
    // Whoever claimed in vain is at least what is called so: an identifier that is only a leftover.
    for name in losers where names.contains(name) && destinations[name] == nil {
      sources[name] = name
      destinations[name] = name
    }
  }

  /// Whether each goes by its own name, and no two by the same: then nobody claims what is another's.
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

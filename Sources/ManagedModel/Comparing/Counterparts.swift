/// Which thing of a source model each thing of a destination model was.
///
/// Core Data's rule: a destination matches the source whose canonical name (its renaming identifier,
/// else its name) equals the destination's canonical name or, failing that, the source whose name
/// does. An identifier that names nothing in the source makes the thing new.
public struct Counterparts: Sendable, Equatable {
  /// Destination name to source name.
  public let sources: [String: String]
  /// Source name to destination name.
  public let destinations: [String: String]
  /// Sources that several destinations claim; only the first claim, by name, is honoured above.
  public let conflicts: [String: [String]]

  public typealias Names = (name: String, canonicalName: String)

  public init(source: [Names], destination: [Names]) {
    let byCanonical = Dictionary(source.map { ($0.canonicalName, $0.name) }) { first, _ in first }
    let names = Set(source.map(\.name))
    var sources: [String: String] = [:]
    var destinations: [String: String] = [:]
    var conflicts: [String: [String]] = [:]
    for candidate in destination.sorted(by: { $0.name < $1.name }) {
      let canonical = candidate.canonicalName
      guard let match = byCanonical[canonical] ?? (names.contains(canonical) ? canonical : nil)
      else { continue }
      if let other = destinations[match] {
        conflicts[match, default: [other]].append(candidate.name)
      } else {
        sources[candidate.name] = match
        destinations[match] = candidate.name
      }
    }
    self.sources = sources
    self.destinations = destinations
    self.conflicts = conflicts
  }

  public init(entitiesOf source: Model, and destination: Model) {
    self.init(
      source: source.entities.map { ($0.name, $0.canonicalName) },
      destination: destination.entities.map { ($0.name, $0.canonicalName) })
  }
}

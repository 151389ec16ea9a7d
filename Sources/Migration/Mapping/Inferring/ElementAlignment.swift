import ModelWriting

/// Which element of a composite attribute is which of a former one, down to what has a column.
///
/// Elements are identified by canonical names within their composite, as properties do within their entity.
struct ElementAlignment {
  /// An element and the one it was; both are named by their whole path.
  ///
  /// One of them is a composite itself where a composite became a plain element, or the other way
  /// round; `former` is `nil` for an element that is new.
  struct Pair: Equatable {
    var element: Attribute
    var former: Attribute?

    /// Whether neither is a composite.
    var isPlain: Bool { element.type != .composite && former?.type != .composite }
  }

  private(set) var pairs: [Pair] = []
  /// Renaming identifiers that several former elements have, with the paths of these.
  private(set) var shared: [String: [String]] = [:]

  /// - Parameters:
  ///   - composite: the attribute as it is, or an element by its path.
  ///   - former: the composite attribute that it was.
  ///   - byName: whether elements are identified by their names alone.
  ///   - given: paths of elements that have a value already, and claim none.
  init(
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

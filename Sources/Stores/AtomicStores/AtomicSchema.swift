/// What the objects of a store show of its model: names, types, counts.
struct AtomicSchema: Equatable {
  /// A relationship as an XML store states it.
  struct Link: Equatable {
    var minimum: UInt32
    var maximum: UInt32
    /// The declared destination, in capitals.
    var destination: String
  }

  struct Entity: Equatable {
    var objects = 0
    /// What the file calls an attribute's type; empty where it does not say.
    var attributes: [String: String] = [:]
    /// `nil` where a store does not say more than that there is one.
    var relationships: [String: Link?] = [:]
    /// Places of properties in a binary store; `nil` where objects disagree.
    var places: Int?

    /// - Returns: how many names are new.
    fileprivate mutating func add(_ object: AtomicObject, _ links: [String: Link]) -> Int {
      let known = attributes.count + relationships.count
      objects += 1
      if places != object.places { places = nil }
      for (name, value) in object.attributes {
        let type = attributes[name]
        guard case .text(_, let stated?) = value else {
          if type == nil { attributes[name] = "" }
          continue
        }
        if type?.isEmpty ?? true { attributes[name] = stated }
      }
      for name in object.relationships.keys where relationships[name] == nil {
        relationships[name] = .some(links[name])
      }
      for (name, link) in links where relationships[name].flatMap({ $0 }) == nil {
        relationships[name] = link
      }
      return attributes.count + relationships.count - known
    }
  }

  private(set) var entities: [String: Entity] = [:]
  /// Names that a file may have at most, so that one with a name an object does not fill the memory.
  static let mostNames = 100_000
  private var names = 0

  /// Takes note of an object.
  ///
  /// - Parameter links: what the file says of relationships, by name.
  /// - Returns: whether there was room for its names.
  mutating func add(_ object: AtomicObject, links: [String: Link] = [:]) -> Bool {
    if entities[object.entity] == nil {
      names += 1
      entities[object.entity] = Entity(places: object.places)
    }
    // In its place: a copy of all names for each object would cost more than the object.
    names += entities[object.entity]?.add(object, links) ?? 0
    return names <= Self.mostNames
  }
}

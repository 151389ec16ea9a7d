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
    var entity = entities[object.entity] ?? Entity(places: object.places)
    if entities[object.entity] == nil { names += 1 }
    entity.objects += 1
    if entity.places != object.places { entity.places = nil }
    for (name, value) in object.attributes where entity.attributes[name, default: ""].isEmpty {
      if entity.attributes[name] == nil { names += 1 }
      if case .text(_, let type) = value {
        entity.attributes[name] = type ?? ""
      } else {
        entity.attributes[name] = ""
      }
    }
    for name in Set(object.relationships.keys).union(links.keys)
    where entity.relationships[name].flatMap({ $0 }) == nil {
      if entity.relationships[name] == nil { names += 1 }
      entity.relationships[name] = .some(links[name])
    }
    entities[object.entity] = entity
    return names <= Self.mostNames
  }
}

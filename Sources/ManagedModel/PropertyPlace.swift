/// Where in its entity a property is.
enum PropertyPlace: Sendable {
  case attribute(Int)
  case relationship(Int)
  case fetchedProperty

  /// The places of all properties that an entity declares, and a name that two of them share.
  static func places(in entity: Entity) -> (places: [String: PropertyPlace], repeated: String?) {
    var places: [String: PropertyPlace] = [:]
    places.reserveCapacity(
      entity.attributes.count + entity.relationships.count + entity.fetchedProperties.count)
    var repeated: String?
    func add(_ name: String, _ place: PropertyPlace) {
      if places.updateValue(place, forKey: name) != nil { repeated = repeated ?? name }
    }
    for (index, attribute) in entity.attributes.enumerated() {
      add(attribute.name, .attribute(index))
    }
    for (index, relationship) in entity.relationships.enumerated() {
      add(relationship.name, .relationship(index))
    }
    for fetched in entity.fetchedProperties { add(fetched.name, .fetchedProperty) }
    return (places, repeated)
  }
}

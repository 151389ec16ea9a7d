import ManagedModel
import ManagedStore

/// Objects as the lines of text that `StoreDump` makes of a store.
enum OracleText {
  static func lines(_ objects: [GeneratedObject], model: Model) -> [String] {
    let places = Dictionary(
      uniqueKeysWithValues: model.entities.enumerated().map { ($0.element.name, $0.offset) })
    let sorted = objects.sorted { a, b in
      let (first, second) = (places[a.id.entity] ?? -1, places[b.id.entity] ?? -1)
      return first == second ? a.id.key < b.id.key : first < second
    }
    return sorted.map { line($0, model: model) }
  }

  private static func line(_ object: GeneratedObject, model: Model) -> String {
    var parts = ["\(object.id.entity)/p\(object.id.key)"]
    let attributes = OracleElements.values(of: object.id.entity, in: model)
    for attribute in attributes.sorted(by: { precedes($0.name, $1.name) }) {
      parts.append("\(attribute.name)=" + (object.attributes[attribute.name].map(of) ?? "∅"))
    }
    let relationships = model.relationships(of: object.id.entity)
    for relationship in relationships.sorted(by: { precedes($0.name, $1.name) }) {
      let ids = (object.links[relationship.name] ?? []).map(\.description)
      parts.append(
        relationship.name + "→"
          + (relationship.isToMany ? "[\(ids.joined(separator: " "))]" : ids.first ?? "∅"))
    }
    return parts.joined(separator: " ")
  }

  static func of(_ value: AttributeValue) -> String {
    switch value {
    case .null: "∅"
    case .integer(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .double(let number), .date(let number): "\((number * 1e6).rounded() / 1e6)"
    case .decimal(let text), .string(let text), .uri(let text): text
    case .uuid(let bytes): ByteText.hex(bytes)
    case .bytes(let bytes): ByteText.hex(Digest.sha256(bytes).prefix(8))
    }
  }

  static func precedes(_ a: String, _ b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  static func precedes(_ a: ObjectID, _ b: ObjectID) -> Bool {
    a.entity == b.entity ? a.key < b.key : precedes(a.entity, b.entity)
  }
}

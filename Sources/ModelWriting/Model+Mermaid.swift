import JSON

extension Model {
  /// The model as a Mermaid class diagram: entities with their attributes, inheritance, and each
  /// pair of inverse relationships as one line.
  public func mermaid() -> String {
    var lines = ["classDiagram"]
    var identifiers: [String: String] = [:]
    // Mermaid's identifiers are letters, digits and underscores; the name itself is a label.
    for (index, entity) in entities.enumerated() {
      let plain = entity.name.unicodeScalars.allSatisfy(Self.isPlain)
      identifiers[entity.name] = plain ? entity.name : "entity\(index)"
    }
    for entity in entities {
      guard let identifier = identifiers[entity.name] else { continue }
      let label = identifier == entity.name ? "" : "[\"\(Self.label(entity.name))\"]"
      // A composite attribute is what its elements are.
      var members = entity.attributes.flatMap { attribute in
        let columns = attribute.type == .composite ? attribute.storage.columns : []
        return columns.isEmpty ? [attribute] : columns.map(\.attribute)
      }.map { attribute in
        "    +\(attribute.type.name.filter { $0 != " " })\(attribute.isOptional ? "?" : "")"
          + " \(Self.label(attribute.name))"
      }
      if entity.isAbstract { members.insert("    <<abstract>>", at: 0) }
      lines.append("  class \(identifier)\(label)" + (members.isEmpty ? "" : " {"))
      if !members.isEmpty { lines += members + ["  }"] }
    }
    for entity in entities {
      guard let identifier = identifiers[entity.name] else { continue }
      if let parent = entity.parent.flatMap({ identifiers[$0] }) {
        lines.append("  \(parent) <|-- \(identifier)")
      }
      for relationship in entity.relationships {
        guard let destination = identifiers[relationship.destination] else { continue }
        lines += line(relationship, of: entity, from: identifier, to: destination)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// One line for a relationship and its inverse; none for the one of the two that comes second.
  private func line(
    _ relationship: Relationship, of entity: Entity, from source: String, to destination: String
  ) -> [String] {
    let count = Self.count(relationship)
    let name = Self.label(relationship.name)
    guard let inverseName = relationship.inverse,
      let owner = declaringEntity(of: inverseName, in: relationship.destination),
      let inverse = self.entity(named: owner)?.relationship(named: inverseName)
    else { return ["  \(source) --> \"\(count)\" \(destination) : \(name)"] }
    let isOwn = owner == entity.name && inverseName == relationship.name
    let mine = (entity.name, relationship.name)
    guard isOwn || mine < (owner, inverseName) else { return [] }
    let label = isOwn ? name : "\(name) / \(Self.label(inverseName))"
    return [
      "  \(source) \"\(Self.count(inverse))\" -- \"\(count)\" \(destination) : \(label)"
    ]
  }

  private static func count(_ relationship: Relationship) -> String {
    if relationship.isToMany { return relationship.isOptional ? "*" : "1..*" }
    return relationship.isOptional ? "0..1" : "1"
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }

  /// Without the characters that end a label or a member, or that a terminal would obey.
  private static func label(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"", "[", "]", "{", "}", "<", ">", ":", ";", "`", "(", ")", "~", "*", "$", "#", "%":
        result += "_"
      case _ where scalar.isObeyed: result += "_"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

import JSON

extension Model {
  /// The model as a plain listing: an entity a paragraph, a property a line.
  ///
  /// Control characters in names are shown as escapes, so that the text is safe on a terminal.
  public func text() -> String {
    let hashes = versionHashes
    var paragraphs = [header]
    for entity in entities {
      var lines = [entity.headline]
      if let hash = hashes[entity.name] { lines.append("  version hash \(hash.hex)") }
      let attributes = entity.attributes.flatMap { $0.rows(indent: "") }
      let relationships = entity.relationships.map { ($0.name.printable, $0.summary) }
      let fetched = entity.fetchedProperties.map { ($0.name.printable, $0.summary) }
      let rows = attributes + relationships + fetched
      let width = min(rows.map(\.0.count).max() ?? 0, 40)
      for (name, summary) in rows {
        lines.append(
          "  " + name + String(repeating: " ", count: max(width - name.count, 0) + 2) + summary)
      }
      for names in entity.uniquenessConstraints {
        lines.append("  unique: " + names.map(\.printable).joined(separator: ", "))
      }
      for index in entity.fetchIndexes { lines.append("  index " + index.summary) }
      for names in entity.compoundIndexes {
        lines.append("  compound index: " + names.map(\.printable).joined(separator: ", "))
      }
      for (key, value) in entity.userInfo.sorted(by: { $0.key < $1.key }) {
        lines.append("  info \(key.printable) = \(value.printable)")
      }
      paragraphs.append(lines.joined(separator: "\n"))
    }
    return paragraphs.joined(separator: "\n\n") + "\n"
  }

  private var header: String {
    var lines = [NumberText.counted(entities.count, "entity", plural: "entities")]
    if !versionIdentifiers.isEmpty {
      lines.append("version \(versionIdentifiers.map(\.printable).joined(separator: ", "))")
    }
    lines.append("checksum \(versionChecksum)")
    for (name, members) in configurations.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "configuration \(name.printable): " + members.map(\.printable).joined(separator: ", "))
    }
    for request in fetchRequests {
      lines.append(
        "fetch request \(request.name.printable): \((request.entity ?? "?").printable)"
          + (request.predicate.map { " where \($0.printable)" } ?? ""))
    }
    for warning in warnings { lines.append("warning: \(warning.printable)") }
    return lines.joined(separator: "\n")
  }
}

extension Entity {
  fileprivate var headline: String {
    var text = name.printable
    if let parent { text += " : \(parent.printable)" }
    if isAbstract { text += ", abstract" }
    if let renamingIdentifier { text += ", was \(renamingIdentifier.printable)" }
    if let versionHashModifier { text += ", modifier \(versionHashModifier.printable)" }
    return text
  }
}

extension Attribute {
  /// Name and summary, and those of its elements below it.
  fileprivate func rows(indent: String) -> [(String, String)] {
    [(indent + name.printable, summary(namesElements: false))]
      + elements.flatMap { $0.rows(indent: indent + "  ") }
  }

  /// The attribute without its name, in a few words.
  package var summary: String { summary(namesElements: true) }

  private func summary(namesElements: Bool) -> String {
    var parts = [type.name + (isOptional ? ", optional" : "")]
    if isTransient { parts.append("transient") }
    if let derivation { parts.append("derived from \(derivation.expression.printable)") }
    if let text = defaultValue.flatMap(DefaultValueText.text) {
      parts.append("default \(text.isEmpty ? "“”" : text.printable)")
    }
    if allowsExternalBinaryDataStorage { parts.append("external storage") }
    if preservesValueInHistoryOnDeletion { parts.append("kept in history") }
    if isIndexed { parts.append("indexed") }
    if let valueTransformerName { parts.append("transformer \(valueTransformerName.printable)") }
    if let renamingIdentifier { parts.append("was \(renamingIdentifier.printable)") }
    if let versionHashModifier { parts.append("modifier \(versionHashModifier.printable)") }
    if namesElements, !elements.isEmpty {
      parts.append("of " + elements.map(\.name.printable).joined(separator: ", "))
    }
    return parts.joined(separator: ", ")
  }
}

extension Relationship {
  /// The relationship without its name, in a few words.
  package var summary: String {
    let arrow = isToMany ? (isOrdered ? "→ ordered " : "→ many ") : "→ "
    var parts = [arrow + destination.printable + (isOptional ? ", optional" : "")]
    if isTransient { parts.append("transient") }
    parts.append(inverse.map { "inverse \($0.printable)" } ?? "no inverse")
    parts.append(deleteRule.name.lowercased())
    if isToMany, maxCount != 0, maxCount != UInt32.max { parts.append("at most \(maxCount)") }
    if minCount != 0 { parts.append("at least \(minCount)") }
    if let renamingIdentifier { parts.append("was \(renamingIdentifier.printable)") }
    if let versionHashModifier { parts.append("modifier \(versionHashModifier.printable)") }
    return parts.joined(separator: ", ")
  }
}

extension FetchedProperty {
  fileprivate var summary: String {
    "fetched \((entity ?? "?").printable)" + (predicate.map { " where \($0.printable)" } ?? "")
  }
}

extension FetchIndex {
  /// Name, elements and condition in a line.
  package var summary: String {
    let list = elements.map { element in
      (element.property ?? element.expression ?? "?").printable
        + (element.isAscending ? "" : " descending") + (element.kind == .rtree ? " R-tree" : "")
    }
    return "\(name.printable): \(list.joined(separator: ", "))"
      + (partialPredicate.map { " where \($0.printable)" } ?? "")
  }
}

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

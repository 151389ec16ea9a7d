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

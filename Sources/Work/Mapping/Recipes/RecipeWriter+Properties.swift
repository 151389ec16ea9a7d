import JSON
import ManagedModel

extension RecipeWriter {
  /// The members for attributes and relationships that differ from what inference gives.
  func properties(_ mapping: EntityMapping, _ inference: Inference) -> [String] {
    guard let from = mapping.source, let to = mapping.destination else { return [] }
    let byName = inference.isCopy(to, from: from)
    var members: [String] = []
    let names = Set(mapping.attributes.map(\.name))
    let attributes = mapping.attributes.filter { attribute in
      let others = names.subtracting([attribute.name])
      let inferred = try? inference.attributes(of: to, from: from, byName: byName, skipping: others)
      return isFull || inferred?.contains(attribute) != true
    }
    if !attributes.isEmpty {
      members.append("\"attributes\": " + self.attributes(attributes, of: to, from: from))
    }
    let linked = Set(mapping.relationships.map(\.name))
    let created = Set(mapping.children.map(\.relationship))
    let relationships = mapping.relationships.filter { relationship in
      if isFull { return true }
      if created.contains(relationship.name) {
        return RecipeMapping.link(relationship.name, of: to, from: from, inference) != relationship
      }
      let others = linked.subtracting([relationship.name])
      let inferred = try? inference.relationships(
        of: to, from: from, byName: byName, skipping: others)
      return inferred?.contains(relationship) != true
    }
    if !relationships.isEmpty {
      members.append(
        "\"relationships\": "
          + Self.block(
            "{", "}", relationships.map { "\(JSONText.quoted($0.name)): \(self.relationship($0))" }
          ))
    }
    return members
  }

  private func attributes(
    _ attributes: [AttributeMapping], of to: String, from: String, isChild: Bool = false
  ) -> String {
    Self.block(
      "{", "}",
      attributes.map { mapping in
        let value = self.attribute(mapping, of: to, from: from, isChild: isChild)
        return "\(JSONText.quoted(mapping.name)): \(value)"
      })
  }

  private func attribute(
    _ mapping: AttributeMapping, of to: String, from: String, isChild: Bool
  ) -> String {
    guard let attribute = destination.storedAttribute(named: mapping.name, of: to) else {
      return "null"
    }
    var members: [String] = []
    var short: String?
    var rule: AttributeValue?
    if let expression = mapping.expression {
      rule = attribute.isOptional ? nil : attribute.defaultValue
      short = value(expression)
      if case .sql(let sql) = expression.form {
        members.append("\"sql\": \(JSONText.quoted(sql))")
        // A bare name would be read as a copy.
        let former = source.storedAttribute(named: sql, of: from)
        if !isChild, former.map({ RecipeValues.isCopy($0, attribute) }) == true { short = nil }
      } else {
        members = [String(value(expression).dropFirst(2).dropLast(2))]
      }
    } else if let name = mapping.source, let former = source.storedAttribute(named: name, of: from)
    {
      rule = AttributeMapping.copy(of: former, to: attribute).defaultValue
      members.append("\"source\": \(JSONText.quoted(name))")
      if !isChild, RecipeValues.isCopy(former, attribute), Self.isBare(name) {
        short = JSONText.quoted(name)
      }
    } else {
      rule = attribute.defaultValue
      short = "null"
    }
    if mapping.defaultValue == rule {
      if let short { return short }
    } else {
      let text = mapping.defaultValue.flatMap(DefaultValueText.text) ?? "NULL"
      members.append("\"default\": \(JSONText.quoted(text))")
    }
    return "{ " + members.joined(separator: ", ") + " }"
  }

  /// Whether a name, or an element's path, is read as it stands.
  private static func isBare(_ name: String) -> Bool {
    let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let kinds = (try? SQLTokenizer.tokens(of: name))?.map(\.kind) ?? []
    return kinds.filter { $0 != .symbol } == names.map { .name($0) }
  }

  private func relationship(_ mapping: RelationshipMapping) -> String {
    var members: [String] = []
    if let from = mapping.source {
      guard let through = mapping.through else { return JSONText.quoted(from) }
      members = [
        "\"from\": \(JSONText.quoted(from))", "\"through\": \(JSONText.quoted(through))",
      ]
    } else if let fetched = mapping.fetched {
      members = ["\"fetch\": \(JSONText.quoted(fetched))"]
      if let condition = mapping.condition { members.append("\"where\": \(value(condition))") }
      if let through = mapping.through {
        members.append("\"through\": \(JSONText.quoted(through))")
      }
    } else {
      return "null"
    }
    return "{ " + members.joined(separator: ", ") + " }"
  }

  func children(_ children: [ChildMapping], from: String) -> String {
    Self.block(
      "[", "]",
      children.map { child in
        var members = [
          "\"destination\": \(JSONText.quoted(child.destination))",
          "\"relationship\": \(JSONText.quoted(child.relationship))",
        ]
        if let each = child.each { members.append("\"each\": \(value(each))") }
        if !child.attributes.isEmpty {
          members.append(
            "\"attributes\": "
              + attributes(child.attributes, of: child.destination, from: from, isChild: true))
        }
        if !child.children.isEmpty {
          members.append("\"create\": \(self.children(child.children, from: from))")
        }
        return Self.block("{", "}", members)
      })
  }

  func value(_ expression: ValueExpression) -> String {
    switch expression.form {
    case .sql(let text): JSONText.quoted(text)
    case .expression(let expression):
      "{ \"expression\": \(JSONText.quoted(expression.description)) }"
    case .predicate(let format): "{ \"predicate\": \(JSONText.quoted(format)) }"
    }
  }
}

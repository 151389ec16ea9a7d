import ManagedModel

/// A property of a model in a few words.
enum PropertyText {
  static func text(_ attribute: Attribute) -> String {
    var text = attribute.type.name
    if attribute.isOptional { text += " optional" }
    if attribute.isTransient { text += " transient" }
    if attribute.allowsExternalBinaryDataStorage { text += " external" }
    if let derivation = attribute.derivation { text += " ƒ \(derivation.expression)" }
    if let value = attribute.defaultValue, value != .null { text += " = \(ValueText(value).text)" }
    return text
  }

  static func text(_ relationship: Relationship) -> String {
    var text = (relationship.isToMany ? "⇉ " : "→ ") + relationship.destination
    if relationship.isOrdered { text += " ordered" }
    text += relationship.isOptional ? " optional" : " mandatory"
    if relationship.deleteRule != .nullify {
      text += " \(relationship.deleteRule.name.lowercased())"
    }
    return text
  }
}

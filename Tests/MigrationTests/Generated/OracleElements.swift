import ManagedModel

/// What an attribute keeps values under: its name, or the paths of a composite's elements; told from
/// the model alone.
enum OracleElements {
  static func values(of attribute: Attribute) -> [Attribute] {
    guard attribute.type == .composite else { return attribute.isStored ? [attribute] : [] }
    return attribute.elements.flatMap(values(of:)).map { element in
      var named = element
      named.name = attribute.name + "." + element.name
      named.isOptional = element.isOptional || attribute.isOptional
      return named
    }
  }

  static func values(of entity: String, in model: Model) -> [Attribute] {
    model.attributes(of: entity).flatMap(values(of:))
  }

  static func value(_ path: String, of entity: String, in model: Model) -> Attribute? {
    values(of: entity, in: model).first { $0.name == path }
  }

  /// The attribute that a path begins with.
  static func whole(_ path: String) -> String { String(path.prefix { $0 != "." }) }
}

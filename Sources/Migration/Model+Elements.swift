import ManagedModel

extension Attribute {
  /// One of its elements, named by its path and optional where the composite is.
  func pathed(_ element: Attribute) -> Attribute {
    var copy = element
    copy.name = AttributeStorage.path(name, element.name)
    copy.isOptional = element.isOptional || isOptional
    return copy
  }
}

extension Model {
  /// An attribute, or at a path such as `author.person` an element of a composite one; either can be
  /// a composite itself. Elements are named by their path.
  func attribute(at path: String, of entity: String) -> Attribute? {
    if let whole = attribute(named: path, of: entity) { return whole }
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let first = names.first, var found = attribute(named: first, of: entity) else {
      return nil
    }
    for name in names.dropFirst() {
      guard found.type == .composite, let element = found.element(named: name) else { return nil }
      found = found.pathed(element)
    }
    return found
  }

  /// What composite attributes of an entity were called in a version that gives it the same hash.
  ///
  /// A composite's own name does not enter the hash, so that it may have changed; its columns are
  /// those of the composite that was in its place among the entity's properties.
  func formerComposites(of entity: String, in source: Model) -> [String: String] {
    var names: [String: String] = [:]
    for (new, old) in zip(lineage(of: entity), source.lineage(of: entity)) {
      let composites = [new, old].map { entity in
        entity.attributes.filter { $0.type == .composite && $0.isStored }.map(\.name)
          .sorted { $0.precedes($1) }
      }
      guard composites[0].count == composites[1].count else { continue }
      for (name, former) in zip(composites[0], composites[1]) { names[name] = former }
    }
    return names
  }
}

/// Names of elements, taken apart.
enum ElementPath {
  /// The composite that a path goes into last; `nil` for an attribute's own name.
  static func composite(of path: String) -> String? {
    path.lastIndex(of: ".").map { String(path[..<$0]) }
  }

  /// The last name of a path.
  static func last(of path: String) -> String {
    path.lastIndex(of: ".").map { String(path[path.index(after: $0)...]) } ?? path
  }
}

import ManagedModel

extension Model {
  /// What composite attributes of an entity were called in a version that gives it the same hash.
  ///
  /// A composite's own name does not enter the hash, so that it may have changed; its columns are
  /// those of the composite that was in its place among the entity's properties.
  func formerComposites(of entity: String, in source: Model) -> [String: String] {
    var names: [String: String] = [:]
    for (new, old) in zip(lineage(of: entity), source.lineage(of: entity)) {
      let composites = [new, old].map { entity in
        entity.attributes.filter { $0.type == .composite && $0.isStored }.map(\.name)
          .sortedByBytes(\.self)
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

  static func last(of path: String) -> String {
    path.lastIndex(of: ".").map { String(path[path.index(after: $0)...]) } ?? path
  }
}

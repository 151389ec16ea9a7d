import ManagedModel
import ManagedStore

extension PlanNotes {
  /// What is not known of composite attributes, and what defaults of elements do to objects that had
  /// none.
  func composites() throws -> [String] { try destination.entities.flatMap(constraints) + made() }

  /// No store that Apple's tools wrote shows a constraint or an index on these.
  private func constraints(of entity: Entity) -> [String] {
    func isWhole(_ name: String) -> Bool {
      destination.attribute(at: name, of: entity.name)?.type == .composite
    }
    let indexes = entity.fetchIndexes.map { index in
      (what: "The index “\(index.name)”", names: index.elements.compactMap(\.property))
    }
    let all =
      entity.uniquenessConstraints.map {
        (what: "The uniqueness constraint (\($0.joined(separator: ", ")))", names: $0)
      } + indexes
    return all.compactMap { what, names in
      if let name = names.first(where: isWhole) {
        return
          "\(what) of \(entity.name) names the composite attribute “\(name)”: how Core Data stores it is not known, so it is neither created nor checked."
      }
      guard let name = names.first(where: { $0.contains(".") }) else { return nil }
      return
        "\(what) of \(entity.name) names the element “\(name)”: the name of its index is assumed."
    }
  }

  /// Objects without a value in a composite attribute that get one, since an element's default goes
  /// into every row.
  private func made() throws -> [String] {
    let data = SourceData(store: store)
    var notes: [String] = []
    for entityMapping in mapping.entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination else { continue }
      for composite in destination.attributes(of: to)
      where composite.type == .composite && composite.isStored && composite.isOptional {
        let elements = composite.storage.columns.compactMap {
          entityMapping.attribute(named: $0.attribute.name)
        }
        let filled = elements.first {
          $0.source == nil && $0.expression == nil && $0.defaultValue ?? .null != .null
        }
        let columns = elements.compactMap { $0.source.flatMap { data.column(of: $0, in: from) } }
        guard let filled, !columns.isEmpty, elements.allSatisfy({ $0.expression == nil }) else {
          continue
        }
        let rows = try data.count(from, where: columns.map { "\($0) IS NULL" })
        guard rows > 0 else { continue }
        notes.append(
          "\(NumberText.counted(rows, "object")) of \(from) \(rows == 1 ? "has" : "have")"
            + " no \(composite.name): the default value of \(filled.name) makes one.")
      }
    }
    return notes
  }
}

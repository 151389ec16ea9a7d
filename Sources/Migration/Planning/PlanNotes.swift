import ManagedModel
import ManagedStore
import SQLite

/// What a plan shows beside losses and checks, a sentence each.
struct PlanNotes {
  let store: Store
  let mapping: MappingModel
  /// The version that the step begins at: several steps may be looked at in one store.
  let source: Model
  let destination: Model
  /// Of the mapping, where they are at hand.
  var schemas: StepSchemas?

  /// - Parameter whole: the destination model with the entities of all configurations.
  func sentences(whole: Model) throws -> [String] {
    var notes = [HardLinks.note(store.files.path)].compactMap { $0 }
    notes += whole.warnings.map { "The destination model: \($0)." }
    notes += configuration(whole)
    notes += [store.deferral].compactMap { $0 }
    let schemas = schemas ?? StepSchemas(store: store, mapping: mapping, destination: destination)
    notes += try history(schemas) + mirroring(schemas)
    let external = try store.externalData()
    notes += external.unreadableSentences
    let missing = external.missing.count
    if missing > 0 {
      notes.append(
        "\(missing) external data files are missing beside the store: those values stay missing.")
    }
    notes += derived(schemas)
    notes += MappingInference.appDifferences(mapping, from: source, to: destination)
      .map(\.sentence)
    notes += try evaluatedDefaults()
    notes += IgnoredIdentifiers.sentences(from: source, to: destination)
    return try notes + composites() + indexes(schemas.destination)
  }

  private func configuration(_ whole: Model) -> [String] {
    guard let name = store.configuration else { return [] }
    let restriction =
      "The store is of the configuration “\(name)” (\(store.model.entities.count) entities). "
    guard let members = whole.configurations[name] else {
      return [
        restriction
          + "The destination model has no configuration of that name: all its entities are taken. It is assumed that the app opens the store this way."
      ]
    }
    guard destination != whole || members.count == whole.entities.count else {
      return [
        restriction
          + "In the destination model that configuration has an entity without its parent: all entities are taken. It is assumed that the app opens the store this way."
      ]
    }
    return [
      restriction
        + "Only its entities are migrated, to those of the same configuration; that Core Data does so is assumed."
    ]
  }

  /// Attributes that are added with a default which is another each time it is evaluated.
  private func evaluatedDefaults() throws -> [String] {
    guard destination.hasEvaluatedDefaults else { return [] }
    let data = SourceData(store: store)
    var rows: [[String]: Int] = [:]
    var values: [[String]: EvaluatedDefault] = [:]
    for entityMapping in mapping.entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination else { continue }
      for mapped in entityMapping.attributes where mapped.source == nil && mapped.expression == nil
      {
        guard let value = destination.attribute(named: mapped.name, of: to)?.evaluatedDefault else {
          continue
        }
        let holder = [destination.declaringEntity(of: mapped.name, in: to) ?? to, mapped.name]
        rows[holder, default: 0] += try data.count(from, where: [])
        values[holder] = value
      }
    }
    return rows.filter { $0.value > 0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .compactMap { holder, count in
        values[holder]?.sentence(of: holder.joined(separator: "."), rows: count)
      }
  }

  /// How derived attributes get their values, and which have no trigger to keep them up.
  private func derived(_ schemas: StepSchemas) -> [String] {
    var notes: [String] = []
    for table in schemas.destination.tables {
      for entityMapping in schemas.mappings(into: table) {
        guard let from = entityMapping.source, let to = entityMapping.destination else { continue }
        for column in table.columns {
          guard case .attribute(let declarer, let name) = column.content,
            destination.isKind(to, of: declarer),
            let attribute = destination.attribute(named: name, of: to), attribute.isDerived,
            let attributeMapping = entityMapping.attribute(named: name)
          else { continue }
          let former = attributeMapping.source.flatMap {
            store.model.attribute(named: $0, of: from)
          }
          guard former?.derivation != attribute.derivation, attributeMapping.expression == nil
          else { continue }
          let isComputed = schemas.derivedFilling(for: column, in: entityMapping) != nil
          notes.append(
            "\(to).\(name) is derived: "
              + (isComputed
                ? "its value is computed for the rows that are there."
                : "Core Data fills it when the objects are next saved."))
        }
      }
    }
    for group in schemas.destination.triggerGroups where group.statements.isEmpty {
      notes.append(
        "How Core Data updates \(group.entity).\(group.attribute) in the store is not known: no trigger is created for it."
      )
    }
    return notes
  }

  private func indexes(_ schema: StoreSchema) -> [String] {
    var notes = schema.unmadeIndexes.map {
      "The index “\($0.index)” of \($0.entity) is of a kind that strata does not create; Core Data works without it."
    }
    if !schema.rtreeIndexes.isEmpty, !store.connection.hasRTrees {
      notes.append(
        "This SQLite has no R-trees: \(schema.rtreeIndexes.map(\.name).joined(separator: ", ")) cannot be created here; Core Data works without them."
      )
    }
    return notes
  }
}

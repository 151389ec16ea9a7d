import ManagedModel
import ManagedStore
import Mapping
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

/// What becomes of persistent history, and of CloudKit mirroring's own tables.
extension PlanNotes {
  func history(_ schemas: StepSchemas) throws -> [String] {
    guard let history = try store.history() else { return [] }
    var notes = [
      "The store keeps history (\(NumberText.counted(history.transactions, "transaction")), \(NumberText.counted(history.changes, "change"))): its rows stay and follow the new entity IDs and properties. An empty transaction is added that records the model which the store had."
    ]
    let added = schemas.addedTombstones.count
    if added > 0, isAtHand {
      notes.append(
        "History gets \(NumberText.counted(added, "more column")) for values of deleted objects: the new model preserves more of them."
      )
    }
    return try notes + changesThatGo() + valuesThatGo()
  }

  /// Whether the store is of the version that the step begins at: its rows are what the step finds.
  private var isAtHand: Bool {
    let own = store.model.versionHashes
    return own == source.versionHashes.filter { own[$0.key] != nil }
  }

  /// Changes of entities that go, and what Core Data would do about them.
  private func changesThatGo() throws -> [String] {
    let gone = mapping.entityMappings.filter { $0.destination == nil }.compactMap(\.source)
    let numbers = gone.compactMap { store.table(of: $0)?.entityID }
    let columns = store.database.columns(of: "ACHANGE")
    guard !numbers.isEmpty, columns.contains("ZENTITY") else { return [] }
    let rows = "FROM ACHANGE WHERE ZENTITY IN (\(numbers.list))"
    let count = try store.number("SELECT count(*) \(rows)")
    guard count > 0 else { return [] }
    var note =
      "\(NumberText.counted(count, "change")) in the history \(count == 1 ? "is" : "are") of removed entities (\(gone.sorted().joined(separator: ", "))): \(count == 1 ? "it is" : "they are") removed too; all others stay."
    if columns.contains("ZTRANSACTIONID") {
      let last = try store.number("SELECT max(ZTRANSACTIONID) \(rows)")
      let before = try store.number("SELECT count(*) FROM ATRANSACTION WHERE Z_PK <= \(last)")
      note +=
        " Core Data’s own migration deletes more by default: the \(NumberText.counted(before, "transaction")) up to the last of these changes, with all they hold."
    }
    return [note]
  }

  /// Values of deleted objects that the new model does not keep.
  private func valuesThatGo() throws -> [String] {
    let columns = store.database.columns(of: "ACHANGE")
    guard isAtHand, columns.isSuperset(of: ["ZENTITY", "ZCHANGETYPE"]) else { return [] }
    var (values, names) = (0, [String]())
    for entityMapping in mapping.entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let number = store.table(of: from)?.entityID
      else { continue }
      let kept = destination.tombstoneAttributes(of: to).compactMap {
        entityMapping.attribute(named: $0)?.source
      }
      for (place, name) in source.tombstoneAttributes(of: from).enumerated()
      where !kept.contains(name) && columns.contains(Tombstones.column(place)) {
        let count = try store.number(
          """
          SELECT count(*) FROM ACHANGE WHERE ZENTITY = \(number)
          AND ZCHANGETYPE = \(HistoryChange.Kind.delete.rawValue)
          AND \(Tombstones.column(place)) IS NOT NULL
          """)
        if count > 0 {
          values += count
          names.append("\(from).\(name)")
        }
      }
    }
    guard values > 0 else { return [] }
    return [
      "History kept \(NumberText.counted(values, "value")) of deleted objects that the new model does not preserve (\(names.joined(separator: ", "))): \(values == 1 ? "it is" : "they are") removed, as in Core Data’s own migration."
    ]
  }

  func mirroring(_ schemas: StepSchemas) throws -> [String] {
    guard let cloud = try store.cloudKit() else { return [] }
    let waiting = [
      (cloud.pendingUploads, "record", "to be uploaded"),
      (cloud.pendingDeletes, "record", "to be deleted in iCloud"),
      (cloud.pendingLinks, "link", "to be uploaded"),
      (
        cloud.unanalysedTransactions, "transaction",
        cloud.isTokenUnreadable
          ? "to be analysed, or was: the mirroring's history token cannot be read"
          : "to be analysed"
      ),
      (cloud.analysedChanges, "change", "to become a record"),
    ].filter { $0.0 > 0 }.map { count, noun, rest in
      "\(NumberText.counted(count, noun)) \(count == 1 ? "waits" : "wait") \(rest)"
    }
    var notes = [
      "The store is mirrored to CloudKit"
        + (waiting.isEmpty
          ? ", and nothing is waiting to be uploaded" : ": " + waiting.joined(separator: ", "))
        + ". Mirroring must be off while it is migrated."
    ]
    notes += [
      MirroredRenaming.sentence(mapping.renamings(from: source, to: destination)),
      isAtHand ? try mirroredRows(schemas) : nil,
    ].compactMap { $0 }
    if isAtHand, schemas.needsZoneFetch {
      notes.append(
        "The metadata make the mirroring fetch everything again, because tables or entity IDs change; Core Data’s own migration does so too."
      )
    }
    return notes
  }

  /// How many of the mirroring's own rows are deleted, and get other entity numbers.
  private func mirroredRows(_ schemas: StepSchemas) throws -> String? {
    let removed = schemas.removedNumbers
    let moved = schemas.renumbering.filter { $0.old != $0.new }.map(\.old)
    var (deleted, renumbered) = (0, 0)
    for table in schemas.numberedMirrorTables {
      let rows = "SELECT count(*) FROM \(quoted(table)) WHERE ZENTITYID IN"
      deleted += try store.number("\(rows) (\(removed.list))")
      renumbered += try store.number("\(rows) (\(moved.list))")
    }
    let links = try schemas.mirroredLinks.reduce((gone: 0, renamed: 0)) { sum, link in
      let rows = try store.reading {
        try store.connection.number(
          """
          SELECT count(*) FROM ANSCKMIRROREDRELATIONSHIP
          WHERE ZCDENTITYNAME = ? AND ZRELATIONSHIPNAME = ?
          """, [.text(link.entity), .text(link.relationship)])
      }
      return link.now == nil ? (sum.gone + rows, sum.renamed) : (sum.gone, sum.renamed + rows)
    }
    let counts: [(count: Int, noun: String, of: String, deed: String)] = [
      (deleted, "row", " of removed entities", "deleted"),
      (renumbered, "row", "", "renumbered"),
      (links.gone, "link", " of removed relationships", "deleted"),
      (links.renamed, "link", "", "renamed"),
    ]
    let parts = counts.filter { $0.count > 0 }.map {
      "\(NumberText.counted($0.count, $0.noun))\($0.of) \($0.count == 1 ? "is" : "are") \($0.deed)"
    }
    guard !parts.isEmpty else { return nil }
    return "In the mirroring’s own tables \(parts.joined(separator: ", "))."
  }
}

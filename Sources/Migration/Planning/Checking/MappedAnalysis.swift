import ManagedModel
import ManagedStore
import SQLite

/// What a mapping model, a recipe or a policy would do to a store: losses, checks, first rows.
struct MappedAnalysis {
  let step: MigrationStep
  let store: Store
  let schemas: StepSchemas
  let mapped: MappingLayout
  /// What the links of one-to-ones come to; `nil` where policies take part, which nobody can foretell.
  let planned: PlannedPairs?
  let connection: Connection
  let data: SourceData

  /// Compiles everything against the store, in a scratch database.
  ///
  /// - Throws: ``CoreDataError``: 134170 for a policy class that nothing stands in for, usage for an
  ///   expression that does not compile.
  init(
    step: MigrationStep, store: Store, policies: PolicyBindings,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    self.step = step
    self.store = store
    for entityMapping in step.mapping.entityMappings {
      guard let policy = entityMapping.policy, policies.type(for: entityMapping) == nil else {
        continue
      }
      throw CoreDataError(
        .refused, code: .entityMigrationPolicy,
        "the mapping “\(entityMapping.name)” is carried out by the class \(policy), which is in the app",
        path: store.path, entity: entityMapping.destination ?? entityMapping.source,
        advice:
          "Say what it does in a recipe, under policies: { \"\(policy)\": … }, and give that with \(.documents); or bind a Swift EntityMigrationPolicy to its name."
      )
    }
    connection = try .scratch(over: store, isCancelled: isCancelled)
    schemas = StepSchemas(store: store, step: step)
    mapped = try MappingLayout(
      schemas, connection: connection, policies: step.policyMappings(policies))
    data = SourceData(store: store)
    planned =
      mapped.policyMappings.isEmpty && !schemas.loose.isEmpty
      ? try PlannedPairs(
        schemas.loose, links: PlannedPairs.ordered(mapped.links, by: step.mapping),
        connection: connection) : nil
  }

  /// Things to know that are neither losses nor failures.
  var notes: [String] {
    var notes: [String] = []
    for entityMapping in step.mapping.entityMappings {
      guard let from = entityMapping.source else { continue }
      if let to = entityMapping.destination, mapped.renumbered.contains(entityMapping.name),
        step.rows[entityMapping.name] ?? 0 > 0
      {
        notes.append(
          "Objects of \(from) get other keys as \(to): what refers to them by key outside the store (object URIs, history, CloudKit) no longer finds them."
        )
      }
      if mapped.isPolicy(entityMapping) {
        notes.append(
          "What becomes of \(from) is up to a Swift policy (\(entityMapping.name)): what it leaves out cannot be told beforehand."
        )
      }
    }
    return notes
  }

  func losses() throws -> [Loss] {
    var losses: [Loss] = []
    for entity in step.source.entities where !entity.isAbstract {
      let takers = step.mapping.entityMappings.filter {
        $0.source == entity.name && $0.destination != nil
      }
      if let loss = try objectLoss(entity.name, takers) { losses.append(loss) }
      guard !takers.isEmpty, !takers.contains(where: mapped.isPolicy) else { continue }
      losses += try valueLosses(entity.name)
    }
    for row in mapped.rows {
      losses += try step.mapping.evaluating(row, schemas.destination, on: connection) {
        try cutNumbers(of: row)
      }
    }
    losses += try schemas.crowdedLinks()
    for loss in try planned?.losses(step.mapping, from: step.source, to: step.destination) ?? []
    where !isReplaced(loss) { losses.append(loss) }
    return Self.joined(losses, step.source)
  }

  /// Objects that no mapping takes.
  private func objectLoss(_ entity: String, _ takers: [EntityMapping]) throws -> Loss? {
    let removals = step.mapping.entityMappings.filter {
      $0.source == entity && $0.destination == nil
    }
    guard !removals.contains(where: mapped.isPolicy) else { return nil }
    // One that makes an object of each different value keeps only the first of each.
    let keepers = takers.filter { $0.distinct == nil }
    var conditions: [String] = []
    if keepers.isEmpty {
      guard !takers.contains(where: mapped.isPolicy) else { return nil }
      conditions = takers.compactMap { mapped.groups[$0.name] }.map {
        "t.Z_PK NOT IN (SELECT source FROM temp.\($0))"
      }
    }
    for taker in keepers {
      guard !mapped.isPolicy(taker), let own = taker.condition else { return nil }
      let compiled = try own.compiled(
        in: ExpressionScope(store: store, entity: entity, row: "t", schema: ""),
        mapping: taker.name, property: nil)
      conditions.append("NOT ifnull((\(compiled.sql)), 0)")
    }
    // Conditions may call functions that only a migration's connection has.
    guard let rows = data.rows(of: entity, where: conditions) else { return nil }
    func find() throws -> FoundRows {
      try FoundRows(qualified(rows), key: "t.Z_PK", of: entity, on: connection)
    }
    let lost = try (takers.first ?? removals.first)?.evaluating(find) ?? find()
    guard lost.count > 0 else { return nil }
    var loss = Loss(
      entity: entity, values: lost.count,
      samples: conditions.isEmpty
        ? try data.samples(ofObjects: entity) : lost.first.map(\.description))
    loss.isIntended =
      !(removals + takers).isEmpty && (removals + takers).allSatisfy(\.isDeletionIntended)
      && (takers.isEmpty || !keepers.isEmpty)
    return loss
  }

  /// The source's tables under the name they have here.
  func qualified(_ rows: String) -> String { "FROM src." + rows.dropFirst(5) }

  /// Values and links that no mapping reads.
  private func valueLosses(_ entity: String) throws -> [Loss] {
    var losses: [Loss] = []
    let used = mapped.used[entity] ?? []
    for entry in store.table(of: entity)?.attributes ?? []
    where !entry.attribute.isDerived && !used.contains(entry.attribute.name) {
      let count = try data.count(entity, where: ["t.\(quoted(entry.column)) IS NOT NULL"])
      guard count > 0 else { continue }
      losses.append(
        Loss(
          entity: entity, property: entry.attribute.name, values: count,
          samples: try data.samples(of: entry.attribute.name, in: entity)))
    }
    losses += try emptied(entity)
    for relationship in step.source.relationships(of: entity) where !relationship.isTransient {
      if isReplaced(relationship, of: entity) {
        let count = try data.links(relationship.name, of: entity)
        if count > 0 {
          losses.append(Loss(entity: entity, property: relationship.name, values: count))
        }
        continue
      }
      guard !used.contains(relationship.name), !isInverseUsed(relationship),
        !isCountedFromOtherSide(relationship)
      else { continue }
      // Counted with the objects where nothing is left to lead to.
      let others = step.source.subtree(of: relationship.destination)
      guard
        step.mapping.entityMappings.contains(where: { entityMapping in
          entityMapping.destination != nil && entityMapping.source.map(others.contains) == true
        })
      else { continue }
      let count = try data.links(relationship.name, of: entity)
      guard count > 0 else { continue }
      losses.append(Loss(entity: entity, property: relationship.name, values: count))
    }
    return losses
  }

  /// Values of which all that is computed of them comes to nothing, as a function answers what it
  /// cannot read.
  private func emptied(_ entity: String) throws -> [Loss] {
    let takers = step.mapping.entityMappings.filter { $0.source == entity && $0.destination != nil }
    guard takers.count == 1, let taker = takers.first, taker.children.isEmpty,
      taker.condition == nil, taker.distinct == nil, let table = store.table(of: entity)
    else { return [] }
    let scope = ExpressionScope(store: store, entity: entity)
    var readers: [String: [String]] = [:]
    for attributeMapping in taker.attributes {
      guard let expression = attributeMapping.expression, attributeMapping.defaultValue == nil
      else {
        continue
      }
      let compiled = try expression.compiled(
        in: scope, mapping: taker.name, property: attributeMapping.name,
        attribute: taker.destination.flatMap {
          step.destination.storedAttribute(named: attributeMapping.name, of: $0)
        })
      for property in compiled.properties { readers[property, default: []].append(compiled.sql) }
    }
    for copied in taker.attributes.compactMap(\.source) { readers[copied] = nil }
    return try readers.sorted { $0.key < $1.key }.compactMap { property, expressions in
      guard let column = table.column(of: property) else { return nil }
      let nothing = expressions.map { "(\($0)) IS NULL" }.joined(separator: " AND ")
      let count: Value?
      do {
        count = try connection.value(
          """
          SELECT count(*) FROM src.\(quoted(table.table)) s WHERE s.Z_ENT = \(table.entityID)
          AND s.\(quoted(column)) IS NOT NULL AND \(nothing)
          """)
      } catch let error as SQLiteError where error.isEvaluation {
        // The checks meet it again, and name the property that it is for.
        return nil
      }
      guard let count = count?.integer, count > 0 else { return nil }
      return Loss(
        entity: entity, property: property, values: Int(count),
        samples: try data.samples(of: property, in: entity))
    }
  }

  /// Whether new objects take the place of those that a to-one leads to.
  private func isReplaced(_ relationship: Relationship, of entity: String) -> Bool {
    step.mapping.entityMappings.contains { entityMapping in
      guard entityMapping.source == entity, let to = entityMapping.destination else { return false }
      return entityMapping.children.contains { child in
        step.destination.relationship(named: child.relationship, of: to)?.isToMany == false
          && entityMapping.relationships.contains {
            $0.name == child.relationship && $0.source == relationship.name
          }
      }
    }
  }

  /// Whether the lost links are of a to-one that new objects take the place of: those are told.
  private func isReplaced(_ loss: Loss) -> Bool {
    guard let property = loss.property else { return false }
    return step.source.subtree(of: loss.entity).contains { entity in
      step.source.relationship(named: property, of: entity).map { isReplaced($0, of: entity) }
        ?? false
    }
  }

  /// Whether links are counted where their other end is: a one-to-many at the to-one, any other pair at
  /// the name that comes first.
  private func isCountedFromOtherSide(_ relationship: Relationship) -> Bool {
    guard let name = relationship.inverse,
      let inverse = step.source.relationship(named: name, of: relationship.destination)
    else { return false }
    let isOther =
      relationship.isToMany == inverse.isToMany
      ? relationship.name > inverse.name : relationship.isToMany
    guard isOther else { return false }
    return step.source.subtree(of: relationship.destination).allSatisfy { entity in
      let takers = step.mapping.mappings(fromSource: entity).filter { $0.destination != nil }
      return !takers.isEmpty && !takers.contains(where: mapped.isPolicy)
    }
  }

  private func isInverseUsed(_ relationship: Relationship) -> Bool {
    guard let inverse = relationship.inverse else { return false }
    return step.source.subtree(of: relationship.destination).contains {
      mapped.used[$0]?.contains(inverse) == true
    }
  }

  /// Subentities lose an inherited property together, where it is declared.
  private static func joined(_ losses: [Loss], _ model: Model) -> [Loss] {
    var all: [Loss] = []
    for var loss in losses {
      if let property = loss.property {
        loss.entity = model.declaringEntity(of: property, in: loss.entity) ?? loss.entity
      }
      if let index = all.firstIndex(where: { $0.isSame(as: loss) }) {
        all[index].values += loss.values
        if all[index].samples.isEmpty { all[index].samples = loss.samples }
      } else {
        all.append(loss)
      }
    }
    return all
  }
}

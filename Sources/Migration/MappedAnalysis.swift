import ManagedModel
import ManagedStore
import SQLite

/// What a mapping model, a recipe or a policy would do to a store: losses, checks, first rows.
struct MappedAnalysis {
  let step: MigrationPlan.Step
  let store: Store
  let schemas: StepSchemas
  let mapped: MappedStep
  /// What the links of one-to-ones come to; `nil` where policies take part, which nobody can foretell.
  let planned: PlannedPairs?
  let connection: Connection
  let data: SourceData

  /// Compiles everything against the store, in a scratch database.
  ///
  /// - Throws: ``CoreDataError``: 134170 for a policy class that nothing stands in for, usage for an
  ///   expression that does not compile.
  init(
    step: MigrationPlan.Step, store: Store, policies: PolicyBindings,
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    self.step = step
    self.store = store
    for entityMapping in step.mapping.entityMappings {
      guard let policy = entityMapping.policy, policies.type(for: entityMapping) == nil else {
        continue
      }
      throw CoreDataError(
        .refused, code: 134170,
        "the mapping “\(entityMapping.name)” is carried out by the class \(policy), which is in the app",
        path: store.path, entity: entityMapping.destination ?? entityMapping.source,
        hint:
          "Say what it does in a recipe, under policies: { \"\(policy)\": … }, and give that with --mapping; or bind a Swift EntityMigrationPolicy to its name."
      )
    }
    // An empty path is a private database that goes away with the connection.
    connection = try Connection(path: "", mode: .create)
    connection.onProgress(isCancelled)
    try connection.execute("PRAGMA temp_store = FILE")
    try MigrationFunctions.define(on: connection, store: store)
    try connection.attach(store.connection, as: "src")
    schemas = StepSchemas(store: store, step: step)
    mapped = try MappedStep(
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

  // MARK: Losses

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
    let from = qualified(rows)
    let count =
      try (takers.first ?? removals.first)?.evaluating {
        Int(try connection.value("SELECT count(*) \(from)")?.integer ?? 0)
      } ?? Int(try connection.value("SELECT count(*) \(from)")?.integer ?? 0)
    guard count > 0 else { return nil }
    var loss = Loss(
      entity: entity, values: count,
      samples: conditions.isEmpty
        ? try data.samples(ofObjects: entity)
        : try connection.rows("SELECT t.Z_PK \(from) ORDER BY t.Z_PK LIMIT 5").compactMap {
          $0.first?.integer.map { ObjectID(entity: entity, key: $0).description }
        })
    loss.isIntended =
      !(removals + takers).isEmpty && (removals + takers).allSatisfy(\.isDeletionIntended)
      && (takers.isEmpty || !keepers.isEmpty)
    return loss
  }

  /// The source's tables under the name they have here.
  func qualified(_ rows: String) -> String {
    rows.replacingFirst("FROM ", with: "FROM src.")
  }

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
        let count = try data.edges(relationship.name, of: entity)
        if count > 0 {
          losses.append(Loss(entity: entity, property: relationship.name, values: count))
        }
        continue
      }
      guard !used.contains(relationship.name), !isInverseUsed(relationship) else { continue }
      // Counted with the objects where nothing is left to lead to.
      let others = step.source.subtree(of: relationship.destination)
      guard
        step.mapping.entityMappings.contains(where: { entityMapping in
          entityMapping.destination != nil && entityMapping.source.map(others.contains) == true
        })
      else { continue }
      let count = try data.edges(relationship.name, of: entity)
      guard count > 0 else { continue }
      losses.append(Loss(entity: entity, property: relationship.name, values: count))
    }
    return losses
  }

  /// Values of which all that is computed of them comes to nothing, as a function answers what it
  /// cannot read.
  private func emptied(_ entity: String) throws -> [Loss] {
    let takers = step.mapping.entityMappings.filter {
      $0.source == entity && $0.destination != nil
    }
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
      step.source.relationship(named: property, of: entity).map {
        isReplaced($0, of: entity)
      } ?? false
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
      if let index = all.firstIndex(where: { $0.name == loss.name }) {
        all[index].values += loss.values
        if all[index].samples.isEmpty { all[index].samples = loss.samples }
      } else {
        all.append(loss)
      }
    }
    return all
  }

  // MARK: Checks

  func checks() throws -> [DataCheck] {
    var checks: [DataCheck] = []
    for row in mapped.rows {
      checks += try step.mapping.evaluating(row, schemas.destination, on: connection) {
        // What is computed is computed here, whether or not a rule asks for it.
        if let evaluation = row.evaluation { _ = try connection.value(evaluation) }
        return try self.checks(row) + typeChecks(row) + emptyComposites(row)
      }
    }
    checks += try emptinessChecks() + unledChecks()
    let constraints = ConstraintCheck(
      schema: schemas.destination, rows: mapped.rows, connection: connection)
    for entity in step.destination.entities {
      for constraint in entity.uniquenessConstraints {
        checks += try constraints.check(constraint, of: entity.name, isNew: false)
      }
    }
    return checks
  }

  /// Mandatory values that the mapping would leave out.
  private func checks(_ row: DestinationRows) throws -> [DataCheck] {
    guard let table = schemas.destination.table(of: row.entity) else { return [] }
    var mandatory: [(column: String, property: String, isRelationship: Bool)] = []
    for column in table.columns where !row.later.contains(column.name) {
      switch column.content {
      case .attribute(let declarer, let name)
      where step.destination.isKind(row.entity, of: declarer):
        let attribute = step.destination.storedAttribute(named: name, of: row.entity)
        if attribute?.isOptional == false, attribute?.isDerived == false {
          mandatory.append((column.name, name, false))
        }
      case .toOne(let declarer, let name) where step.destination.isKind(row.entity, of: declarer):
        if step.destination.relationship(named: name, of: row.entity)?.isOptional == false {
          mandatory.append((column.name, name, true))
        }
      default: break
      }
    }
    mandatory = mandatory.filter { !wasBroken($0.property, row) }
    guard !mandatory.isEmpty else { return [] }
    let given = Set(row.columns.map(\.name))
    let sums = mandatory.map {
      given.contains($0.column) ? "sum(e.\(quoted($0.column)) IS NULL)" : "count(*)"
    }
    let counts =
      try connection.rows("SELECT \(sums.joined(separator: ", ")) FROM (\(row.selectAll)) e").first
      ?? []
    var checks: [DataCheck] = []
    for (index, property) in mandatory.enumerated() {
      guard index < counts.count, let count = counts[index].integer, count > 0 else { continue }
      let condition =
        given.contains(property.column) ? "WHERE e.\(quoted(property.column)) IS NULL" : ""
      let first = try connection.rows(
        "SELECT e.Z_PK FROM (\(row.selectAll)) e \(condition) ORDER BY e.Z_PK LIMIT 5")
      checks.append(
        DataCheck(
          code: 134110, entity: row.entity, property: property.property, rows: Int(count),
          first: first.compactMap {
            $0.first?.integer.map { ObjectID(entity: row.entity, key: $0) }
          },
          message: property.isRelationship
            ? "missing objects on a mandatory destination relationship"
            : "missing values on a mandatory destination attribute",
          hint: property.isRelationship
            ? "Delete those objects too, let the relationship lead elsewhere, or make it optional."
            : "Compute a value with coalesce(…, …), give the attribute a default, or make it optional."
        ))
    }
    return checks
  }

  /// Whether the source's own counterpart is mandatory and broken already: told, but not refused.
  private func wasBroken(_ property: String, _ row: DestinationRows) -> Bool {
    guard let entityMapping = step.mapping.mapping(named: row.mapping),
      entityMapping.destination == row.entity, let from = entityMapping.source,
      let source = entityMapping.attributes.first(where: { $0.name == property })?.source
    else { return false }
    return step.source.storedAttribute(named: source, of: from)?.isOptional == false
  }

  // MARK: Previews

  /// The first rows of mappings that compute something, before and after.
  func previews(limit: Int = 3) throws -> [MappingPreview] {
    var previews: [MappingPreview] = []
    for row in mapped.rows {
      guard let entityMapping = step.mapping.mapping(named: row.mapping),
        let from = entityMapping.source, let table = schemas.destination.entityTable(of: row.entity)
      else { continue }
      let computes =
        entityMapping.destination != row.entity || entityMapping.distinct != nil
        || entityMapping.condition != nil
        || entityMapping.attributes.contains { $0.expression != nil }
      guard computes else { continue }
      let read =
        store.table(of: from)?.attributes.filter {
          mapped.used[from]?.contains($0.attribute.name) == true
        } ?? []
      let after = table.attributes.filter { entry in
        row.columns.contains { $0.name == entry.column }
      }
      let values =
        read.map { "s.\(quoted($0.column))" }
        + after.map { entry in row.columns.first { $0.name == entry.column }?.sql ?? "NULL" }
      let conditions =
        row.conditions.isEmpty
        ? "" : " WHERE " + row.conditions.map { "(\($0))" }.joined(separator: " AND ")
      let rows = try connection.rows(
        "SELECT \((["s.Z_PK"] + values).joined(separator: ", ")) FROM \(row.from)\(conditions) ORDER BY \(row.ranges.key) LIMIT \(limit)"
      )
      for values in rows where values.count == 1 + read.count + after.count {
        previews.append(
          MappingPreview(
            mapping: row.mapping,
            source: values[0].integer.map { ObjectID(entity: from, key: $0) },
            destination: row.entity,
            before: read.enumerated().map { index, entry in
              .init(
                name: entry.attribute.name,
                value: Self.text(values[1 + index], of: entry.attribute))
            },
            after: after.enumerated().map { index, entry in
              .init(
                name: entry.attribute.name,
                value: Self.text(values[1 + read.count + index], of: entry.attribute))
            }))
      }
    }
    return previews
  }

  private static func text(_ value: Value, of attribute: Attribute) -> String {
    SampleText.text(of: .value(AttributeValue(column: value, of: attribute)))
  }
}

extension String {
  func replacingFirst(_ part: String, with other: String) -> String {
    guard hasPrefix(part) else { return self }
    return other + dropFirst(part.count)
  }
}

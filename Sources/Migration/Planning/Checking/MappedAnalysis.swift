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

  /// What it would drop.
  var account: LossAccount {
    LossAccount(
      data: data, source: step.source, destination: step.destination, mapping: schemas.mapping,
      schemas: schemas, planned: planned, layout: (mapped, connection))
  }

  /// Things to know that are neither losses nor failures.
  var notes: [String] {
    var notes: [String] = []
    for entityMapping in step.mapping.entityMappings {
      guard let from = entityMapping.source else { continue }
      if let to = entityMapping.destination,
        mapped.keys[entityMapping.name].map({ $0.distance != 0 }) == true,
        step.rows[entityMapping.name] ?? 0 > 0
      {
        notes.append(
          "Objects of \(from) get new keys as \(to): what refers to them by key outside the store (object URIs, history, CloudKit) no longer finds them."
        )
      }
      if mapped.isPolicy(entityMapping) {
        notes.append(
          "A Swift policy decides what becomes of \(from) (\(entityMapping.name)): what it leaves out is not known in advance."
        )
      }
    }
    return notes
  }
}

extension MappedAnalysis {
  /// Objects whose `each` gives no JSON array: nothing hangs on what becomes of them.
  ///
  /// Elements of elements are not looked at.
  func elementNotes() throws -> [String] {
    var notes: [String] = []
    for entityMapping in step.mapping.entityMappings {
      guard let from = entityMapping.source else { continue }
      for child in entityMapping.children {
        guard let each = child.each else { continue }
        let scope = ExpressionScope(store: store, entity: from, row: "t", schema: "")
        let list = try each.compiled(
          in: scope, mapping: entityMapping.name, property: child.relationship
        ).sql
        let condition = try entityMapping.condition.map {
          try $0.compiled(in: scope, mapping: entityMapping.name, property: nil).sql
        }
        let other =
          "CASE WHEN json_valid(\(list)) THEN json_type(\(list)) <> 'array' ELSE (\(list)) IS NOT NULL END"
        guard
          let rows = data.rows(
            of: from, where: [other] + (condition.map { [$0] } ?? []), in: "src.")
        else { continue }
        let found = try entityMapping.evaluating(property: { child.relationship }) {
          try connection.rows("SELECT count(*), min(t.Z_PK) \(rows)")
        }
        guard let row = found.first, let count = row.first?.integer, count > 0,
          let key = row.last?.integer
        else { continue }
        let first = ObjectID(entity: from, key: key)
        notes.append(
          "“each” of \(child.relationship) (\(entityMapping.name)) is not a JSON array in \(NumberText.counted(count, "row")), the first \(first): no \(child.destination) is created there."
        )
      }
    }
    return notes
  }
}

extension MappedAnalysis {
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
        row.writes(entry.column)
      }
      let values =
        read.map { "s.\(quoted($0.column))" }
        + after.map { entry in row.value(of: entry.column)?.sql ?? "NULL" }
      let rows = try connection.rows(
        "SELECT \((["s.Z_PK"] + values).joined(separator: ", ")) FROM \(row.from)\(row.conditions.filter) ORDER BY \(row.ranges.key) LIMIT \(limit)"
      )
      for values in rows where values.count == 1 + read.count + after.count {
        previews.append(
          MappingPreview(
            mapping: row.mapping, source: values[0].integer.map { ObjectID(entity: from, key: $0) },
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

extension MappedAnalysis {
  /// Objects that are made for a one-to-one which a later one takes: nothing references them.
  func unledChecks() throws -> [DataCheck] {
    try (planned?.lost() ?? []).compactMap { lost in
      guard let entityMapping = step.mapping.mapping(named: lost.link.mapping),
        step.destination.isKind(entityMapping.destination ?? "", of: lost.link.entity) == false
          || entityMapping.relationships.allSatisfy({
            $0.name != lost.link.relationship || $0.source == nil
          }),
        let relationship = step.destination.relationship(
          named: lost.link.relationship, of: lost.link.entity)
      else { return nil }
      return DataCheck(
        code: .migration, entity: relationship.destination, property: relationship.inverse,
        rows: lost.count,
        first: lost.first.map { ObjectID(entity: relationship.destination, key: $0.destination) },
        message:
          "several objects created for \(lost.link.entity).\(relationship.name), which is to-one: the last one is kept",
        hint: "Create one object, or make the relationship to-many.", isWarning: true)
    }
  }
}

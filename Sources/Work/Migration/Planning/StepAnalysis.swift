import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// What a step, or several inferred ones looked at as one, would do to a store: losses, checks, notes, first
/// rows.
struct StepAnalysis {
  /// How a step that is not inferred is laid out as SQL, and the connection that it is: the source is attached
  /// there as `src`.
  struct Layout {
    let mapped: MappingLayout
    let connection: Connection
  }

  let step: MigrationStep
  let data: SourceData
  let schemas: StepSchemas
  /// `nil` for an inferred step, which copies: the source's own columns show what becomes of them.
  let layout: Layout?
  /// What the links of one-to-ones that are set in the end come to; `nil` where there are none, and where
  /// policies take part, which nobody can foretell.
  let planned: PlannedPairs?

  var store: Store { data.store }
  var source: Model { step.source }
  var destination: Model { step.destination }
  var mapping: MappingModel { schemas.mapping }

  /// Compiles everything but an inferred step against the store, in a scratch database.
  ///
  /// - Throws: ``CoreDataError``: 134170 for a policy class that nothing stands in for, usage for an
  ///   expression that does not compile.
  init(
    _ step: MigrationStep, of store: Store, policies: PolicyBindings = PolicyBindings(),
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    self.step = step
    data = SourceData(store: store)
    schemas = StepSchemas(store: store, step: step)
    guard step.mapping.kind != .none, !step.isInferredOnly(policies) else {
      layout = nil
      planned = try PlannedPairs(inferred: schemas)
      return
    }
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
    let connection = try Connection.scratch(over: store, isCancelled: isCancelled)
    let mapped = try MappingLayout(
      schemas, connection: connection, policies: step.policyMappings(policies))
    layout = Layout(mapped: mapped, connection: connection)
    planned =
      mapped.policyMappings.isEmpty && !schemas.loose.isEmpty
      ? try PlannedPairs(
        schemas.loose, links: PlannedPairs.ordered(mapped.links, by: step.mapping),
        connection: connection) : nil
  }

  /// A connection that has the source attached as `src`.
  func connectionOverSource() throws -> Connection {
    try layout?.connection ?? planned?.connection ?? .scratch(over: store)
  }

  /// Asks the store; what a step's own SQL fails with names the mapping.
  func asking<T>(_ questions: () throws -> T) throws -> T {
    try layout == nil ? store.reading(questions) : questions()
  }

  func isPolicy(_ entityMapping: EntityMapping) -> Bool {
    layout?.mapped.isPolicy(entityMapping) ?? false
  }
}

extension StepAnalysis {
  /// Things to know that are neither losses nor failures.
  func notes() throws -> [String] {
    guard let layout else { return [] }
    return try notes(of: layout.mapped) + elementNotes(on: layout.connection)
  }

  private func notes(of mapped: MappingLayout) -> [String] {
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

  /// Objects whose `each` gives no JSON array: nothing hangs on what becomes of them.
  ///
  /// Elements of elements are not looked at.
  private func elementNotes(on connection: Connection) throws -> [String] {
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

extension StepAnalysis {
  /// The first rows of mappings that compute something, before and after.
  func previews(limit: Int = 3) throws -> [MappingPreview] {
    guard let layout else { return [] }
    var previews: [MappingPreview] = []
    for row in layout.mapped.rows {
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
          layout.mapped.used[from]?.contains($0.attribute.name) == true
        } ?? []
      let after = table.attributes.filter { entry in
        row.writes(entry.column)
      }
      let values =
        read.map { "s.\(quoted($0.column))" }
        + after.map { entry in row.value(of: entry.column)?.sql ?? "NULL" }
      let rows = try layout.connection.rows(
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
            }, computedFrom: layout.mapped.computedFrom[row.mapping] ?? []))
      }
    }
    return previews
  }

  private static func text(_ value: Value, of attribute: Attribute) -> String {
    SampleText.text(of: .value(AttributeValue(column: value, of: attribute)))
  }
}

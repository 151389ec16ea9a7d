import ManagedModel
import ManagedStore
import SQLite

/// Whether the objects that a mapping model, a recipe or a policy made fit their model.
///
/// What was wrong in the source already and only came along is no reason to refuse.
struct Validation {
  let step: MigrationPlan.Step
  let schemas: StepSchemas
  let connection: Connection

  /// - Throws: ``CoreDataError`` of kind refused, code 134110, naming the property, the rows that
  ///   break its rule, and the ways out.
  func run() throws {
    for entity in step.destination.entities where !entity.isAbstract {
      guard let table = schemas.destination.entityTable(of: entity.name) else { continue }
      let rules = rules(of: table)
      // One pass over the rows tells which rules are broken at all.
      let broken = rules.map { "max(\($0.condition))" }.joined(separator: ", ")
      guard !rules.isEmpty,
        let row = try connection.rows(
          "SELECT \(broken) FROM main.\(quoted(table.table)) t WHERE t.Z_ENT = \(table.entityID)"
        ).first
      else { continue }
      for (rule, value) in zip(rules, row) where value.integer == 1 { try rule.check() }
    }
  }

  /// Something that must not be true of any row `t`, and the closer look at the rows that it is
  /// true of.
  private struct Rule {
    var condition: String
    var check: () throws -> Void
  }

  private func rules(of table: EntityTable) -> [Rule] {
    var rules: [Rule] = []
    for entry in table.attributes {
      let attribute = entry.attribute
      let column = "t." + quoted(entry.column)
      if !attribute.isOptional, !attribute.isDerived {
        let condition = "\(column) IS NULL"
        rules.append(Rule(condition: condition) { try missing(attribute, condition, table) })
      }
      // What came over as it was is the source's own.
      let isCopied = step.mapping.entityMappings.contains { entityMapping in
        entityMapping.destination == table.entity
          && entityMapping.attribute(named: attribute.name)?.source != nil
      }
      if !isCopied, let types = Self.storageClasses(of: attribute) {
        if let range = TypeChange.range(of: attribute.type) {
          let condition = "\(column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"
          rules.append(Rule(condition: condition) { try mistyped(attribute, condition, table) })
        }
        let list = types.map { "'\($0)'" }.joined(separator: ", ")
        let condition = "typeof(\(column)) NOT IN (\(list), 'null')"
        rules.append(Rule(condition: condition) { try mistyped(attribute, condition, table) })
      }
    }
    for entry in table.relationships {
      let relationship = entry.relationship
      if relationship.emptiness == .refused, let empty = table.emptiness(of: relationship.name) {
        rules.append(Rule(condition: empty) { try check(relationship, table) })
      }
      if let dangling = dangling(entry) {
        rules.append(Rule(condition: dangling) { try checkDangling(entry, dangling, table) })
      }
    }
    return rules
  }

  private func missing(
    _ attribute: Attribute, _ condition: String, _ table: EntityTable
  ) throws {
    let broken = try rows(table, condition)
    guard try broken.count > former(attribute.name, of: table.entity, isEmpty: true) else { return }
    throw refusal(
      "missing values on a mandatory destination attribute", broken, table.entity, attribute.name,
      hint:
        "Give the attribute a default value, compute one with coalesce(…, …), or make it optional.")
  }

  private func mistyped(
    _ attribute: Attribute, _ condition: String, _ table: EntityTable
  ) throws {
    throw refusal(
      "values that are no \(attribute.type.name)", try rows(table, condition), table.entity,
      attribute.name, hint: "Let the expression give a value of that type.")
  }

  private static func storageClasses(of attribute: Attribute) -> [String]? {
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean: ["integer"]
    case .double, .float, .date, .decimal: ["integer", "real"]
    case .string, .uri: ["text"]
    case .uuid, .binary, .transformable: ["blob"]
    default: nil
    }
  }

  private func check(_ relationship: Relationship, _ table: EntityTable) throws {
    guard let empty = table.emptiness(of: relationship.name) else { return }
    let broken = try rows(table, empty)
    guard !broken.isEmpty,
      try broken.count > former(relationship.name, of: table.entity, isEmpty: true)
    else { return }
    throw refusal(
      "missing objects on a mandatory destination relationship", broken, table.entity,
      relationship.name,
      hint:
        "Delete those objects too, let the relationship lead elsewhere, or make it optional.")
  }

  private func dangling(_ entry: EntityTable.RelationshipColumns) -> String? {
    guard let column = entry.storage?.toOneColumn,
      let other = schemas.destination.table(of: entry.relationship.destination)?.name
    else { return nil }
    return """
      (t.\(quoted(column)) IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM main.\(quoted(other)) d WHERE d.Z_PK = t.\(quoted(column))))
      """
  }

  private func checkDangling(
    _ entry: EntityTable.RelationshipColumns, _ condition: String, _ table: EntityTable
  ) throws {
    let broken = try rows(table, condition)
    guard try broken.count > former(entry.relationship.name, of: table.entity, isEmpty: false)
    else { return }
    throw refusal(
      "links to objects that are not there", broken, table.entity, entry.relationship.name,
      hint: "Please report this: the mapping should have left them out.")
  }

  private struct Broken {
    var count: Int
    var first: [ObjectID]
    var isEmpty: Bool { count == 0 }
  }

  private func rows(_ table: EntityTable, _ condition: String) throws -> Broken {
    let from =
      "FROM main.\(quoted(table.table)) t WHERE t.Z_ENT = \(table.entityID) AND (\(condition))"
    let count = Int(try connection.value("SELECT count(*) \(from)")?.integer ?? 0)
    guard count > 0 else { return Broken(count: 0, first: []) }
    let first = try connection.rows("SELECT t.Z_PK \(from) ORDER BY t.Z_PK LIMIT 5")
    return Broken(
      count: count,
      first: first.compactMap {
        $0.first?.integer.map { ObjectID(entity: table.entity, key: $0) }
      })
  }

  /// How many source objects break the rule of the property's counterpart, where that had the rule.
  func former(_ property: String, of entity: String, isEmpty: Bool) throws -> Int {
    let data = SourceData(store: schemas.store)
    var count = 0
    for entityMapping in step.mapping.entityMappings where entityMapping.destination == entity {
      guard let from = entityMapping.source else { continue }
      if let source = entityMapping.attributes.first(where: { $0.name == property })?.source,
        schemas.sourceModel.storedAttribute(named: source, of: from)?.isOptional == false,
        let column = data.column(of: source, in: from)
      {
        count += try data.count(from, where: ["\(column) IS NULL"])
      }
      guard
        let source = entityMapping.relationships.first(where: { $0.name == property })?.source,
        let before = schemas.sourceModel.relationship(named: source, of: from)
      else { continue }
      if isEmpty {
        guard !before.isOptional, let empty = data.isEmpty(source, of: from) else { continue }
        count += try data.count(from, where: [empty])
      } else if let column = schemas.store.table(of: from)?.toOneColumn(of: source),
        let other = schemas.store.table(of: before.destination)?.table
      {
        count += try data.count(
          from,
          where: [
            "t.\(quoted(column)) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(quoted(other)) d WHERE d.Z_PK = t.\(quoted(column)))"
          ])
      }
    }
    return count
  }

  private func refusal(
    _ message: String, _ broken: Broken, _ entity: String, _ property: String, hint: String
  ) -> CoreDataError {
    CoreDataError(
      .refused, code: 134110,
      "\(message), in \(broken.count) rows (first: \(broken.first.map(\.description).joined(separator: ", ")))",
      entity: entity, property: property, hint: hint + " The store is as it was.")
  }
}

extension EntityTable {
  /// SQL that is true of a row `t` of `main` whose relationship leads nowhere.
  func emptiness(of relationship: String) -> String? {
    storage(of: relationship)?.isEmpty("t", unindexedIn: "main.")
  }
}

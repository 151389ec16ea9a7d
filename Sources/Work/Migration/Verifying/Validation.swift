import ManagedModel
import ManagedStore
import SQLite

/// Whether the objects that a mapping model, a recipe or a policy made fit their model.
///
/// What was wrong in the source already and only came along is no reason to refuse.
struct Validation {
  let step: MigrationStep
  let schemas: StepSchemas
  let connection: Connection
  /// What was found out about the result's rows already.
  var facts: ReadFacts?

  /// - Throws: ``CoreDataError`` of kind refused, code 134110, naming the property, the rows that
  ///   break its rule, and the ways out.
  func run() throws {
    let audits = schemas.destination.audits(in: "main.")
    for entity in step.destination.entities where !entity.isAbstract {
      guard let table = audits.table(of: entity.name) else { continue }
      let broken = try rules(of: table, audits).broken(
        in: "main.\(quoted(table.table)) t", where: "t.Z_ENT = \(table.entityID)", key: "t.Z_PK",
        on: connection)
      if let (rule, rows) = broken.first { throw rule.refusal(rows) }
    }
  }

  private func rules(of table: EntityTable, _ audits: LinkAudits) -> [DestinationRule] {
    let makers = step.mapping.mappings(toDestinations: [table.entity])
    var rules = DestinationRule.refusing(table, validatesAll: step.validatesAll) { entry in
      // What came over as it was is the source's own.
      let isCopied = makers.contains { $0.attribute(named: entry.attribute.name)?.source != nil }
      return AskedValue(
        sql: "t." + quoted(entry.column), nulls: facts?.nulls(in: entry.column, of: table),
        isComputed: !isCopied)
    }
    for index in rules.indices where rules[index].isOfMissingValue { excuse(&rules[index]) }
    for entry in table.relationships {
      let relationship = entry.relationship
      if var rule = DestinationRule.filled(entry, in: table, isValidated: step.validatesAll),
        entry.storage?.toOneColumn.flatMap({ facts?.nulls(in: $0, of: table) }) != 0
      {
        excuse(&rule)
        rules.append(rule)
      }
      if !relationship.isToMany, let audit = audits.audit(of: relationship.name, in: table.entity),
        facts?.isSound(audit) != true
      {
        rules.append(
          DestinationRule(
            entity: table.entity, property: relationship.name, conditions: [audit.isUnsound],
            message: "references to missing objects",
            hint: "Please report this: the mapping should have left them out.",
            former: { try former(relationship.name, of: table.entity, isEmpty: false) }))
      }
    }
    return rules
  }

  /// Refuses only what was not broken before; NSMigrationManager does not ask how it came about.
  func excuse(_ rule: inout DestinationRule) {
    // How a composite's elements are validated was not seen.
    guard let property = rule.property, !step.validatesAll || property.contains(".") else { return }
    let entity = rule.entity
    rule.former = { try former(property, of: entity, isEmpty: true) }
  }

  /// How many source objects break the rule of the property's counterpart, where that had the rule.
  func former(_ property: String, of entity: String, isEmpty: Bool) throws -> Int {
    let data = SourceData(store: schemas.store)
    var count = 0
    for entityMapping in step.mapping.mappings(toDestinations: [entity]) {
      guard let from = entityMapping.source else { continue }
      if let source = entityMapping.attribute(named: property)?.source,
        schemas.sourceModel.storedAttribute(named: source, of: from)?.isOptional == false,
        let column = data.column(of: source, in: from)
      {
        count += try data.count(from, where: ["\(column) IS NULL"])
      }
      guard let source = entityMapping.relationship(named: property)?.source,
        let before = schemas.sourceModel.relationship(named: source, of: from)
      else { continue }
      if isEmpty {
        guard !before.isOptional, let empty = data.isEmpty(source, of: from) else { continue }
        count += try data.count(from, where: [empty])
      } else if let unsound = data.leadsNowhere(source, of: from) {
        count += try data.count(from, where: [unsound])
      }
    }
    return count
  }
}

/// What every row `t` of `main` must have.
extension DestinationRule {
  /// What refuses a result, of its attributes; what only a save asks for is left out.
  static func refusing(
    _ table: EntityTable, validatesAll: Bool = false,
    _ value: (EntityTable.AttributeColumn) -> AskedValue = {
      AskedValue(column: "t." + quoted($0.column))
    }
  ) -> [DestinationRule] {
    table.attributes.flatMap {
      all(of: $0.attribute, in: table.entity, value($0), validatesAll: validatesAll)
    }.filter { !$0.isWarning }
  }

  /// An object, in a mandatory relationship; `nil` for any other.
  static func filled(
    _ entry: EntityTable.RelationshipColumns, in table: EntityTable, isValidated: Bool = false
  ) -> DestinationRule? {
    guard entry.relationship.emptiness == .refused,
      let isEmpty = entry.storage?.isEmpty("t", unindexedIn: "main.")
    else { return nil }
    return .objects(
      in: entry.relationship, of: table.entity, missing: [isEmpty], isValidated: isValidated)
  }
}

extension Validation {
  /// Objects that policies made equal under a uniqueness constraint, before an index meets them.
  ///
  /// - Throws: ``CoreDataError`` of kind refused, code 134111, naming the properties and the rows.
  func checkConstraints() throws {
    for entity in step.destination.entities {
      for constraint in entity.uniquenessConstraints {
        try check(constraint, of: entity.name)
      }
    }
  }

  private func check(_ constraint: [String], of entity: String) throws {
    let schema = schemas.destination
    let columns = constraint.compactMap { schema.column(of: $0, in: entity) }.map { quoted($0) }
    guard columns.count == constraint.count, let table = schema.table(of: entity)?.name else {
      return
    }
    let numbers = schema.model.subtree(of: entity).compactMap { schema.numbers[$0] }
      .map(String.init).joined(separator: ", ")
    let select = "SELECT * FROM main.\(quoted(table)) WHERE Z_ENT IN (\(numbers))"
    guard let found = try Duplicates(of: select, by: columns, entity: entity, on: connection)
    else { return }
    throw DestinationRule(
      entity: entity, property: constraint.joined(separator: ", "), conditions: [],
      code: .migrationConstraintViolation, message: "duplicates under a uniqueness constraint",
      hint: "Let the policy make one object of those that are equal, or leave the constraint out."
    ).refusal(found.rows)
  }
}

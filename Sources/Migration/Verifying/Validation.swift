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
    var rules: [DestinationRule] = []
    let makers = step.mapping.mappings(toDestinations: [table.entity])
    for entry in table.attributes {
      let attribute = entry.attribute
      let column = "t." + quoted(entry.column)
      if var rule = DestinationRule.filled(entry, in: table),
        facts?.nulls(in: entry.column, of: table) != 0
      {
        ask(&rule)
        rules.append(rule)
      }
      if step.validatesAll, !attribute.isDerived, !attribute.name.contains(".") {
        rules += SavingRule.all(of: attribute, column).map {
          .saving($0, in: attribute.name, of: table.entity, isRefused: true)
        }
      }
      // What came over as it was is the source's own.
      let isCopied = makers.contains { $0.attribute(named: attribute.name)?.source != nil }
      if !isCopied,
        let rule = DestinationRule.type(of: attribute, in: table.entity, value: column)
      {
        rules.append(rule)
      }
    }
    for entry in table.relationships {
      let relationship = entry.relationship
      if var rule = DestinationRule.filled(entry, in: table),
        entry.storage?.toOneColumn.flatMap({ facts?.nulls(in: $0, of: table) }) != 0
      {
        ask(&rule)
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

  /// Makes a rule of the one who asks: of what a mapping model made NSMigrationManager does, with the code
  /// of a save; else only what was not broken before is refused.
  func ask(_ rule: inout DestinationRule) {
    // How a composite's elements are validated was not seen.
    guard !step.validatesAll || rule.property?.contains(".") == true else {
      let isToMany =
        rule.property.flatMap { step.destination.relationship(named: $0, of: rule.entity) }?
        .isToMany
      rule.code =
        isToMany == true
        ? .validationRelationshipLacksMinimumCount : .validationMissingMandatoryProperty
      return
    }
    let (entity, property) = (rule.entity, rule.property)
    rule.former = { try property.map { try former($0, of: entity, isEmpty: true) } ?? 0 }
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
  /// A value, in a mandatory attribute; `nil` for any other.
  static func filled(
    _ entry: EntityTable.AttributeColumn, in table: EntityTable
  ) -> DestinationRule? {
    guard !entry.attribute.isOptional, !entry.attribute.isDerived else { return nil }
    return .value(
      of: entry.attribute.name, in: table.entity, missing: ["t.\(quoted(entry.column)) IS NULL"],
      hint:
        "Give the attribute a default value, compute one with coalesce(…, …), or make it optional.")
  }

  /// An object, in a mandatory relationship; `nil` for any other.
  static func filled(
    _ entry: EntityTable.RelationshipColumns, in table: EntityTable
  ) -> DestinationRule? {
    guard entry.relationship.emptiness == .refused,
      let isEmpty = entry.storage?.isEmpty("t", unindexedIn: "main.")
    else { return nil }
    return .object(in: entry.relationship.name, of: table.entity, missing: [isEmpty])
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

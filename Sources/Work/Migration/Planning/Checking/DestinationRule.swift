import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// Something that a model asks of every row: one list for a plan, which reports what breaks it, for a run and
/// its stages, which refuse it, and for doctor, to whom a store is its own destination.
package struct DestinationRule {
  /// What is known of the rows that break it, without its conditions.
  enum Answer {
    case count(Int)
    case rows(FoundRows)
  }

  package let entity: String
  package let property: String?
  /// SQL that is true, each, of a row that breaks it; none: of every row.
  var conditions: [String]
  /// The error of Core Data's that it is.
  package var code = CoreDataError.Code.migration
  /// What is wrong, as a clause.
  private(set) package var message: String
  private(set) var hint: String
  /// Whether the migration runs all the same.
  package var isWarning = false
  /// NSPredicate text that takes the rows that break it among those of the source's entity.
  var predicate: String?
  var answer: Answer?
  /// Whether it is about values that are of another type than their attribute.
  private(set) package var isOfType = false
  /// Whether it is about an attribute without a value.
  private(set) var isOfMissingValue = false
  /// Rows that broke it in the source already: those only came along, and are no reason to refuse.
  var former: () throws -> Int = { 0 }
  /// Whether these are reported.
  var tellsFormer = false

  /// Most sums in a SELECT: SQLite takes 2000 columns.
  fileprivate static let most = 200

  /// SQL that is true of a row that breaks it.
  package var condition: String { conditions.isEmpty ? "1" : conditions.allTrue }

  /// What is reported about a mandatory relationship that was empty before, and mandatory then too.
  var excused: DestinationRule {
    var rule = self
    rule.code = .validationMissingMandatoryProperty
    rule.message = "missing objects on a relationship that was mandatory before"
    rule.hint = "These rows cannot be saved as they are: set the relationship in the app."
    rule.isWarning = true
    return rule
  }

  /// What is reported about rows that break it.
  func check(_ rows: FoundRows) -> DataCheck {
    DataCheck(
      code: code, entity: entity, property: property, rows: rows.count, first: rows.first,
      message: message, hint: hint, isWarning: isWarning, predicate: predicate, asked: conditions)
  }

  /// What refuses a result in which rows break it.
  func refusal(_ rows: FoundRows) -> CoreDataError {
    check(rows).refusal(advice: "\(hint) The store is unchanged.")
  }
}

/// What rows have in an attribute, as far as rules ask for it.
package struct AskedValue {
  /// SQL; `nil` where nothing is written.
  var sql: String?
  /// How many rows have nothing there, where that is known.
  var nulls: Int?
  /// The source's attribute that it is a copy of.
  var former: Attribute?
  /// Whether it may be of another type than the attribute, as what an expression gives.
  var isComputed = false
  /// NSPredicate text that takes the rows that have nothing.
  var predicate: String?
}

extension AskedValue {
  /// What rows have in the attribute's own column.
  package init(column sql: String, isComputed: Bool = false) {
    (self.sql, self.isComputed) = (sql, isComputed)
  }
}

extension DestinationRule {
  /// All that a model asks of an attribute's values.
  ///
  /// A derived attribute is asked nothing: its triggers compute it, after a save's validation.
  ///
  /// - Parameter validatesAll: whether every object is validated, as NSMigrationManager does.
  package static func all(
    of attribute: Attribute, in entity: String, _ value: AskedValue, validatesAll: Bool = false
  ) -> [DestinationRule] {
    guard !attribute.isDerived else { return [] }
    // How a composite's elements are validated was not seen.
    let isRefused = validatesAll && !attribute.name.contains(".")
    var rules: [DestinationRule] = []
    if !attribute.isOptional, value.nulls != 0 {
      let missing = value.sql.map { ["\($0) IS NULL"] } ?? []
      var rule =
        !isRefused && value.former?.isOptional == false
        ? formerGap(in: attribute.name, of: entity, missing: missing)
        : self.value(
          of: attribute.name, in: entity, missing: missing,
          filling: value.isComputed
            ? "compute one with coalesce(…, …), or make it optional"
            : "make it optional, or fill those rows first")
      if isRefused { rule.code = .validationMissingMandatoryProperty }
      rule.isOfMissingValue = true
      rule.predicate = value.predicate
      rule.answer = value.nulls.map { .count($0) }
      rules.append(rule)
    }
    guard let sql = value.sql else { return rules }
    rules += SavingRule.all(
      of: attribute, sql, since: isRefused ? nil : value.former?.validation
    ).map { saving($0, in: attribute.name, of: entity, isRefused: isRefused) }
    if value.isComputed {
      rules += [self.type(of: attribute, in: entity, value: sql)].compactMap { $0 }
    }
    return rules
  }

  /// Mandatory composite attributes that have a value, and their mandatory elements.
  ///
  /// - Parameter sql: SQL of an element, by its path; `nil` for NULL.
  package static func composites(
    of entity: String, in model: Model, _ sql: (String) -> String?
  ) -> [DestinationRule] {
    model.mandatoryComposites(of: entity).map {
      composite($0, of: entity, missing: [$0.isMissing(sql)])
    }
  }

  /// A link references an object; one that does not is taken over as it is.
  static func dangling(
    _ relationship: String, of entity: String, where condition: String
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: relationship, conditions: [condition],
      code: .managedObjectReferentialIntegrity,
      message: "references to missing objects",
      hint: "Core Data fails to fulfill a fault there (133000): empty them in the app.",
      isWarning: true)
  }

  /// No object is of an entity that is abstract now.
  static func concrete(_ entity: String) -> DestinationRule {
    DestinationRule(
      entity: entity, property: nil, conditions: [],
      message: "objects of an entity that became abstract",
      hint: "Keep \(entity) concrete, or delete its objects first.")
  }

  /// A mandatory attribute has a value.
  private static func value(
    of attribute: String, in entity: String, missing conditions: [String], filling: String
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: attribute, conditions: conditions,
      message: "missing values on a mandatory destination attribute",
      hint: "Give \(entity).\(attribute) a default value, \(filling).")
  }

  /// A mandatory attribute that was mandatory before, and empty all the same: reported.
  private static func formerGap(
    in attribute: String, of entity: String, missing conditions: [String]
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: attribute, conditions: conditions,
      code: .validationMissingMandatoryProperty,
      message: "missing values on an attribute that was mandatory before",
      hint:
        "These rows cannot be saved as they are: give \(entity).\(attribute) a default value, or set it in the app.",
      isWarning: true)
  }

  /// A value keeps a rule that a save asks for.
  ///
  /// - Parameter isRefused: whether the migration asks for it, too.
  private static func saving(
    _ rule: SavingRule, in attribute: String, of entity: String, isRefused: Bool = false
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: attribute, conditions: [rule.condition], code: rule.code,
      message: "values \(rule.clause)",
      hint: isRefused
        ? "Change those values first, compute others, or loosen the rule: with a mapping model every object is validated."
        : "Change those values, or loosen the rule: such objects cannot be saved.",
      isWarning: !isRefused)
  }

  /// A to-many that has objects has as many as it must, and no more than it may.
  static func count(
    of relationship: Relationship, of entity: String, isTooMany: Bool
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: relationship.name, conditions: [],
      code: isTooMany
        ? .validationRelationshipExceedsMaximumCount : .validationRelationshipLacksMinimumCount,
      message: isTooMany
        ? "more objects than the maximum count \(relationship.maxCount)"
        : "fewer objects than the minimum count \(relationship.minCount)",
      hint:
        "Change those links first, or loosen the count: with a mapping model every object is validated."
    )
  }

  /// A mandatory relationship has as many objects as it must, whatever way it is kept.
  ///
  /// - Parameter isValidated: whether NSMigrationManager looks at the objects, whose error it is then.
  static func objects(
    in relationship: Relationship, of entity: String, missing conditions: [String] = [],
    isValidated: Bool = false
  ) -> DestinationRule {
    let isTold = relationship.emptiness == .told
    let isCounted = relationship.isToMany && relationship.minCount > 0
    return DestinationRule(
      entity: entity, property: relationship.name, conditions: conditions,
      code: isTold || isValidated && !relationship.isToMany
        ? .validationMissingMandatoryProperty
        : isValidated ? .validationRelationshipLacksMinimumCount : .migration,
      message: isCounted
        ? "no objects in a to-many relationship that must have \(relationship.minCount)"
        : relationship.isToMany
          ? "no objects in a mandatory to-many relationship"
          : "missing objects on a mandatory destination relationship",
      hint: isTold
        ? "Such objects cannot be saved until the app gives them some."
        : "Make \(entity).\(relationship.name) optional\(isCounted ? ", give it no minimum count" : ""), set it in those rows first, or delete those objects too.",
      isWarning: isTold)
  }

  /// A mandatory composite attribute has a value.
  private static func composite(
    _ composite: MandatoryComposite, of entity: String, missing conditions: [String] = []
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: composite.name, conditions: conditions,
      code: .validationMissingMandatoryProperty,
      message: composite.message, hint: composite.hint, isWarning: true)
  }

  /// What an expression gives is of the attribute's type; `nil` for a type that is not stored.
  ///
  /// - Parameter value: SQL of what goes into the attribute's column, or is in it.
  private static func type(
    of attribute: Attribute, in entity: String, value: String
  ) -> DestinationRule? {
    guard attribute.type.storageClasses != nil else { return nil }
    var rule = DestinationRule(
      entity: entity, property: attribute.name,
      conditions: ["strata_misplaced(\(value), \(attribute.type.rawValue))"],
      message: "values that are not of type \(attribute.type.name)",
      hint: "Let the expression give a value of that type.")
    rule.isOfType = true
    return rule
  }
}

extension [DestinationRule] {
  /// Those that rows break, with the rows; one pass over all rows shows which are broken at all.
  ///
  /// - Parameters:
  ///   - table: what is looked at: a table or a SELECT with its alias.
  ///   - condition: what is true of the rows that are meant.
  ///   - key: SQL of an object's key.
  ///   - objects: the entity that the rows are of, where that is not the rule's.
  func broken(
    in table: String, where condition: String = "1", key: String, of objects: String? = nil,
    on connection: Connection
  ) throws -> [(rule: DestinationRule, rows: FoundRows)] {
    let open = indices.filter { self[$0].answer == nil }
    var counts: [Int: Int] = [:]
    // One alone may be answered from an index.
    if open.count > 1 {
      for start in stride(from: 0, to: open.count, by: DestinationRule.most) {
        let some = open[start..<Swift.min(start + DestinationRule.most, open.count)]
        let sums = some.map { "sum(\(self[$0].condition))" }.joined(separator: ", ")
        let row = try connection.rows("SELECT \(sums) FROM \(table) WHERE \(condition)").first
        for (index, sum) in zip(some, row ?? []) { counts[index] = Int(clamping: sum.integer ?? 0) }
      }
    }
    return try enumerated().compactMap {
      index, rule -> (rule: DestinationRule, rows: FoundRows)? in
      var count = counts[index]
      if case .count(let known) = rule.answer { count = known }
      if let count, try count == 0 || !rule.tellsFormer && count <= rule.former() { return nil }
      let rows: FoundRows
      if case .rows(let found) = rule.answer {
        rows = found
      } else {
        rows = try FoundRows(
          "FROM \(table) WHERE \(condition) AND \(rule.condition)", key: key,
          of: objects ?? rule.entity, on: connection, count: count)
      }
      guard rows.count > 0 else { return nil }
      if rule.tellsFormer || count == nil, try rows.count <= rule.former() {
        return rule.tellsFormer ? (rule.excused, rows) : nil
      }
      return (rule, rows)
    }
  }
}

extension SourceData {
  /// What is reported of rules that rows `t` of exactly one entity break.
  func checks(_ rules: [DestinationRule], of entity: String) throws -> [DataCheck] {
    guard let table = store.table(of: entity), store.database.contains(table.table) else {
      return []
    }
    return try store.reading {
      try rules.broken(
        in: "\(quoted(table.table)) t", where: table.ownRows("t") ?? "1", key: "t.Z_PK",
        of: entity, on: store.connection
      ).map { $0.rule.check($0.rows) }
    }
  }
}

/// What becomes of objects whose mandatory relationship ends up empty: one rule for every kind of
/// mapping, before a run and after it.
package enum EmptyRelationship {
  /// The relationship may be empty.
  case allowed
  /// The migration runs, and the plan lists the objects: only a save in the app looks for it.
  ///
  /// Apple's engine lets a mandatory to-many begin empty (store2-82-0 of the fixtures, migrated from
  /// 2-73-0, has 21 conversations without participantRoles), and apps' stores are full of them.
  case told
  /// The migration is refused.
  case refused
}

extension Relationship {
  /// What becomes of objects that have nothing in it.
  package var emptiness: EmptyRelationship {
    if isOptional { return .allowed }
    return isToMany && minCount == 0 ? .told : .refused
  }
}

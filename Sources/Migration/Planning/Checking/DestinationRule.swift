import ManagedModel
import ManagedStore
import SQLite

/// Something that the destination model asks of every row: the same before a run, where it is reported,
/// and after one, where it refuses the result.
struct DestinationRule {
  let entity: String
  let property: String?
  /// SQL that is true, each, of a row that breaks it; none: of every row.
  var conditions: [String]
  var code = CoreDataError.Code.migration
  let message: String
  let hint: String
  /// Whether the migration runs all the same.
  var isWarning = false
  /// NSPredicate text that takes the rows that break it among those of the source's entity.
  var predicate: String?
  /// Rows that broke it in the source already: those only came along, and are no reason to refuse.
  var former: () throws -> Int = { 0 }

  /// What is reported about rows that break it.
  func check(_ rows: FoundRows) -> DataCheck {
    DataCheck(
      code: code, entity: entity, property: property, rows: rows.count, first: rows.first,
      message: message, hint: hint, isWarning: isWarning, predicate: predicate, asked: conditions)
  }

  /// What refuses a result in which rows break it.
  func refusal(_ rows: FoundRows) -> CoreDataError {
    check(rows).refusal(advice: "\(hint) The store is as it was.")
  }
}

extension DestinationRule {
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
  static func value(
    of attribute: String, in entity: String, missing conditions: [String], hint: String
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: attribute, conditions: conditions,
      message: "missing values on a mandatory destination attribute", hint: hint)
  }

  /// A mandatory attribute that was mandatory before, and empty all the same: reported.
  static func formerGap(
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
  static func saving(
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

  /// A mandatory relationship references an object, as far as that is asked of a row.
  static func object(
    in relationship: String, of entity: String, missing conditions: [String] = []
  ) -> DestinationRule {
    DestinationRule(
      entity: entity, property: relationship, conditions: conditions,
      message: "missing objects on a mandatory destination relationship",
      hint:
        "Delete those objects too, change the destination of the relationship, or make it optional."
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
    return DestinationRule(
      entity: entity, property: relationship.name, conditions: conditions,
      code: isTold
        ? .validationMissingMandatoryProperty
        : !isValidated
          ? .migration
          : relationship.isToMany
            ? .validationRelationshipLacksMinimumCount : .validationMissingMandatoryProperty,
      message: EmptyRelationship.message(relationship),
      hint: EmptyRelationship.hint(relationship, of: entity), isWarning: isTold)
  }

  /// A mandatory composite attribute has a value.
  static func composite(
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
  static func type(
    of attribute: Attribute, in entity: String, value: String
  ) -> DestinationRule? {
    guard attribute.type.storageClasses != nil else { return nil }
    return DestinationRule(
      entity: entity, property: attribute.name,
      conditions: ["strata_misplaced(\(value), \(attribute.type.rawValue))"],
      message: "values that are not of type \(attribute.type.name)",
      hint: "Let the expression give a value of that type.")
  }
}

extension [DestinationRule] {
  /// Those that rows break, with the rows; one pass over all rows shows which are broken at all.
  ///
  /// - Parameters:
  ///   - table: what is looked at: a table or a SELECT with its alias.
  ///   - condition: what is true of the rows that are meant.
  ///   - key: SQL of an object's key.
  func broken(
    in table: String, where condition: String = "1", key: String, on connection: Connection
  ) throws -> [(rule: DestinationRule, rows: FoundRows)] {
    guard !isEmpty else { return [] }
    let broken = map { $0.conditions.isEmpty ? "1" : $0.conditions.allTrue }
    let sums = broken.map { "sum(\($0))" }.joined(separator: ", ")
    let counts = try connection.rows("SELECT \(sums) FROM \(table) WHERE \(condition)").first ?? []
    return try zip(zip(self, broken), counts).compactMap { rule, count in
      let (rule, broken) = rule
      guard let count = count.integer, count > 0, try count > rule.former() else { return nil }
      let rows = try FoundRows(
        "FROM \(table) WHERE \(condition) AND \(broken)", key: key, of: rule.entity,
        on: connection, count: Int(count))
      return (rule, rows)
    }
  }
}

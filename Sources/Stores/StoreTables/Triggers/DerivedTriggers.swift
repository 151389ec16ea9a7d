import ManagedModel

/// The triggers that keep up one attribute.
package struct TriggerGroup: Sendable, Equatable {
  /// The entity that declares the attribute.
  package var entity: String
  /// The attribute's name.
  package var attribute: String
  /// Empty where no trigger is known for what the attribute asks.
  package var statements: [SchemaStatement]
  /// What the names of the group's triggers begin with; `*` stands for the trigger's own table.
  var prefix: String

  /// Whether a trigger of that name on that table is one of the group's, in any framework's wording.
  package func owns(_ name: String, on table: String) -> Bool {
    name.hasPrefix(
      prefix.split(separator: "*", omittingEmptySubsequences: false)
        .joined(separator: table))
  }
}

extension StoreSchema {
  /// Every trigger that Core Data makes for the model's attributes and R-trees.
  package var triggerStatements: [SchemaStatement] {
    triggerGroups.flatMap(\.statements) + rtreeIndexes.flatMap(\.triggers)
  }

  /// The triggers of derived attributes, and of those that Apple's own apps count with.
  package var triggerGroups: [TriggerGroup] {
    model.entitiesInStoreOrder.flatMap { entity in
      entity.attributes.sortedByBytes(\.name).compactMap { attribute in
        derivedTriggers(attribute, of: entity.name) ?? countingTriggers(attribute, of: entity.name)
      }
    }
  }

  private func derivedTriggers(_ attribute: Attribute, of entity: String) -> TriggerGroup? {
    guard let derivation = attribute.derivation, let table = table(of: entity),
      let column = table.column(.attribute(entity: entity, name: attribute.name))
    else { return nil }
    let writer = DerivedTriggers(
      schema: self, entity: entity, attribute: attribute.name, table: table.name,
      column: Self.name(column.name))
    return TriggerGroup(
      entity: entity, attribute: attribute.name,
      statements: DerivedValue(derivation).map { writer.statements($0) } ?? [],
      prefix: "Z_DA_*_\(entity)_\(attribute.name)_")
  }
}

/// Writes the triggers of one derived attribute, in Core Data's words and order.
///
/// Stores show those over a to-one and those of a count over a to-many with a to-one inverse. The other
/// forms are known from Core Data's rules, and no store at hand shows them. The functions whose names
/// begin with `NSCoreData` are Core Data's own: it defines them on each of its connections. A filtering
/// predicate is in no trigger.
struct DerivedTriggers {
  let schema: StoreSchema
  let entity: String
  let attribute: String
  /// Table of the attribute, as it is called.
  let table: String
  /// Column of the attribute, as SQL.
  let column: String

  private var own: String { StoreSchema.name(table) }

  /// - Returns: none for what Core Data has no trigger for: an average, a value over a many-to-many, a
  ///   path of more than two steps. It does not open a store of such a model.
  func statements(_ value: DerivedValue) -> [SchemaStatement] {
    switch value {
    case .now: return ofOwn("Z_OPT", "NSCoreDataNow()")
    case .value(let path, let function):
      if path.count == 1 {
        guard let read = attributeColumn(path[0], of: entity) else { return [] }
        return ofOwn(read, Self.applied(function, to: "NEW.\(read)"))
      }
      return path.count == 2 ? overToOne(path[0], path[1], function) : []
    case .count(let path): return path.count == 1 ? counting(path[0]) : []
    case .aggregate(let aggregate, let path):
      guard path.count == 2, let many = objects(of: path[0]),
        let read = attributeColumn(path[1], of: many.entity)
      else { return [] }
      switch aggregate {
      case .sum: return summing(many, read)
      case .min: return bounding(many, read, sign: "<", function: "MIN")
      case .max: return bounding(many, read, sign: ">", function: "MAX")
      case .average: return []
      }
    }
  }

  private static func applied(_ function: DerivedValue.Function?, to value: String) -> String {
    switch function {
    case nil: value
    case .canonical: "NSCoreDataCanonical(\(value))"
    case .uppercase: "NSCoreDataToUpper(\(value))"
    case .lowercase: "NSCoreDataToLower(\(value))"
    }
  }

  private func attributeColumn(_ name: String, of entity: String) -> String? {
    guard schema.model.attribute(named: name, of: entity) != nil else { return nil }
    return schema.column(of: name, in: entity).map { StoreSchema.name($0) }
  }

  // MARK: Forms

  /// A value of the object's own row.
  private func ofOwn(_ watched: String, _ value: String) -> [SchemaStatement] {
    [
      trigger(
        "INSERT", on: table, "INSERT", when: "(NEW.\(watched) NOT NULL)",
        set(value, "Z_PK = NEW.Z_PK"), inserted("Z_PK = NEW.Z_PK")),
      trigger(
        "UPDATE", on: table, "UPDATE OF \(watched)", set(value, "Z_PK = NEW.Z_PK"),
        updated("Z_PK = NEW.Z_PK")),
    ]
  }

  /// A value of the object that a to-one references.
  private func overToOne(
    _ relationship: String, _ name: String, _ function: DerivedValue.Function?
  ) -> [SchemaStatement] {
    guard let other = schema.model.relationship(named: relationship, of: entity), !other.isToMany,
      let storage = schema.storage(of: relationship, in: entity), storage.kind == .toOne,
      let objects = schema.table(of: other.destination)?.name,
      let read = attributeColumn(name, of: other.destination)
    else { return [] }
    let key = StoreSchema.name(storage.destination)
    let value = Self.applied(function, to: read)
    let new = Self.applied(function, to: "NEW.\(read)")
    let looked = "(SELECT \(value) FROM \(StoreSchema.name(objects)) WHERE Z_PK = NEW.\(key))"
    let mine = "Z_PK = NEW.Z_PK" + (newRange.map { " AND \($0)" } ?? "")
    let led = "\(key) = NEW.Z_PK" + ofOwnKind
    return [
      trigger("SOURCE_INSERT", on: table, "INSERT", set(looked, mine), inserted(mine)),
      trigger(
        "SOURCE_UPDATE", on: table, "UPDATE OF \(key)", when: newRange,
        set(looked, "Z_PK = NEW.Z_PK"), updated("Z_PK = NEW.Z_PK")),
      trigger("PARAMETER_INSERT", on: objects, "INSERT", set(new, led), inserted(led)),
      trigger("PARAMETER_UPDATE", on: objects, "UPDATE OF \(read)", set(new, led), updated(led)),
    ]
  }

  /// Objects of a to-many that keep the owner's key in their rows.
  private struct Objects {
    var entity: String
    var table: String
    /// Column of the owner's key, as SQL.
    var key: String
  }

  private func objects(of relationship: String) -> Objects? {
    guard let many = schema.model.relationship(named: relationship, of: entity), many.isToMany,
      let storage = schema.storage(of: relationship, in: entity), storage.isInDestinationRow
    else { return nil }
    return Objects(
      entity: many.destination, table: storage.table, key: StoreSchema.name(storage.owner))
  }

  private func counting(_ relationship: String) -> [SchemaStatement] {
    if let many = objects(of: relationship) {
      return tallying(
        many, watched: many.key, plus: "+ 1", minus: "- 1", total: "COUNT(\(many.key))")
    }
    guard let storage = schema.storage(of: relationship, in: entity),
      storage.kind == .join || storage.kind == .reflexive
    else { return [] }
    let (links, key) = (storage.table, StoreSchema.name(storage.owner))
    func row(_ row: String) -> String { "Z_PK = \(row).\(key)\(ofOwnKind)" }
    return [
      trigger(
        "PARAMETER_INSERT", on: links, "INSERT", set("IFNULL(\(column), 0) + 1", row("NEW")),
        updated(row("NEW"))),
      trigger(
        "PARAMETER_DELETE", on: links, "DELETE", set("\(column) - 1", row("OLD")),
        updated(row("OLD"))),
      trigger(
        "SOURCE_INSERT", on: table, "INSERT", when: newRange,
        set(
          "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(StoreSchema.name(links)) WHERE \(key) = NEW.Z_PK)",
          "Z_PK = NEW.Z_PK"), updated("Z_PK = NEW.Z_PK")),
    ]
  }

  private func summing(_ many: Objects, _ read: String) -> [SchemaStatement] {
    tallying(
      many, watched: "\(many.key), \(read)", plus: "+ IFNULL(NEW.\(read), 0)",
      minus: "- IFNULL(OLD.\(read), 0)", total: "SUM(\(read))")
  }

  /// A number that goes up and down with each object.
  private func tallying(
    _ many: Objects, watched: String, plus: String, minus: String, total: String
  ) -> [SchemaStatement] {
    func parameter(
      _ suffix: String, _ event: String, _ row: String, _ value: String
    ) -> SchemaStatement {
      let mine = "Z_PK = \(row).\(many.key)\(ofOwnKind)"
      return trigger(
        "PARAMETER_" + suffix, on: many.table, event, when: "(\(row).\(many.key) NOT NULL)",
        set(value, mine), updated(mine))
    }
    return [
      parameter("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) \(plus)"),
      parameter("UPDATE_INCREMENT", "UPDATE OF \(watched)", "NEW", "\(column) \(plus)"),
      parameter("UPDATE_DECREMENT", "UPDATE OF \(watched)", "OLD", "\(column) \(minus)"),
      parameter("DELETE", "DELETE", "OLD", "\(column) \(minus)"),
      trigger(
        "SOURCE_INSERT", on: table, "INSERT", when: newRange,
        set(
          "(SELECT IFNULL(\(total), 0) FROM \(StoreSchema.name(many.table)) WHERE \(many.key) = NEW.Z_PK)",
          "Z_PK = NEW.Z_PK"), inserted("Z_PK = NEW.Z_PK")),
    ]
  }

  /// The least or the greatest of the objects' values.
  private func bounding(
    _ many: Objects, _ read: String, sign: String, function: String
  ) -> [SchemaStatement] {
    let (key, objects) = (many.key, StoreSchema.name(many.table))
    func row(_ row: String) -> String { "Z_PK = \(row).\(key)\(ofOwnKind)" }
    func known(_ row: String, _ more: String = "") -> String {
      // A bare Z_ENT would name no column here, and every write to the table would fail.
      let kind = range(of: many.entity, "\(row).Z_ENT").map { " AND \($0)" } ?? ""
      return "(\(row).\(key) NOT NULL AND \(row).\(read) NOT NULL\(more)\(kind))"
    }
    let looked = "(SELECT \(function)(\(read)) FROM \(objects) WHERE \(key) = OLD.\(key))"
    let again = set(looked, "\(row("OLD")) AND OLD.\(read) \(sign)= \(column)")
    let raised = set(
      "NEW.\(read)", "\(row("NEW")) AND (\(column) IS NULL OR NEW.\(read) \(sign) \(column))")
    let unknown = "(\(column) IS NULL OR OLD.\(read) \(sign)= \(column))"
    let all = [
      trigger(
        "INSERT", on: many.table, "INSERT", when: known("NEW"), raised,
        updated("\(row("NEW")) AND (\(column) IS NULL OR NEW.\(read) \(sign)= \(column))")),
      trigger(
        "UPDATE_SET", on: many.table, "UPDATE OF \(key), \(read)", when: known("NEW"), again,
        updated("\(row("OLD")) AND OLD.\(read) \(sign)= \(column)"), raised,
        updated("\(row("NEW")) AND NEW.\(read) \(sign)= \(column)")),
      trigger(
        "UPDATE_UNSET", on: many.table, "UPDATE OF \(key), \(read)",
        when: known("OLD", " AND (NEW.\(key) IS NULL OR NEW.\(read) IS NULL)"), again,
        updated("\(row("OLD")) AND \(unknown)")),
      trigger(
        "DELETE", on: many.table, "DELETE", when: known("OLD"), again,
        updated("\(row("OLD")) AND \(unknown)")),
      trigger(
        "INSERT", on: table, "INSERT", when: newRange,
        set(
          "(SELECT \(function)(\(read)) FROM \(objects) WHERE \(key) = NEW.Z_PK)",
          "Z_PK = NEW.Z_PK"), inserted("Z_PK = NEW.Z_PK")),
    ]
    // Within one table the first and the last have one name.
    return many.table == table ? all.dropLast() : all
  }

  // MARK: Parts

  private func set(_ value: String, _ rows: String) -> String {
    "UPDATE \(own) SET \(column) = \(value) WHERE \(rows);"
  }

  private func inserted(_ rows: String) -> String {
    told("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", rows)
  }

  private func updated(_ rows: String) -> String {
    told("NSCoreDataDATriggerUpdatedAffectedObjectValue", rows)
  }

  /// By this Core Data learns which objects to refresh.
  private func told(_ function: String, _ rows: String) -> String {
    """
    SELECT \(function)(\(StoreSchema.text(table)), Z_ENT, Z_PK, \(StoreSchema.text(attribute)), \
    \(column)) FROM \(own) WHERE \(rows);
    """
  }

  private func trigger(
    _ suffix: String, on table: String, _ event: String, when condition: String? = nil,
    _ statements: String...
  ) -> SchemaStatement {
    let name = "Z_DA_\(table)_\(entity)_\(attribute)_\(suffix)"
    let when = condition.map { " WHEN \($0)" } ?? ""
    return SchemaStatement(
      name: name, table: table,
      sql: """
        CREATE TRIGGER \(StoreSchema.name(name)) AFTER \(event) ON \(StoreSchema.name(table)) \
        FOR EACH ROW\(when) BEGIN \(statements.joined(separator: " ")) END
        """)
  }

  /// What is true of the row that a trigger was called for when it is of the entity; `nil` for a root.
  private var newRange: String? { range(of: entity, "NEW.Z_ENT") }

  /// Other entities share the table of one that is no root.
  private var ofOwnKind: String { range(of: entity, "Z_ENT").map { " AND \($0)" } ?? "" }

  /// The entity and those below it have one number after the other.
  private func range(of entity: String, _ number: String) -> String? {
    guard schema.model.entity(named: entity)?.parent != nil else { return nil }
    let numbers = schema.model.subtree(of: entity).compactMap { schema.numbers[$0] }
    guard let first = numbers.min(), let last = numbers.max() else { return nil }
    return first == last ? "\(first) = \(number)" : "\(first) <= \(number) AND \(number) <= \(last)"
  }
}

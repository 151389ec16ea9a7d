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

/// Writes the triggers of one derived attribute.
///
/// Those of a count over a to-many with a to-one inverse are as stores show them, byte for byte, and
/// that of `now()` on saving as an app's log shows it. The others are *assumed*: sound SQL that
/// computes the value anew from the rows, under names of the same pattern.
struct DerivedTriggers {
  let schema: StoreSchema
  let entity: String
  let attribute: String
  /// Table and column of the attribute.
  let table: String
  let column: String

  private var own: String { StoreSchema.name(table) }

  func statements(_ value: DerivedValue) -> [SchemaStatement] {
    switch value {
    case .now:
      let set = "NSCoreDataNow()"
      return [
        trigger("INSERT", on: table, "INSERT", set, isInsertion: true),
        trigger("UPDATE", on: table, "UPDATE OF Z_OPT", set),
      ]
    case .value(let path, let function):
      // Core Data has SQL functions of its own for text, whose names no store at hand shows, nor
      // how it follows a to-one: a trigger that calls what is not there would fail every save.
      guard path.count == 1, function == nil, let read = attributeColumn(path[0], of: entity)
      else { return [] }
      let set = "\(own).\(read)"
      return [
        trigger("INSERT", on: table, "INSERT", set, isInsertion: true),
        trigger("UPDATE", on: table, "UPDATE OF \(read)", set),
      ]
    case .count(let path):
      return path.count == 1 ? ofMany(path[0], "COUNT", read: nil) : []
    case .aggregate(let aggregate, let path):
      guard path.count == 2,
        let destination = schema.model.relationship(named: path[0], of: entity)?.destination,
        let read = attributeColumn(path[1], of: destination)
      else { return [] }
      return ofMany(path[0], aggregate.rawValue.uppercased(), read: read)
    }
  }

  /// A function of the objects, or of a column of theirs, that a relationship leads to.
  ///
  /// The text is for Core Data's own connection, which has none of our functions.
  private func ofMany(
    _ relationship: String, _ function: String, read: String?
  ) -> [SchemaStatement] {
    var value = "\(function)(\(read.map { "c." + $0 } ?? "*"))"
    if ["COUNT", "SUM"].contains(function) { value = "IFNULL(\(value), 0)" }
    guard let storage = schema.storage(of: relationship, in: entity) else { return [] }
    let (links, key) = (StoreSchema.name(storage.table), StoreSchema.name(storage.owner))
    if storage.isInDestinationRow {
      guard let read else { return counting(storage.table, key: key) }
      return ofObjects(
        storage.table, key: key, read: read,
        "(SELECT \(value) FROM \(links) c WHERE c.\(key) = \(own).Z_PK)")
    }
    let destination = schema.model.relationship(named: relationship, of: entity)?.destination
    guard storage.kind == .join, let objects = destination.flatMap({ schema.table(of: $0)?.name })
    else { return [] }
    let other = StoreSchema.name(storage.destination)
    let rows = read.map { _ in " JOIN \(StoreSchema.name(objects)) c ON c.Z_PK = j.\(other)" } ?? ""
    return ofLinks(
      objects, storage.table, owner: storage.owner, other: storage.destination, read: read,
      "(SELECT \(value) FROM \(links) j\(rows) WHERE j.\(key) = \(own).Z_PK)")
  }

  private func attributeColumn(_ name: String, of entity: String) -> String? {
    guard schema.model.attribute(named: name, of: entity) != nil else { return nil }
    return schema.column(of: name, in: entity).map { StoreSchema.name($0) }
  }

  /// The number of objects that keep the owner's key, counted up and down.
  private func counting(_ other: String, key: String) -> [SchemaStatement] {
    func parameter(
      _ suffix: String, _ event: String, _ row: String, _ set: String
    )
      -> SchemaStatement
    {
      trigger(
        "PARAMETER_" + suffix, on: other, event, set, when: "\(row).\(key) NOT NULL",
        where: "Z_PK = \(row).\(key)")
    }
    return [
      parameter("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
      parameter("UPDATE_INCREMENT", "UPDATE OF \(key)", "NEW", "\(column) + 1"),
      parameter("UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", "\(column) - 1"),
      parameter("DELETE", "DELETE", "OLD", "\(column) - 1"),
      trigger(
        "SOURCE_INSERT", on: table, "INSERT",
        "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(StoreSchema.name(other)) WHERE \(key) = NEW.Z_PK)",
        isInsertion: true),
    ]
  }

  /// A value over the objects that keep the owner's key.
  private func ofObjects(
    _ other: String, key: String, read: String, _ set: String
  ) -> [SchemaStatement] {
    [
      trigger("PARAMETER_INSERT", on: other, "INSERT", set, where: "Z_PK = NEW.\(key)"),
      trigger(
        "PARAMETER_UPDATE", on: other, "UPDATE OF \(key), \(read)", set,
        where: "Z_PK IN (NEW.\(key), OLD.\(key))"),
      trigger("PARAMETER_DELETE", on: other, "DELETE", set, where: "Z_PK = OLD.\(key)"),
      trigger("SOURCE_INSERT", on: table, "INSERT", set, isInsertion: true),
    ]
  }

  /// A count or a value over the objects at the other side of a join table.
  private func ofLinks(
    _ objects: String, _ join: String, owner: String, other: String, read: String?, _ set: String
  ) -> [SchemaStatement] {
    let (links, owner, other) = (
      StoreSchema.name(join), StoreSchema.name(owner), StoreSchema.name(other)
    )
    var made = [
      trigger("PARAMETER_INSERT", on: join, "INSERT", set, where: "Z_PK = NEW.\(owner)"),
      trigger("PARAMETER_DELETE", on: join, "DELETE", set, where: "Z_PK = OLD.\(owner)"),
      trigger("SOURCE_INSERT", on: table, "INSERT", set, isInsertion: true),
    ]
    if let read {
      func owners(_ row: String) -> String {
        "Z_PK IN (SELECT \(owner) FROM \(links) WHERE \(other) = \(row).Z_PK)"
      }
      made += [
        trigger("PARAMETER_INSERT", on: objects, "INSERT", set, where: owners("NEW")),
        trigger(
          "PARAMETER_UPDATE", on: objects, "UPDATE OF \(read)", set, where: owners("NEW")),
        trigger("PARAMETER_DELETE", on: objects, "DELETE", set, where: owners("OLD")),
      ]
    }
    return made
  }

  private func trigger(
    _ suffix: String, on table: String, _ event: String, _ value: String, when: String? = nil,
    where rows: String = "Z_PK = NEW.Z_PK", isInsertion: Bool = false
  ) -> SchemaStatement {
    let name = "Z_DA_\(table)_\(entity)_\(attribute)_\(suffix)"
    let function =
      isInsertion
      ? "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
      : "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    let condition = when.map { " WHEN (\($0))" } ?? ""
    let rows = rows + ofOwnKind
    return SchemaStatement(
      name: name, table: table,
      sql: """
        CREATE TRIGGER \(StoreSchema.name(name)) AFTER \(event) ON \(StoreSchema.name(table)) \
        FOR EACH ROW\(condition) BEGIN UPDATE \(own) SET \(column) = \(value) WHERE \(rows); \
        SELECT \(function)(\(StoreSchema.text(self.table)), Z_ENT, Z_PK, \(StoreSchema.text(attribute)), \(column)) \
        FROM \(own) WHERE \(rows); END
        """)
  }

  /// Other entities share the table of one that is no root.
  private var ofOwnKind: String {
    guard schema.model.entity(named: entity)?.parent != nil else { return "" }
    let numbers = schema.model.subtree(of: entity).compactMap { schema.numbers[$0] }
    return " AND Z_ENT IN (\(numbers.list))"
  }
}

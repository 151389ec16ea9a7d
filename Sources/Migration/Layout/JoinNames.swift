import ManagedModel
import ManagedStore

/// Relationships that a person chose to name their join table.
///
/// Within one entity the model does not tell which of the two relationships of a many-to-many names
/// its table; who has seen what Core Data looks for can say it.
struct JoinNames {
  private(set) var sides: Set<StoreSchema.JoinTable.Side> = []

  /// - Parameter texts: each `Entity.relationship` of the destination model.
  /// - Throws: ``CoreDataError`` of kind usage for what names no such relationship.
  init(_ texts: [String], in model: Model) throws {
    guard !texts.isEmpty else { return }
    let schema = StoreSchema(model: model)
    for text in texts { sides.insert(try Self.side(text, in: schema)) }
    for join in schema.joins where sides.contains(join.side) && sides.contains(join.otherSide) {
      throw Self.refusal(
        "both “\(join.side)” and “\(join.otherSide)” are to name one join table",
        join.side, "Name one of them.")
    }
  }

  private static func side(
    _ text: String, in schema: StoreSchema
  ) throws -> StoreSchema.JoinTable.Side {
    let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
      throw CoreDataError(
        .usage, "“\(text)” names no relationship", advice: "\(.joinNames, "Entity.relationship")")
    }
    let given = StoreSchema.JoinTable.Side(entity: parts[0], relationship: parts[1])
    guard schema.model.relationship(named: given.relationship, of: given.entity) != nil else {
      throw refusal(
        "the destination model has no relationship “\(given)”", given, Self.hint(schema))
    }
    guard let join = schema.join(of: given.relationship, in: given.entity), !join.isReflexive else {
      throw refusal(
        "“\(given)” is no side of a many-to-many of two relationships", given, Self.hint(schema))
    }
    guard !join.isNamedByModel else {
      throw refusal(
        "Core Data names the join table of “\(given)” from \(join.side) (\(join.name)), always",
        given, Self.hint(schema))
    }
    return join.side.relationship == given.relationship ? join.side : join.otherSide
  }

  private static func hint(_ schema: StoreSchema) -> String {
    let open = schema.joins.filter { !$0.isNamedByModel }
    guard !open.isEmpty else {
      return "Nothing is to be chosen in this model: it tells the name of every join table."
    }
    return "To choose from: "
      + open.flatMap { [$0.side.description, $0.otherSide.description] }.joined(separator: ", ")
      + "."
  }

  private static func refusal(
    _ message: String, _ side: StoreSchema.JoinTable.Side, _ hint: String
  ) -> CoreDataError {
    CoreDataError(.usage, message, entity: side.entity, property: side.relationship, hint: hint)
  }
}

extension MigrationPlan {
  /// A name that was chosen takes a step to give.
  ///
  /// - Throws: ``CoreDataError`` where a store that is of the model already has another.
  func refuseOtherNames(in store: Store) throws {
    let chosen = steps.last?.joinNames ?? []
    for join in store.schema.joins where chosen.contains(join.otherSide) && !join.isReflexive {
      throw CoreDataError(
        .refused,
        "the store is of that model already, and its join table is named from \(join.side) (\(join.name))",
        path: store.path, entity: join.entity, property: join.relationship,
        hint: "A name is given by a migration from another version, such as from a backup.")
    }
  }

  /// What to know of join tables that Core Data may look for under another name.
  func joinNotes(for store: Store) -> [String] {
    var schema = store.schema
    var unsure: Set<StoreSchema.JoinTable.Side> = []
    var new: Set<StoreSchema.JoinTable.Side> = []
    for step in steps where step.mapping.kind != .none {
      let next = schema.followed(
        by: step.destination, mapping: step.mapping, naming: step.joinNames)
      var (nowUnsure, nowNew): (Set<StoreSchema.JoinTable.Side>, Set<StoreSchema.JoinTable.Side>) =
        ([], [])
      for join in next.joins where !join.isNamedByModel {
        let former = schema.join(before: join, of: step.destination, mapping: step.mapping)
        if former.map({ new.contains($0.side) }) ?? true { nowNew.insert(join.side) }
        let wasUnsure = former.map { unsure.contains($0.side) } ?? true
        if wasUnsure
          || former.map({
            step.source.propertyNames(of: $0) != step.destination.propertyNames(of: join)
          })
            ?? true
        {
          nowUnsure.insert(join.side)
        }
      }
      (schema, unsure, new) = (next, nowUnsure, nowNew)
    }
    let chosen = steps.last?.joinNames ?? []
    return schema.joins.filter { unsure.contains($0.side) || chosen.contains($0.side) }.map {
      join in
      let other = schema.turned(join)
      let names = "The join table of \(join.side) and \(join.otherSide)"
      guard !chosen.contains(join.side) else {
        return "\(names) is named from \(join.side), as was chosen: \(join.name)."
      }
      return """
        \(names) is \(new.contains(join.side) ? "new and called" : "still named from \(join.side):") \
        \(join.name). Within one entity the order of its properties decides, and these changed: Core \
        Data may look for \(other.name) instead. If the app does not open the result, migrate with \
        --join-name \(other.side).
        """
    }
  }
}

extension Model {
  /// Names of all properties of the entity that has both sides of a join table.
  fileprivate func propertyNames(of join: StoreSchema.JoinTable) -> Set<String> {
    let entity = entitiesByName.first {
      isKind($0.name, of: join.entity) && isKind($0.name, of: join.inverseEntity)
    }
    return Set(lineage(of: entity?.name ?? join.entity).flatMap(\.propertyNames))
  }
}

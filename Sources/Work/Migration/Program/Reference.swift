import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// The key of the object that a mapping makes of a source object.
enum KeyRule: Equatable {
  /// The source's key, moved by so much: 0 wherever the entity has one source.
  case moved(Int64)
  /// Listed in a temporary table of source and destination keys, whose name this is.
  case listed(String)
  /// What a policy associated, in such a table: objects of these entity IDs count. What the policy leaves to
  /// the mapping has its source's key, moved by so much.
  case associated(String, entities: [Int64], moved: Int64)

  /// How far the keys of objects that the mapping itself makes are moved; `nil` where they are listed.
  var distance: Int64? {
    switch self {
    case .moved(let distance), .associated(_, _, let distance): distance
    case .listed: nil
    }
  }

  /// The destination's key for the key of a source object.
  func destination(of key: ColumnValue) -> ColumnValue {
    guard self != .moved(0), let sql = key.sql else { return key }
    let moved = destination(of: sql)
    return key.isComputed
      ? .computed(moved, reading: key.reads) : .lookup(moved, reading: key.reads)
  }

  /// SQL for the destination's key; NULL where the mapping made nothing of the source object.
  func destination(of key: String) -> String {
    func listed(in table: String, _ condition: String = "") -> String {
      "(SELECT a.destination FROM temp.\(quoted(table)) a WHERE a.source = \(key)\(condition) LIMIT 1)"
    }
    return switch self {
    case .moved(0): key
    case .moved(let distance): "(\(key) + \(distance))"
    case .listed(let table): listed(in: table)
    case .associated(let table, let entities, _):
      listed(in: table, entities.isEmpty ? "" : " AND a.entity IN (\(entities.list))")
    }
  }
}

/// The objects that mappings made of the source objects that something references.
struct Reference {
  /// A mapping that may have made one of them.
  struct Taker {
    /// Where its source objects are.
    var source: EntityTable
    /// Z_ENT of what it makes.
    var entityID: Int64
    var key: KeyRule
    /// What is true of the source rows `d` that it takes.
    var conditions: [RowCondition]

    fileprivate var takes: String {
      conditions.isEmpty ? "(d.Z_ENT = \(source.entityID))" : conditions.allTrue
    }
    /// Whether a person wrote which objects it takes; that can fail.
    fileprivate var isConditional: Bool { conditions.contains { $0.entity == nil } }
  }

  /// The source table of the objects.
  fileprivate let table: String
  private let takers: [Taker]
  /// How far all keys are moved, where each source object became one; `nil` where each is looked up.
  private let distance: Int64?
  /// Z_ENT of the entities that a to-many can reference, where policies made objects of these.
  private let numbers: [Int64]?

  /// - Parameters:
  ///   - isComplete: whether the takers take all objects.
  ///   - numbers: Z_ENT of the entities that a to-many can reference, where policies made objects of these.
  fileprivate init(in table: String, _ takers: [Taker], isComplete: Bool, numbers: [Int64]?) {
    self.table = table
    self.takers = takers
    self.numbers = numbers
    let distances = Set(
      takers.map { taker -> Int64? in
        if case .moved(let distance) = taker.key { distance } else { nil }
      })
    let isDirect =
      isComplete && distances.count == 1 && !takers.contains(where: \.isConditional)
    distance = isDirect ? distances.first ?? nil : nil
  }

  /// Whether it is only known when policies have run.
  var isLate: Bool {
    takers.contains { if case .associated = $0.key { true } else { false } }
  }

  /// The key of what became of the source object with a key; NULL where nothing did.
  func key(of key: ColumnValue) -> ColumnValue {
    if let distance { return KeyRule.moved(distance).destination(of: key) }
    return lookup(key, takers.map { ($0.takes, $0.key.destination(of: "d.Z_PK")) })
  }

  /// The entity ID of the same.
  func number(of key: ColumnValue) -> ColumnValue {
    guard distance != nil else {
      return lookup(
        key,
        takers.map { taker in
          let isThere =
            taker.key.isListed ? " AND \(taker.key.destination(of: "d.Z_PK")) IS NOT NULL" : ""
          return (taker.takes + isThere, String(taker.entityID))
        })
    }
    let all = Set(takers.map(\.entityID))
    guard all.count == 1, let only = all.first else {
      return lookup(
        key, takers.map { ("d.Z_ENT = \($0.source.entityID)", String($0.entityID)) })
    }
    if case .column(let name) = key { return .ifPresent(name, .constant(.integer(only))) }
    return .lookup(
      "CASE WHEN \(key.sql ?? "NULL") IS NOT NULL THEN \(only) END", reading: key.reads)
  }

  private func lookup(
    _ key: ColumnValue, _ cases: [(when: String, then: String)]
  ) -> ColumnValue {
    let cases = cases.map { "WHEN \($0.when) THEN \($0.then)" }.joined(separator: " ")
    let sql = """
      (SELECT CASE \(cases) END FROM src.\(quoted(table)) d WHERE d.Z_PK = \(key.sql ?? "NULL"))
      """
    return key.isComputed || takers.contains(where: \.isConditional)
      ? .computed(sql, reading: key.reads) : .lookup(sql, reading: key.reads)
  }

  /// Of a to-many: SELECT of source and destination keys, since a policy may make several objects of one;
  /// `nil` where there is one at most.
  var pairs: String? {
    guard let numbers else { return nil }
    return takers.map { taker in
      if case .associated(let table, _, _) = taker.key {
        return """
          SELECT source, destination FROM temp.\(table)
          WHERE entity IN (\(numbers.list))
          """
      }
      return """
        SELECT d.Z_PK AS source, \(taker.key.destination(of: "d.Z_PK")) AS destination
        FROM src.\(quoted(taker.source.table)) d\(taker.conditions.filter)
        """
    }.joined(separator: " UNION ALL ")
  }
}

extension KeyRule {
  fileprivate var isListed: Bool { if case .moved = self { false } else { true } }
}

extension MappingLayout {
  /// What became of source objects, as objects that a relationship of a mapping can reference; `nil` where
  /// nothing did.
  ///
  /// - Parameters:
  ///   - sourceEntity: they are of this entity or one below it.
  ///   - through: the mapping that is asked; `nil` asks those that made objects that can be referenced.
  ///   - mayDangle: whether a source object is looked for, though its key says all.
  func reference(
    to sourceEntity: String, through: String?, in relationship: Relationship,
    of entityMapping: EntityMapping, mayDangle: Bool = false
  ) throws -> Reference? {
    let mappings = try takers(
      of: sourceEntity, through: through, in: relationship, of: entityMapping)
    guard !mappings.isEmpty, let table = store.table(of: sourceEntity) else { return nil }
    let takers = try mappings.compactMap { taker -> Reference.Taker? in
      guard let from = taker.source, let own = store.table(of: from), let key = keys[taker.name],
        let number = taker.destination.flatMap({ schema.numbers[$0] })
      else { return nil }
      return Reference.Taker(
        source: own, entityID: number, key: key,
        conditions: try conditions(of: taker, from: from, row: "d"))
    }
    let covered = Set(mappings.compactMap(\.source))
    let isComplete = store.model.subtree(of: sourceEntity).allSatisfy {
      covered.contains($0) || store.model.entity(named: $0)?.isAbstract == true
    }
    return Reference(
      in: table.table, takers, isComplete: isComplete && !mayDangle,
      numbers: relationship.isToMany && mappings.contains(where: isPolicy)
        ? model.subtree(of: relationship.destination).compactMap { schema.numbers[$0] } : nil)
  }

  /// The mappings that may have made an object that a relationship can reference of a source object.
  func takers(
    of sourceEntity: String, through: String?, in relationship: Relationship,
    of entityMapping: EntityMapping
  ) throws -> [EntityMapping] {
    let destination = relationship.destination
    // Inferred mappings are one an entity: the others of the hierarchy come along.
    guard let through, !through.hasPrefix("IEM_") else {
      return store.model.subtree(of: sourceEntity).compactMap { entity in
        mapping.mappings(fromSource: entity).first { $0.makes(destination, in: model) }
      }
    }
    guard let named = mapping.mapping(named: through), let made = named.destination,
      named.source != nil
    else {
      throw CoreDataError(
        .usage, "there is no mapping “\(through)” that makes objects",
        entity: entityMapping.destination, property: relationship.name,
        hint: "The mappings: " + mapping.entityMappings.map(\.name).joined(separator: ", "))
    }
    guard model.isKind(made, of: destination) else {
      throw CoreDataError(
        .usage,
        "the mapping “\(through)” makes \(made), and the destination of the relationship is \(destination)",
        entity: entityMapping.destination, property: relationship.name)
    }
    return [named]
  }
}

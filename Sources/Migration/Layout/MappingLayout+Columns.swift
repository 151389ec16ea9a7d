import ManagedModel
import ManagedStore
import SQLite

extension MappingLayout {
  /// What a column of a new row holds.
  enum ColumnValue {
    case sql(String)
    /// A relationship that is set when all objects are there.
    case later
    /// Not a column of this entity, or one that starts empty.
    case none
  }

  mutating func value(
    of content: StoreSchema.Content, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> ColumnValue {
    switch content {
    case .attribute(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .none }
      return try attribute(name, in: entityMapping, from: from, to: to).map { .sql($0) } ?? .none
    case .toOne(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .none }
      return try toOne(name, in: entityMapping, from: from, to: to) { $0.key }
    case .toOneEntity(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .none }
      return try toOne(name, in: entityMapping, from: from, to: to) { $0.number }
    case .toOneOrder(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .none }
      return order(of: name, in: entityMapping, from: from)
    case .owner, .ownerOrder:
      // Kept on the rows that a relationship leads to: set from the owners' side.
      return .later
    }
  }

  /// The value of a stored attribute of a new row; `nil` for NULL.
  mutating func attribute(
    _ name: String, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> String? {
    guard let attribute = model.storedAttribute(named: name, of: to) else { return nil }
    guard let attributeMapping = entityMapping.attribute(named: name) else {
      return attribute.defaultValue.map { $0.sqlLiteral(for: attribute) }
    }
    return try value(of: attribute, attributeMapping, in: entityMapping, from: from, variables: [:])
  }

  /// The same for a mapping that a policy carries out: what only the policy can tell is left to it.
  mutating func policyValue(
    of name: String, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> String? {
    do {
      return try attribute(name, in: entityMapping, from: from, to: to)
    } catch let error as CoreDataError where error.code == .entityMigrationPolicy {
      return nil
    }
  }

  /// The value that an attribute mapping gives; `nil` for NULL.
  mutating func value(
    of attribute: Attribute, _ attributeMapping: AttributeMapping,
    in entityMapping: EntityMapping, from: String, variables: [String: String]
  ) throws -> String? {
    let literal = attributeMapping.defaultValue.map { $0.sqlLiteral(for: attribute) }
    let value: String
    if let expression = attributeMapping.expression {
      let compiled = try compile(
        expression, of: from, in: entityMapping, attribute: attribute, variables: variables)
      value =
        attribute.allowsExternalBinaryDataStorage
        ? attribute.stored(compiled.sql) : "(\(compiled.sql))"
    } else if let former = attributeMapping.source {
      guard let column = store.table(of: from)?.column(of: former) else {
        throw ExpressionScope(store: store, entity: from).unknown(former, in: from)
      }
      use([former], of: from)
      value = attribute.stored(
        "s." + quoted(column), of: store.model.storedAttribute(named: former, of: from))
    } else {
      return literal
    }
    return literal.map { "coalesce(\(value), \($0))" } ?? value
  }

  private mutating func toOne(
    _ name: String, in entityMapping: EntityMapping, from: String, to: String,
    _ part: (DestinationObjectSQL) -> String
  ) throws -> ColumnValue {
    guard !isLoose(name, of: to) else { return .later }
    guard let relationship = model.relationship(named: name, of: to),
      let relationshipMapping = entityMapping.relationship(named: name),
      relationshipMapping.source != nil || relationshipMapping.fetched != nil
    else {
      // Perhaps its inverse is mapped.
      return schema.inverse(of: model.relationship(named: name, of: to)) == nil ? .none : .later
    }
    guard let origin = try origin(of: relationshipMapping, in: entityMapping, from: from),
      case .one(let key) = origin.value
    else { return .later }
    use([origin.property], of: from)
    guard
      let object = try destinationObject(
        of: key, sourceEntity: origin.entity, through: relationshipMapping.through,
        to: relationship.destination, in: entityMapping, name)
    else { return .none }
    return object.isLate ? .later : .sql(part(object))
  }

  /// A to-one's place in its ordered inverse, where the source keeps one in the same row.
  func order(of name: String, in entityMapping: EntityMapping, from: String) -> ColumnValue {
    guard let former = entityMapping.relationship(named: name)?.source,
      let storage = store.table(of: from)?.storage(of: former), storage.kind == .toOne,
      let column = storage.inversePosition
    else { return .later }
    return .sql("s." + quoted(column))
  }
}

extension StoreSchema {
  func inverse(of relationship: Relationship?) -> (entity: String, Relationship)? {
    relationship.flatMap { inverse(of: $0) }
  }
}

extension EntityMapping {
  /// The mapping of an attribute, or of an element by its path.
  func attribute(named name: String) -> AttributeMapping? { attributes.first { $0.name == name } }

  func relationship(named name: String) -> RelationshipMapping? {
    relationships.first { $0.name == name }
  }

  /// Whether what it makes is of an entity, or of one below it.
  func makes(_ entity: String, in model: Model) -> Bool {
    destination.map { model.isKind($0, of: entity) } ?? false
  }
}

extension Dictionary {
  /// Of several values for one key the first.
  init(first pairs: some Sequence<(Key, Value)>) { self.init(pairs) { first, _ in first } }
}

import ManagedModel
import ManagedStore
import SQLite

extension MappingLayout {
  mutating func value(
    of content: StoreSchema.Content, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> ColumnValue {
    switch content {
    case .attribute(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .foreign }
      return try attribute(name, in: entityMapping, from: from, to: to) ?? .empty
    case .toOne(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .foreign }
      return try toOne(name, in: entityMapping, from: from, to: to) { $0.key(of: $1) }
    case .toOneEntity(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .foreign }
      return try toOne(name, in: entityMapping, from: from, to: to) { $0.number(of: $1) }
    case .toOneOrder(let declarer, let name):
      guard model.isKind(to, of: declarer) else { return .position(nil) }
      return order(of: name, in: entityMapping, from: from)
    case .owner, .ownerOrder:
      // Kept on the rows that a relationship references: set from the owners' side.
      return .later(first: nil)
    }
  }

  /// The value of a stored attribute of a new row; `nil` for NULL.
  mutating func attribute(
    _ name: String, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> ColumnValue? {
    guard let attribute = model.storedAttribute(named: name, of: to) else { return nil }
    guard let attributeMapping = entityMapping.attribute(named: name) else {
      return attribute.defaultValue?.constant(for: attribute)
    }
    return try value(of: attribute, attributeMapping, in: entityMapping, from: from, variables: [:])
  }

  /// The same for a mapping that a policy carries out: what only the policy can say is left to it.
  mutating func policyValue(
    of name: String, in entityMapping: EntityMapping, from: String, to: String
  ) throws -> String? {
    do {
      return try attribute(name, in: entityMapping, from: from, to: to)?.sql
    } catch let error as CoreDataError where error.code == .entityMigrationPolicy {
      return nil
    }
  }

  /// The value that an attribute mapping gives; `nil` for NULL.
  mutating func value(
    of attribute: Attribute, _ attributeMapping: AttributeMapping,
    in entityMapping: EntityMapping, from: String, variables: [String: String]
  ) throws -> ColumnValue? {
    let constant = attributeMapping.defaultValue?.constant(for: attribute)
    let value: ColumnValue
    if let expression = attributeMapping.expression {
      let compiled = try compile(
        expression, of: from, in: entityMapping, attribute: attribute, variables: variables)
      if attribute.allowsExternalBinaryDataStorage {
        value = .computed(attribute.stored(compiled.sql), reading: [])
      } else {
        value = compiled.value ?? .computed("(\(compiled.sql))", reading: [])
      }
    } else if let former = attributeMapping.source {
      guard let column = store.table(of: from)?.column(of: former) else {
        throw ExpressionScope(store: store, entity: from).unknown(former, in: from)
      }
      use([former], of: from)
      value = attribute.value(
        of: column, of: store.model.storedAttribute(named: former, of: from))
    } else {
      return constant
    }
    return constant.map { .orElse(value, $0) } ?? value
  }

  private mutating func toOne(
    _ name: String, in entityMapping: EntityMapping, from: String, to: String,
    _ part: (Reference, ColumnValue) -> ColumnValue
  ) throws -> ColumnValue {
    guard !isLoose(name, of: to) else { return .later(first: nil) }
    guard let relationship = model.relationship(named: name, of: to),
      let relationshipMapping = entityMapping.relationship(named: name),
      relationshipMapping.source != nil || relationshipMapping.fetched != nil
    else {
      // Perhaps its inverse is mapped.
      return schema.inverse(of: model.relationship(named: name, of: to)) == nil
        ? .empty : .later(first: nil)
    }
    guard let origin = try origin(of: relationshipMapping, in: entityMapping, from: from),
      case .row(let key) = origin.value
    else { return .later(first: nil) }
    use([origin.property], of: from)
    guard
      let object = try reference(
        to: origin.entity, through: relationshipMapping.through, in: relationship,
        of: entityMapping)
    else { return .empty }
    return object.isLate ? .later(first: nil) : part(object, key)
  }

  /// A to-one's position in its ordered inverse, where the source keeps one in the same row.
  func order(of name: String, in entityMapping: EntityMapping, from: String) -> ColumnValue {
    guard let former = entityMapping.relationship(named: name)?.source,
      let storage = store.table(of: from)?.storage(of: former), storage.kind == .toOne,
      let column = storage.inversePosition
    else { return .later(first: nil) }
    return .position(.column(column))
  }
}

extension Attribute {
  /// What the attribute's column holds for a column of the source's row that another attribute had.
  func value(of column: String, of former: Attribute?) -> ColumnValue {
    let reference = ColumnValue.reference(to: column)
    let sql = stored(reference, of: former)
    return sql == reference ? .column(column) : .computed(sql, reading: [column])
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

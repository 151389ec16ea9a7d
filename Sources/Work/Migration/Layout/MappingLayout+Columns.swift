import ManagedModel
import ManagedStore
import Mapping
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

extension MappingLayout {
  /// Adds the rows of objects that hang on those of a mapping, and of those that hang on them.
  ///
  /// Which objects there are is worked out first, in a temporary table: their keys, the object each
  /// hangs on, the source object, and the element it is made of.
  ///
  /// - Parameter parent: rows of the objects they hang on, with the source row as `s`.
  mutating func addTree(
    _ child: ChildMapping, of entityMapping: EntityMapping, parent: RowProgram,
    parentEntity: String, planning: inout KeyPlanning, _ connection: Connection
  ) throws {
    guard let from = entityMapping.source else { return }
    let (relationship, table, number) = try destination(
      of: child, parentEntity: parentEntity, entityMapping)
    let root = model.root(of: child.destination)
    let tree = "tree_\(rows.count)"
    let base = planning.bound(of: root)
    var outer: [String: String] = [:]
    if case .children = parent.source { outer = Self.elementVariables }
    let parentKey = parent.columns.first?.value.sql ?? "s.Z_PK"
    let elements: String
    if let each = child.each {
      let list = try compile(
        each, of: from, in: entityMapping, property: child.relationship, variables: outer)
      // What is no JSON array has no elements.
      elements = """
        SELECT \(parentKey), s.Z_PK, e.value, e.key FROM \(parent.from)
        JOIN json_each(CASE WHEN json_valid(\(list.sql)) AND json_type(\(list.sql)) = 'array'
        THEN \(list.sql) ELSE '[]' END) e
        """
    } else {
      elements = """
        SELECT \(parentKey), s.Z_PK, \(outer["item"] ?? "NULL"), \(outer["position"] ?? "0")
        FROM \(parent.from)
        """
    }
    try entityMapping.evaluating(property: { child.relationship }) {
      try connection.execute(
        """
        CREATE TEMP TABLE \(tree) (key INTEGER PRIMARY KEY, parent INTEGER, source INTEGER, item, position INTEGER);
        INSERT INTO temp.\(tree) (key, parent, source, item, position)
        SELECT \(base) + row_number() OVER (), * FROM (\(elements)\(parent.conditions.filter));
        CREATE INDEX temp.\(tree)_parent ON \(tree) (parent);
        """)
    }
    let last = try connection.value("SELECT max(key) FROM temp.\(tree)")?.integer ?? base
    planning.take(upTo: last, of: root)
    guard let sourceTable = store.table(of: from) else { return }
    var row = RowProgram(
      mapping: entityMapping.name, entity: child.destination, table: table.name,
      source: .children(tree, of: sourceTable.table),
      columns: [
        ColumnProgram("Z_PK", .lookup("t.key", reading: [])),
        ColumnProgram("Z_ENT", .constant(.integer(number))),
        ColumnProgram("Z_OPT", .constant(.integer(1))),
      ])
    let variables = Self.elementVariables
    let inverse = schema.inverse(of: relationship)
    /// Whether a column is of the way back to the object that these hang on: siblings may have
    /// columns of the same name.
    func isBack(_ declarer: String, _ name: String) -> Bool {
      // Of a one-to-one both sides are set in the end.
      relationship.isToMany && name == inverse?.1.name
        && model.isKind(child.destination, of: declarer)
    }
    let (parentOfRow, positionInParent) = (
      ColumnValue.lookup("t.parent", reading: []),
      ColumnValue.lookup(OrderKey.sql(position: "t.position"), reading: [])
    )
    func value(of content: StoreSchema.Content) throws -> ColumnValue? {
      switch content {
      case .attribute(let declarer, let name) where model.isKind(child.destination, of: declarer):
        guard let attribute = model.storedAttribute(named: name, of: child.destination) else {
          return nil
        }
        let attributeMapping =
          child.attributes.first { $0.name == name }
          ?? AttributeMapping(name: name, source: nil, defaultValue: attribute.defaultValue)
        return try self.value(
          of: attribute, attributeMapping, in: entityMapping, from: from, variables: variables)
      case .toOne(let declarer, let name)
      where isBack(declarer, name) && inverse?.1.isToMany == false:
        return parentOfRow
      case .toOneEntity(let declarer, let name) where isBack(declarer, name):
        return schema.numbers[parentEntity].map { .constant(.integer($0)) }
      case .toOneOrder(let declarer, let name) where isBack(declarer, name):
        return positionInParent
      case .owner(let owner, let name)
      where name == relationship.name && model.isKind(parentEntity, of: owner):
        return parentOfRow
      case .ownerOrder(let owner, let name)
      where name == relationship.name && model.isKind(parentEntity, of: owner):
        return positionInParent
      case .attribute: return nil
      // Other relationships of these objects may be set from their inverse.
      default: return .later(first: nil)
      }
    }
    for column in table.columns {
      if let value = try value(of: column.content) {
        row.columns.append(ColumnProgram(column.name, value))
      }
    }
    append(row)
    if !relationship.isToMany { setLater(relationship.name, of: parentEntity, in: parent) }
    if !relationship.isToMany || inverse?.1.isToMany == true {
      append(
        tree: LinkProgram(
          mapping: entityMapping.name,
          entity: model.declaringEntity(of: relationship.name, in: parentEntity) ?? parentEntity,
          relationship: relationship.name, origin: .children(tree), table: sourceTable.table))
    }
    for grandchild in child.children {
      try addTree(
        grandchild, of: entityMapping, parent: row, parentEntity: child.destination,
        planning: &planning, connection)
    }
  }

  /// The plus makes an expression of the column: what is compared with it afterwards then takes
  /// the kind of value that the destination's column makes of it.
  private static let elementVariables = ["item": "(+t.item)", "position": "t.position"]

  private func destination(
    of child: ChildMapping, parentEntity: String, _ entityMapping: EntityMapping
  ) throws -> (Relationship, StoreSchema.Table, Int64) {
    guard let relationship = model.relationship(named: child.relationship, of: parentEntity),
      let table = schema.table(of: child.destination),
      let number = schema.numbers[child.destination],
      model.isKind(child.destination, of: relationship.destination),
      model.entity(named: child.destination)?.isAbstract == false
    else {
      throw CoreDataError(
        .usage,
        "in the mapping “\(entityMapping.name)”: objects of \(child.destination) cannot be made in “\(child.relationship)”",
        entity: parentEntity, property: child.relationship,
        hint: "Name a relationship of \(parentEntity) whose destination is \(child.destination).")
    }
    return (relationship, table, number)
  }
}

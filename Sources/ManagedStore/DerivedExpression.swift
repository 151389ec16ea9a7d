import ManagedModel

extension StoreSchema {
  /// SQL for the value that a derived attribute has in a row, as the store's own triggers keep it.
  ///
  /// Fit for an UPDATE of the row's table and for a SELECT over it. The connection needs
  /// ``StoreFunctions``.
  ///
  /// - Parameters:
  ///   - entity: an entity that has the attribute.
  ///   - row: alias of the row; or the table's name where there is none.
  ///   - schema: what stands before the names of other tables, such as `src.`.
  /// - Returns: `nil` for `now()`, which no row can tell, and for what is not understood.
  package func derivedExpression(
    for attribute: Attribute, of entity: String, row: String = "s", schema: String = "main."
  ) -> String? {
    guard let value = attribute.derivation.flatMap({ DerivedValue($0) }) else { return nil }
    return DerivedExpression(schema: self, prefix: schema).sql(value, of: entity, row: row)
  }
}

/// Writes a derived value as SQL.
struct DerivedExpression {
  let schema: StoreSchema
  /// What stands before the names of tables.
  let prefix: String

  func sql(_ value: DerivedValue, of entity: String, row: String) -> String? {
    switch value {
    case .now: return nil
    case .value(let path, let function):
      return self.value(path, of: entity, row: row).flatMap { call(function, $0) }
    case .count(let path):
      guard let (owner, holder) = object(path.dropLast(), of: entity, row: row),
        let name = path.last
      else { return nil }
      return collection(name, of: holder, owner: owner).map {
        "(SELECT IFNULL(COUNT(*), 0) \($0.rows))"
      }
    case .aggregate(let aggregate, let path):
      guard let index = firstToMany(path, of: entity), index < path.count - 1,
        let (owner, holder) = object(path[..<index], of: entity, row: row),
        let many = collection(path[index], of: holder, owner: owner, needsRows: true),
        let value = self.value(Array(path[(index + 1)...]), of: many.entity, row: "c")
      else { return nil }
      switch aggregate {
      case .sum: return "(SELECT IFNULL(SUM(\(value)), 0) \(many.rows))"
      case .min, .max, .average:
        return "(SELECT \(aggregate.rawValue.uppercased())(\(value)) \(many.rows))"
      }
    }
  }

  /// Where in a path the first to-many relationship stands.
  private func firstToMany(_ path: [String], of entity: String) -> Int? {
    var holder = entity
    for (index, name) in path.enumerated() {
      guard let relationship = schema.model.relationship(named: name, of: holder) else {
        return nil
      }
      if relationship.isToMany { return index }
      holder = relationship.destination
    }
    return nil
  }

  /// A function of text means here what it means everywhere.
  private func call(_ function: DerivedValue.Function?, _ value: String) -> String? {
    guard let function else { return value }
    return try? ValueFunctions.call(function.rawValue, [ValueTerm(SQLText(own: value), .text)])?
      .sql.sql
  }

  /// The value at a path of to-one relationships that ends in an attribute.
  private func value(_ path: [String], of entity: String, row: String) -> String? {
    guard let name = path.last, path.count <= 16 else { return nil }
    guard let (key, holder) = object(path.dropLast(), of: entity, row: row),
      let column = attributeColumn(name, of: holder)
    else { return nil }
    guard path.count > 1 else { return "\(row).\(column)" }
    guard let table = schema.table(of: holder) else { return nil }
    let alias = "\(row == "c" ? "e" : "d")\(path.count)"
    return
      "(SELECT \(alias).\(column) FROM \(place(table.name)) \(alias) WHERE \(alias).Z_PK = \(key))"
  }

  func attributeColumn(_ name: String, of entity: String) -> String? {
    guard schema.model.attribute(named: name, of: entity) != nil else { return nil }
    return schema.column(of: name, in: entity).map { StoreSchema.name($0) }
  }

  /// SQL for the key of the object that a path of to-one relationships leads to.
  private func object(
    _ path: ArraySlice<String>, of entity: String, row: String
  ) -> (key: String, entity: String)? {
    guard path.count < 16 else { return nil }
    var (key, holder) = ("\(row).Z_PK", entity)
    for (depth, name) in path.enumerated() {
      guard let column = schema.toOneColumn(of: name, in: holder),
        let table = schema.table(of: holder),
        let relationship = schema.model.relationship(named: name, of: holder)
      else { return nil }
      let alias = "\(row == "c" ? "f" : "o")\(depth)"
      key =
        depth == 0
        ? "\(row).\(StoreSchema.name(column))"
        : "(SELECT \(alias).\(StoreSchema.name(column)) FROM \(place(table.name)) \(alias) WHERE \(alias).Z_PK = \(key))"
      holder = relationship.destination
    }
    return (key, holder)
  }

  /// FROM and WHERE of the objects that an owner's to-many relationship leads to.
  private func collection(
    _ name: String, of entity: String, owner: String, needsRows: Bool = false
  ) -> (rows: String, entity: String)? {
    guard let relationship = schema.model.relationship(named: name, of: entity),
      let table = schema.table(of: relationship.destination)
    else { return nil }
    guard let storage = schema.storage(of: name, in: entity), storage.kind != .toOne else {
      return nil
    }
    let (links, objects) = (place(storage.table), place(table.name))
    let (one, two) = (StoreSchema.name(storage.owner), StoreSchema.name(storage.destination))
    let rows =
      if storage.isInDestinationRow {
        "FROM \(links) c WHERE c.\(one) = \(owner)"
      } else if storage.kind == .reflexive {
        """
        FROM \(objects) c WHERE c.Z_PK IN (SELECT \(two) FROM \(links) WHERE \(one) = \(owner) \
        UNION SELECT \(one) FROM \(links) WHERE \(two) = \(owner))
        """
      } else {
        "FROM \(links) j\(needsRows ? " JOIN \(objects) c ON c.Z_PK = j.\(two)" : "") WHERE j.\(one) = \(owner)"
      }
    return (rows, relationship.destination)
  }

  private func place(_ table: String) -> String { prefix + StoreSchema.name(table) }
}

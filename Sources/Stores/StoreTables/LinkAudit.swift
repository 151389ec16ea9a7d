import ManagedModel
import SQLite

/// Whether the references of a relationship are sound, as SQL over a row `t` of the table that keeps them.
///
/// Doctor, repair, plans, validation and salvage all ask here, so that they find the same rows. Whether the
/// two sides of a one-to-one agree is another question: ``StoreSchema/disagreement(_:of:schemaName:)``.
package struct LinkAudit: Sendable {
  /// What can be wrong with a reference. A row has one fault at most.
  package enum Fault: Sendable, CaseIterable {
    /// A row of a join table that has no key at one of its ends.
    case empty
    /// A key that no object has.
    case dangling
    /// A key that an object of another entity has.
    case wrongEntity
    /// The key of an object that fits, and in the column for its Z_ENT another number than the object has.
    case wrongNumber
  }

  /// The entity that declares the relationship.
  package let entity: String
  /// The relationship as the model has it.
  package let relationship: Relationship
  /// The entity at the other end.
  package let destination: String
  /// How the store keeps it.
  package let storage: RelationshipStorage
  /// Its key columns; of a join table both, that of ``entity`` first.
  package let keys: [KeyColumn]
  private let schema: String

  /// - Parameter table: where the objects of an entity are; `nil` where their table is missing.
  fileprivate init?(
    _ relationship: Relationship, of entity: String, to destination: String,
    _ storage: RelationshipStorage, in schema: String, table: (String) -> EntityTable?
  ) {
    var ends: [(column: String, entity: String)] = []
    if storage.kind != .toOne { ends.append((storage.owner, entity)) }
    if !storage.isInDestinationRow { ends.append((storage.destination, destination)) }
    keys = ends.compactMap { end in
      table(end.entity).map {
        KeyColumn(table: storage.table, column: end.column, objects: $0, in: schema)
      }
    }
    guard keys.count == ends.count else { return nil }
    self.entity = entity
    self.relationship = relationship
    self.destination = destination
    self.storage = storage
    self.schema = schema
  }

  /// FROM of the table that keeps the references.
  package var rows: String { "FROM \(schema)\(quoted(storage.table)) t" }

  /// True of a row that has a fault; `nil` where none can have it.
  package func condition(_ fault: Fault) -> String? {
    switch fault {
    case .empty:
      guard storage.isJoin else { return nil }
      return "(\(keys.map { "\($0.value) IS NULL" }.joined(separator: " OR ")))"
    case .dangling: return "(\(isSet) AND NOT \(isThere))"
    case .wrongEntity:
      let others = keys.compactMap(\.isOfOtherKind)
      guard !others.isEmpty else { return nil }
      let other = "(\(others.joined(separator: " OR ")))"
      return keys.count == 1 ? other : "(\(other) AND \(isThere))"
    case .wrongNumber:
      guard let column = storage.entityColumn, let key = keys.first else { return nil }
      let isOther = "t.\(quoted(column)) IS NOT d.Z_ENT"
      return key.isThere(
        where: [key.isOfKind, isOther].compactMap { $0 }.joined(separator: " AND "))
    }
  }

  /// True of a row with keys that objects have, of whatever entity.
  package var isThere: String { "(\(all { $0.isThere() }))" }

  /// True of a row with keys that objects of the entity have.
  private var isSound: String { "(\(all(\.isSound)))" }

  /// True of a row with a key that no object of the entity has: dangling, or of another entity.
  package var isUnsound: String { "(\(isSet) AND NOT \(isSound))" }

  /// How many rows there are with each of some faults, in one pass.
  ///
  /// - Parameter condition: what is true of the rows that are meant; `nil` for all.
  package func counts(
    of faults: [Fault] = Fault.allCases, where condition: String? = nil, on connection: Connection
  ) throws -> [Fault: Int] {
    let asked = faults.compactMap { fault in self.condition(fault).map { (fault, $0) } }
    guard !asked.isEmpty else { return [:] }
    let sums = asked.map { "sum(\($0.1))" }.joined(separator: ", ")
    // Almost every row is sound, which costs a look at each end.
    let isSuspect = faults.contains(.wrongNumber) && storage.entityColumn != nil ? nil : suspects
    let filter = [condition, isSuspect].compactMap { $0 }.joined(separator: " AND ")
    let counts =
      try connection.rows("SELECT \(sums) \(rows) WHERE \(filter.isEmpty ? "1" : filter)").first
      ?? []
    return Dictionary(
      zip(asked, counts).map { ($0.0, Int(clamping: $1.integer ?? 0)) }
    ) { first, _ in first }
  }

  private var suspects: String { storage.isJoin ? "NOT \(isSound)" : isUnsound }

  private var isSet: String { all { "\($0.value) IS NOT NULL" } }

  private func all(_ condition: (KeyColumn) -> String) -> String {
    keys.map(condition).joined(separator: " AND ")
  }

  /// Takes references out.
  package func removal(where condition: String) -> String {
    storage.removal(in: schema, where: condition)
  }
}

/// The audits of all references of a store.
package struct LinkAudits: Sendable {
  private let schema: StoreSchema
  private let layout: StoreLayout
  /// The tables that are there; `nil` where all are.
  private let database: DatabaseTables?
  /// The prefix of tables, such as `main.`.
  private let name: String

  package init(
    _ schema: StoreSchema, _ layout: StoreLayout, _ database: DatabaseTables?, in name: String
  ) {
    self.schema = schema
    self.layout = layout
    self.database = database
    self.name = name
  }

  /// Where the objects of an entity are; `nil` where their table is missing.
  package func table(of entity: String) -> EntityTable? {
    layout.table(of: entity).flatMap { database?.contains($0.table) == false ? nil : $0 }
  }

  /// The audit of a relationship, own or inherited; `nil` where the store does not keep it, or a table is missing.
  package func audit(of relationship: String, in entity: String) -> LinkAudit? {
    guard let entry = layout.table(of: entity)?.relationship(named: relationship) else {
      return nil
    }
    return audit(entry.relationship, in: entity, to: entry.relationship.destination)
  }

  private func audit(
    _ relationship: Relationship, in entity: String, to destination: String
  ) -> LinkAudit? {
    table(of: entity)?.storage(of: relationship.name).flatMap {
      LinkAudit(
        relationship, of: entity, to: destination, $0, in: name, table: table)
    }
  }

  /// Those of the to-ones, each once, with the entity that declares it.
  package var toOnes: [LinkAudit] {
    schema.tables.flatMap { table in
      table.columns.compactMap { column in
        guard case .toOne(let entity, let name) = column.content else { return nil }
        return audit(of: name, in: entity)
      }
    }
  }

  /// Those of references that are kept outside of their owners' rows: join tables, and the owner's key of
  /// to-manys without an inverse.
  package var outside: [LinkAudit] {
    let joins = schema.joins.compactMap { join in
      schema.model.relationship(named: join.relationship, of: join.entity).flatMap {
        // The other end may be declared above the entity that this side references.
        audit($0, in: join.entity, to: join.inverseEntity)
      }
    }
    let owners = schema.tables.flatMap { table in
      table.columns.compactMap { column -> LinkAudit? in
        guard case .owner(let owner, let name) = column.content else { return nil }
        return audit(of: name, in: owner)
      }
    }
    return joins + owners
  }
}

extension StoreSchema {
  /// The audits of the references of a store that is made by this schema.
  ///
  /// - Parameters:
  ///   - database: the tables that are there; `nil` where all are.
  ///   - name: the prefix of tables, such as `main.`.
  package func audits(of database: DatabaseTables? = nil, in name: String = "") -> LinkAudits {
    LinkAudits(self, StoreLayout(schema: self, in: database), database, in: name)
  }
}

/// A column that holds keys of the rows of a table: of a to-one, of an owner, of an end of a join table, of
/// history.
///
/// Its conditions are SQL over a row `t` of ``table``.
package struct KeyColumn: Sendable, Equatable {
  /// The table that the column is in.
  package let table: String
  /// What the column is called.
  package let column: String
  /// The table that it references.
  package let destination: String
  /// The column of the keys in that table.
  private let key: String
  /// Z_ENT of the rows that it may reference; `nil` for every row of the table.
  package let kind: [Int64]?
  /// The prefix of tables, such as `main.`.
  private let schema: String

  /// A column that may reference every row of a table.
  package init(
    table: String, column: String, destination: String, key: String = "Z_PK", in schema: String = ""
  ) {
    self.init(table, column, destination, key, nil, schema)
  }

  /// A column that references objects of an entity and of those below it.
  package init(table: String, column: String, objects: EntityTable, in schema: String = "") {
    let kind = objects.isWholeTable ? nil : objects.numbers
    self.init(table, column, objects.table, "Z_PK", kind, schema)
  }

  private init(
    _ table: String, _ column: String, _ destination: String, _ key: String, _ kind: [Int64]?,
    _ schema: String
  ) {
    self.table = table
    self.column = column
    self.destination = destination
    self.key = key
    self.kind = kind
    self.schema = schema
  }

  /// The key of a row.
  package var value: String { "t." + quoted(column) }

  /// FROM of its table.
  package var rows: String { "FROM \(schema)\(quoted(table)) t" }

  /// True where there is a row `d` with the key, of which a condition is true.
  func isThere(where condition: String? = nil) -> String {
    let filter = condition.map { " AND \($0)" } ?? ""
    return """
      EXISTS (SELECT 1 FROM \(schema)\(quoted(destination)) d \
      WHERE d.\(quoted(key)) = \(value)\(filter))
      """
  }

  /// True of a row `d` of the kind; `nil` where every row is.
  var isOfKind: String? { kind.map { "d.Z_ENT IN (\($0.list))" } }

  /// True of a row `d` of another kind; `nil` where none can be.
  private var isOther: String? { isOfKind.map { "(\($0)) IS NOT TRUE" } }

  /// True where the key is that of a row of the kind.
  package var isSound: String { isThere(where: isOfKind) }

  /// True where the key is that of a row of another kind; `nil` where none can be.
  var isOfOtherKind: String? { isOther.map { isThere(where: $0) } }

  /// True where no row has the key.
  package var isDangling: String { "(\(value) IS NOT NULL AND NOT \(isThere()))" }

  /// FROM and WHERE of the rows `d` of another kind that it references; `nil` where none can be.
  package var strangers: String? {
    isOther.map {
      "\(rows) JOIN \(schema)\(quoted(destination)) d ON d.\(quoted(key)) = \(value) WHERE \($0)"
    }
  }
}

/// Objects of a one-to-one whose partner does not lead back to them.
///
/// Core Data keeps the two sides alike while an app runs; its own migrations, and SQL, do not: stores
/// that Apple's engine wrote hold such objects. It reads each side from its own column.
public struct OneSidedLinks: Sendable, Equatable {
  /// The entity that declares the relationship.
  public var entity: String
  /// The relationship that references the partner.
  public var relationship: String
  /// How many objects reference one that does not lead back; never 0.
  public var objects: Int
  /// The first few.
  public var first: [ObjectID]

  package init(
    entity: String, relationship: String, objects: Int, first: [ObjectID]
  ) {
    (self.entity, self.relationship, self.objects, self.first) = (
      entity, relationship, objects, first
    )
  }
}

extension StoreSchema {
  /// How the other side of a one-to-one is kept; `nil` for what is no one-to-one.
  package func otherSide(of relationship: Relationship) -> RelationshipStorage? {
    guard !relationship.isToMany, let (entity, inverse) = inverse(of: relationship),
      !inverse.isToMany
    else { return nil }
    return storage(of: inverse.name, in: entity)
  }

  /// SQL that is true of a row `t` whose to-one references an object of its entity that leads elsewhere, or nowhere;
  /// `nil` for what is no one-to-one.
  ///
  /// In the row of an object of another entity the inverse's column may be another property's.
  ///
  /// - Parameter schemaName: the prefix of tables, such as `main.`.
  package func disagreement(
    _ relationship: Relationship, of entity: String, schemaName: String = ""
  ) -> String? {
    guard let column = toOneColumn(of: relationship.name, in: entity),
      let other = otherSide(of: relationship),
      let partners = entityTable(of: relationship.destination)?.numbers
    else { return nil }
    return """
      EXISTS (SELECT 1 FROM \(schemaName)\(quoted(other.table)) o
      WHERE o.Z_PK = t.\(quoted(column)) AND o.Z_ENT IN (\(partners.list))
      AND o.\(quoted(other.destination)) IS NOT t.Z_PK)
      """
  }
}

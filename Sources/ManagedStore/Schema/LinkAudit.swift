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

  fileprivate init(
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

extension Store {
  /// The audits of its references.
  ///
  /// - Parameter name: the prefix of tables, such as `main.`.
  package func audits(in name: String = "") -> LinkAudits {
    LinkAudits(schema, layout, database, in: name)
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

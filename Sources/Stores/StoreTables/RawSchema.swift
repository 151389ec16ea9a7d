import ManagedModel
import SQLite

/// A store read without any model: entities from Z_PRIMARYKEY, an attribute a column.
///
/// Such a model can be looked at, but it made no store: its hashes are nobody's, so nothing can be
/// migrated with it. Properties carry the names of their columns (`ZTITLE`), links are bare keys.
package struct RawSchema {
  package let model: Model
  package let numbers: [String: Int64]
  package let tables: [EntityTable]
  /// Tables of entities that are not there. Empty where a table that belongs to no entity may be one of
  /// them, under the name that its entity has in a version of the model which is not at hand.
  package let missingTables: [StoreDrift.Table]
  /// What could not be determined from the tables, as sentences.
  package let warnings: [Advice]

  /// - Throws: ``CoreDataError`` when no entity is named at all.
  package init(_ connection: Connection, _ database: DatabaseTables) throws {
    var warnings: [Advice] = [
      "The store has no model in it and none was found: tables and columns are shown raw, under their own names. Give the model that made it with \(.model, "MODEL")."
    ]
    let rows = Self.entityRows(
      try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY"))
    let names = Dictionary(rows.map { ($0.number, $0.name) }) { first, _ in first }
    let parents = Self.parents(of: rows, names: names)
    var numbers: [String: Int64] = [:]
    for row in rows { numbers[row.name] = row.number }

    var tableNames: [String: String] = [:]
    let roots = rows.filter { parents[$0.name] == nil }
    for row in roots where database.contains(StoreSchema.tableName(root: row.name)) {
      tableNames[row.name] = StoreSchema.tableName(root: row.name)
    }
    // A root that was renamed keeps its old name here while its table has the new one, or the
    // reverse: the rows themselves say whose they are.
    var free = database.tables.keys.filter { name in
      let columns = database.columns(of: name)
      return name.hasPrefix("Z") && columns.contains("Z_PK") && columns.contains("Z_ENT")
        && !tableNames.values.contains(name)
    }.sorted()
    for name in free {
      guard let number = try connection.value("SELECT Z_ENT FROM \(quoted(name)) LIMIT 1")?.integer,
        let root = names[number].map({ Self.root(of: $0, parents) }), tableNames[root] == nil
      else { continue }
      tableNames[root] = name
      free.removeAll { $0 == name }
      warnings.append("The entity \(root) was found in the table \(name) by the rows in it.")
    }
    let homeless = roots.filter { tableNames[$0.name] == nil }
    if !homeless.isEmpty {
      warnings.append("No table was found for the entities \(Self.list(homeless.map(\.name))).")
    }
    missingTables =
      free.isEmpty
      ? homeless.map { row in
        StoreDrift.Table(
          entity: row.name, table: StoreSchema.tableName(root: row.name), lastKey: row.lastKey)
      } : []
    if !free.isEmpty {
      warnings.append("Tables that belong to no entity are not shown: \(Self.list(free)).")
    }

    let joins = database.tables.keys.filter { Self.isJoin($0, database.columns(of: $0)) }.sorted()
    if !joins.isEmpty {
      warnings.append("Many-to-many tables are not shown without a model: \(Self.list(joins)).")
    }

    let entities = rows.map { row in
      var entity = Entity(row.name, parent: parents[row.name])
      if let table = tableNames[row.name] {
        entity.attributes = Self.attributes(database.tables[table] ?? [])
      }
      return entity
    }
    let model = try Model(entities: entities)
    guard !model.entities.isEmpty else {
      throw CoreDataError(
        .unreadable, code: .migrationMissingSourceModel,
        "the store has no model in it, and names no entity either",
        advice: "Give the model that made it with \(.model, "MODEL").")
    }
    self.model = model
    self.numbers = numbers
    self.warnings = warnings
    tables = model.entitiesInStoreOrder.compactMap { entity in
      let root = model.root(of: entity.name)
      guard let number = numbers[entity.name] else { return nil }
      let attributes = model.attributes(of: entity.name).map {
        EntityTable.AttributeColumn(attribute: $0, column: $0.name)
      }
      return EntityTable(
        entity: entity.name, entityID: number,
        table: tableNames[root] ?? StoreSchema.tableName(root: root),
        numbers: model.subtree(of: entity.name).compactMap { numbers[$0] },
        isWholeTable: entity.name == root,
        attributes: attributes.sortedByBytes(\.attribute.name),
        relationships: [])
    }
  }

  /// The first names; a damaged store can have thousands.
  private static func list(_ names: [String]) -> String {
    names.prefix(20).joined(separator: ", ")
      + (names.count > 20 ? " and \(names.count - 20) more" : "")
  }

  private typealias Row = (number: Int64, name: String, parent: Int64, lastKey: Int64?)

  /// Rows that can be entities: names and numbers are unique, and none is Core Data's own.
  private static func entityRows(_ rows: [[Value]]) -> [Row] {
    var seen: Set<String> = []
    var numbers: Set<Int64> = []
    return rows.compactMap { row in
      guard row.count == 4, let number = row[0].integer, let name = row[1].text, !name.isEmpty,
        number < EntityNumbering.firstReserved, seen.insert(name).inserted,
        numbers.insert(number).inserted
      else { return nil }
      return (number, name, row[2].integer ?? 0, row[3].integer)
    }
  }

  /// Parent of each entity; one that would lead round in a circle, or too far, counts as a root.
  private static func parents(of rows: [Row], names: [Int64: String]) -> [String: String] {
    var parents: [String: String] = [:]
    for row in rows {
      guard let parent = names[row.parent] else { continue }
      var current: String? = parent
      var depth = 0
      while let name = current, name != row.name, depth < Model.maximumDepth / 2 {
        current = parents[name]
        depth += 1
      }
      if current == nil { parents[row.name] = parent }
    }
    return parents
  }

  private static func root(of name: String, _ parents: [String: String]) -> String {
    var root = name
    while let parent = parents[root] { root = parent }
    return root
  }

  private static func isJoin(_ table: String, _ columns: Set<String>) -> Bool {
    guard table.hasPrefix("Z_"), !columns.contains("Z_PK") else { return false }
    return table.dropFirst(2).first?.isNumber == true
  }

  private static func attributes(_ columns: [DatabaseTables.Column]) -> [Attribute] {
    columns.filter {
      !["Z_PK", "Z_ENT", "Z_OPT"].contains($0.name) && !DeferredColumn.isName($0.name)
    }.map {
      Attribute($0.name, type(ofColumn: $0.type), optional: true)
    }
  }

  /// The widest type that Core Data declares so; what a value really is, its storage class decides.
  private static func type(ofColumn type: String) -> AttributeType {
    switch type.uppercased() {
    case "INTEGER": .integer64
    case "FLOAT": .double
    case "TIMESTAMP": .date
    case "DECIMAL": .decimal
    case "BLOB": .binary
    default: .string
    }
  }
}

/// Where a store keeps its entities, without the store itself: enough to compile a filter.
package struct StoreLayout: Sendable, Equatable {
  package let path: String
  let uuid: String
  /// The model that the store is read with.
  package let model: Model
  /// In the order of their numbers.
  package let entityTables: [EntityTable]
  /// The tables of CloudKit mirroring; `nil` where the store is not mirrored.
  package let mirror: MirrorTables?
  private let tablesByEntity: [String: EntityTable]

  /// Puts together what is known of a store; of two tables of an entity the first counts.
  package init(
    path: String, uuid: String, model: Model, entityTables: [EntityTable],
    mirror: MirrorTables? = nil
  ) {
    self.mirror = mirror
    self.path = path
    self.uuid = uuid
    self.model = model
    self.entityTables = entityTables
    tablesByEntity = Dictionary(entityTables.map { ($0.entity, $0) }) { first, _ in first }
  }

  /// Where a store of a schema's making keeps them.
  ///
  /// - Parameter database: the tables that are there; `nil` where all are.
  package init(schema: StoreSchema, in database: DatabaseTables? = nil) {
    let tables = schema.model.entitiesInStoreOrder.compactMap { entity in
      schema.entityTable(of: entity.name).map { table in
        database.map { table.fitted(to: $0) } ?? table
      }
    }
    self.init(path: "", uuid: "", model: schema.model, entityTables: tables)
  }

  /// Where an entity's objects are; `nil` for one that the store has not.
  package func table(of entity: String) -> EntityTable? { tablesByEntity[entity] }

  /// Where an entity's objects are.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for one that the store has not.
  package func knownTable(of entity: String) throws(CoreDataError) -> EntityTable {
    guard let table = tablesByEntity[entity] else {
      throw CoreDataError(
        unknownEntity: entity, of: "the store", known: entityTables.map(\.entity), path: path)
    }
    return table
  }

  /// The refusal of a name in a text that is no entity's here.
  func unknownName(ofEntity name: String) -> UnknownName {
    UnknownName("entity", name, of: "the store", known: entityTables.map(\.entity))
  }
}
